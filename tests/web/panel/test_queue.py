"""What waits for the run under way: drawn by the server, changed by plain forms."""

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.models import QueuedMessage, Run
from ai_assistant.models.run import RunState
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.web.panel.panel import bare_panel
from tests.web.conftest import ask

SCRIPT = {"HX-Request": "true"}

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.row("ui 33")]


@pytest.fixture
def run(people):
    return ask(people["ada"])


@pytest.fixture
def say(browser, run):
    """Send more to the conversation of that run: `say("Second")`."""

    def send(text, **fields):
        fields = {"conversation": run.conversation_id, "key": uuid4(), **fields}
        address = reverse("ai_assistant:send")
        response = browser("ada").post(address, {**fields, "text": text})
        assert response.status_code == 303
        return QueuedMessage.objects.get(text=text)

    return send


@pytest.fixture
def press(browser, run):
    """Press a button of the queue: `press("drop", row)`."""

    def post(how, row=None, *, name="ada", headers=SCRIPT, **fields):
        said = {"conversation": run.conversation_id, "do": how, **fields}
        if row is not None:
            said["message"] = row.pk
        address = reverse("ai_assistant:queue")
        return browser(name).post(address, said, headers=headers)

    return post


def texts():
    rows = QueuedMessage.objects.filter(dropped_at=None)
    return list(rows.values_list("text", flat=True))


def page(browser, run):
    """Return the queue as it stands on a page of the admin."""
    client = browser("ada")
    client.cookies["aia_ui"] = f"o=1&c={run.conversation_id}"
    html = client.get("/admin/").content.decode()
    return re.search(r'<section id="aia-queue".*?</section>', html, re.DOTALL)[0]


def end(run, state):
    Run.objects.filter(pk=run.pk).update(state=state)


class TestPage:
    def test_page_draws_what_waits(self, browser, run, say):
        say("Second <b>")
        say("Third")

        html = page(browser, run)

        assert html.index("Second &lt;b&gt;") < html.index("Third")
        assert "Sent when this answer ends." in html
        assert 'value="resume"' not in html

    def test_page_says_nothing_of_an_empty_one(self, browser, run):
        stop(run.pk)

        html = page(browser, run)

        assert "<li" not in html
        assert "Paused" not in html

    @pytest.mark.parametrize(
        ("state", "why"),
        [
            (RunState.CANCELLED, "Paused: the answer was stopped."),
            (RunState.FAILED, "Paused: the last answer failed."),
            (RunState.NEEDS_REVIEW, "Paused: the last answer failed."),
            (RunState.LIMITED, "Paused: a limit was reached."),
        ],
    )
    def test_page_says_why_it_has_paused(self, browser, run, say, state, why):
        say("Second")
        end(run, state)

        html = page(browser, run)

        assert why in html
        assert 'value="resume"' in html

    def test_answer_that_ends_while_the_page_is_drawn(
        self, browser, run, say, monkeypatch
    ):
        say("Second")

        def ended_before(conversation):
            end(run, RunState.CANCELLED)
            return read_thread(conversation)

        monkeypatch.setattr("ai_assistant.web.panel.panel.read_thread", ended_before)
        html = page(browser, run)

        assert "Second" in html
        assert "Paused: the answer was stopped." in html
        assert 'value="resume"' in html

    @pytest.mark.parametrize(
        ("held", "why"),
        [
            ("signed_out", "the session in which you wrote this has ended"),
            ("limited", "a limit was reached"),
            ("failed", "could not be sent"),
        ],
    )
    def test_page_says_why_the_next_one_was_refused(self, browser, run, say, held, why):
        say("Second")
        end(run, RunState.SUCCEEDED)
        QueuedMessage.objects.update(held=held)

        html = page(browser, run)

        assert why in html
        assert 'value="resume"' in html


class TestButtons:
    def test_drop_and_edit(self, press, say):
        rows = [say(text) for text in ("Second", "Third", "Fourth")]

        answers = [press("drop", rows[0]), press("edit", rows[2])]

        assert [one.status_code for one in answers] == [204, 204]
        assert texts() == ["Third"]

    def test_move(self, press, say):
        rows = [say(text) for text in ("Second", "Third")]

        press("down", rows[0])
        assert texts() == ["Third", "Second"]
        press("up", rows[0])
        assert texts() == ["Second", "Third"]

    def test_buttons_of_what_was_sent_meanwhile_say_so(self, press, say):
        row = say("Second")
        press("drop", row)

        notice, own = press("edit", row), press("edit", row, headers={})

        assert (notice.status_code, own.status_code) == (200, 409)
        for response in (notice, own):
            assert "is no longer waiting" in response.content.decode()

    def test_send_now_lets_the_next_step_read_it(self, press, run, say):
        Run.objects.update(state=RunState.WAITING_TASK)

        assert press("now", say("Second")).status_code == 204
        assert (run.messages.last().text, texts()) == ("Second", [])

    def test_resume_starts_the_first_one(self, press, run, say):
        say("Second")
        say("Third")
        end(run, RunState.CANCELLED)

        assert press("resume").status_code == 204
        assert texts() == ["Third"]
        assert Run.objects.latest("created_at").messages.get().text == "Second"

    def test_resume_twice_starts_one(self, press, run, say):
        say("Second")
        say("Third")
        end(run, RunState.CANCELLED)

        assert [press("resume").status_code for _ in range(2)] == [204, 204]
        assert (texts(), Run.objects.count()) == (["Third"], 2)

    def test_buttons_without_a_script_lead_back(self, press, say):
        response = press("drop", say("Second"), headers={}, next="/admin/auth/user/")

        assert response.status_code == 303
        assert response["Location"] == "/admin/auth/user/#aia"

    def test_buttons_that_are_none_are_refused(self, press, say):
        assert press("shout", say("Second"), headers={}).status_code == 400

    def test_buttons_of_another_person(self, press, say):
        row = say("Second")

        for how in ("drop", "edit", "down", "now", "resume"):
            assert press(how, row, name="bob").status_code == 404
        assert texts() == ["Second"]


class TestFrames:
    @pytest.fixture
    def tab(self, people, run):
        projection = Projection(
            run.conversation_id, people["ada"].pk, bare_panel(people["ada"], "/admin/")
        )
        projection.attach(run.pk, 0)
        return projection

    @staticmethod
    def drawn(ops):
        return [op[2] for op in ops if op[:2] == ["innerMorph", "aia-queued"]]

    def test_draw_it_once(self, tab, say):
        say("Second")

        first, second = tab.catch_up(), tab.catch_up()

        (html,) = self.drawn(first)
        assert "Second" in html
        assert ["tell", "say", "Sent when this answer ends."] in first
        assert self.drawn(second) == []

    def test_draw_it_on_a_page_that_may_be_behind(self, tab, press, run, say):
        row = say("Second")
        tab.catch_up()
        press("drop", row)
        stop(run.pk)
        run.refresh_from_db()

        for seq in (0, run.next_seq - 1):
            assert self.drawn(tab.attach(run.pk, seq)) == [""]

    def test_say_that_it_has_paused(self, tab, run, say):
        say("Second")
        tab.catch_up()
        stop(run.pk)

        ops = tab.catch_up()

        assert "Paused: the answer was stopped." in self.drawn(ops)[0]
        assert not tab.is_waiting

    def test_hold_no_message_that_has_begun(self, tab, press, run, say):
        say("Second")
        end(run, RunState.CANCELLED)
        tab.catch_up()
        press("resume")

        ops = tab.catch_up()

        assert self.drawn(ops) == [""]
        assert any("Second" in str(op) for op in ops if op[1] == "aia-log")
