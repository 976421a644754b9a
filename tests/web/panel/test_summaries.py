"""Where a conversation was summed up: the divider, its undo, and `/compact`."""

import asyncio
import re
import uuid

import pytest

from ai_assistant import conf
from ai_assistant.engine.execution.summing import sum_up_now
from ai_assistant.engine.queries import conversation_list
from ai_assistant.engine.service import undo_summary
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.models import Conversation, Message, Run
from ai_assistant.models.run import Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.agui.messages import messages_of
from ai_assistant.render.exported import as_markdown
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.shared import read_shared
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.testing import ScriptedProvider
from tests.render.html.tab import panel as drawn_panel
from tests.web.panel.test_send import form, send

PATH = "/assistant/summary/"
SHORT = "They agreed on **blue**. <script>alert(1)</script>"
pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(autouse=True)
def script(settings, monkeypatch):
    monkeypatch.setattr(ScriptedProvider, "sums_up", True)
    provider = ScriptedProvider([SHORT])
    profile = {
        "PROVIDER": "ai_assistant.testing.ScriptedProvider",
        "MODEL": "scripted",
        "SCRIPT": provider,
    }
    changed = {"PROFILES": {"default": profile}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)
    return provider


@pytest.fixture
def long(people):
    """A conversation of Ada's with seven answers."""
    conversation = Conversation.objects.create(owner=people["ada"], title="Doors")
    run = None
    for number in range(7):
        run = Run.objects.create(
            conversation=conversation,
            after=run,
            user=people["ada"],
            idempotency_key=uuid.uuid4().hex,
            state="succeeded",
        )
        Message.objects.append(
            Message.said(run, uuid.uuid4().hex, f"Question {number}")
        )
        text = f"Answer {number}. " + "It may be of any colour. " * 5
        message = Message(
            conversation=conversation,
            run=run,
            role="assistant",
            parts=[{"type": "text", "text": text}],
        )
        Message.objects.append(message)
        Step.objects.create(run=run, index=0, message=message, finish_reason="stop")
    return conversation


@pytest.fixture
def summed(people, long):
    return asyncio.run(sum_up_now(people["ada"].pk, long.pk))


def shown(client, conversation):
    url = f"/assistant/panel/?conversation={conversation.pk}&path=/admin/"
    return client.get(url).content.decode()


@pytest.mark.row("D04")
class TestDivider:
    def test_stands_below_what_it_is_of_and_unfolds(self, browser, long, summed):
        html = shown(browser("ada"), long)

        assert "Summed up: 4 messages above" in html
        assert "They agreed on <strong>blue</strong>." in html
        assert "<script>alert" not in html
        at = html.index(f's-{summed.pk}"')
        assert html.index("Answer 1.") < at < html.index("Question 2")
        assert 'action="/assistant/summary/"' in html

    def test_who_may_only_look_has_nothing_to_press(
        self, browser, people, long, summed
    ):
        Conversation.objects.update(owner=people["viewer"])

        html = shown(browser("viewer"), long)

        assert "Summed up: 4 messages above" in html
        assert 'action="/assistant/summary/"' not in html

    def test_a_failure_says_why(self, browser, long, summed):
        parts = [{**summed.parts[0], "failed": "It took too long."}]
        Message.objects.filter(pk=summed.pk).update(state="failed", parts=parts)

        html = shown(browser("ada"), long)

        assert "could not be summed up. The oldest messages are left out." in html
        assert "It took too long." in html

    def test_costs_no_query_where_there_is_none(
        self, people, long, django_assert_num_queries
    ):
        long.refresh_from_db()
        with django_assert_num_queries(0):
            from ai_assistant.render.html.transcript.summaries import summaries_of

            assert summaries_of(long, []) == {}


@pytest.mark.row("D04")
class TestUndo:
    def test_gives_the_history_back(self, browser, long, summed):
        client, last = browser("ada"), long.runs.latest("created_at")
        assert "Question 0" not in str(chat_messages(last))

        answer = client.post(
            PATH, {"summary": summed.pk}, headers={"HX-Request": "true"}
        )

        assert answer.status_code == 204
        assert "Question 0" in str(chat_messages(last))
        assert "Summed up" not in shown(client, long)

    def test_without_a_script_it_goes_back_to_the_page(self, browser, summed):
        answer = browser("ada").post(PATH, {"summary": summed.pk, "next": "/admin/"})

        assert (answer.status_code, answer["Location"]) == (303, "/admin/#aia")
        summed.refresh_from_db()
        assert summed.state == "undone"

    @pytest.mark.parametrize("who", ["bob", "viewer", "nobody"])
    def test_not_of_others(self, browser, summed, who):
        answer = browser(who).post(PATH, {"summary": summed.pk})

        assert answer.status_code == (404 if who == "bob" else 403)
        summed.refresh_from_db()
        assert summed.state == "complete"

    def test_not_by_a_link(self, browser, summed):
        assert browser("ada").get(PATH, {"summary": summed.pk}).status_code == 405


@pytest.mark.row("D04")
@pytest.mark.row("P06")
class TestCompact:
    def test_sums_up_at_once(self, browser, long):
        fields = form(text="/compact", conversation=str(long.pk))

        answer = send(browser("ada"), fields, script=True)

        assert answer.status_code == 202
        assert "Summed up: 4 messages." in answer.content.decode()
        assert Message.objects.get(role="summary").state == "complete"
        assert not Message.objects.filter(parts__0__text="/compact").exists()

    def test_says_if_there_is_nothing(self, browser, people, script):
        answer = send(browser("ada"), form(text="/compact"), script=True)

        assert "There is nothing to sum up yet" in answer.content.decode()
        assert script.requests == []

    def test_says_if_it_is_too_early(self, browser, long, script):
        for run in long.runs.order_by("created_at")[:3]:
            run.delete()
        fields = form(text="/compact", conversation=str(long.pk))

        answer = send(browser("ada"), fields, script=True)

        assert "There is nothing to sum up yet" in answer.content.decode()
        assert script.requests == []


class TestTabs:
    """Each open page sees a summary come, and go."""

    def follow(self, long, people):
        last = long.runs.latest("created_at")
        projection = Projection(long.pk, people["ada"].pk, drawn_panel())
        projection.attach(last.pk, last.next_seq - 1)
        return projection

    def test_see_it_come_and_go(self, people, long):
        projection = self.follow(long, people)
        summed = asyncio.run(sum_up_now(people["ada"].pk, long.pk))

        (drawn,) = [op for op in projection.catch_up() if op[0] == "innerMorph"]
        assert drawn[1] == f"r-{summed.run_id}-end"
        assert "Summed up: 4 messages above" in drawn[2]
        assert not [op for op in projection.catch_up() if op[0] == "innerMorph"]

        asyncio.run(undo_summary(people["ada"].pk, summed.pk))

        (drawn,) = [op for op in projection.catch_up() if op[0] == "innerMorph"]
        assert "Summed up" not in drawn[2]

    def test_a_page_that_comes_late_sees_it(self, people, long, summed):
        projection = Projection(long.pk, people["ada"].pk, drawn_panel())
        last = long.runs.latest("created_at")

        ops = projection.attach(last.pk, last.next_seq - 1)

        assert "Summed up: 4 messages above" in str(ops)

    def test_a_page_draws_the_same_anew(self, people, long, summed):
        long.refresh_from_db()
        entries = read_thread(long).entries

        assert [
            len(one.get("summaries", ())) for one in entries if one["kind"] == "run"
        ] == [*(0, 1, 0, 0, 0, 0, 0)]


class TestMeter:
    def drawn(self, client, conversation):
        url = f"/assistant/meter/?conversation={conversation}"
        return client.get(url, headers={"HX-Request": "true"}).content.decode()

    def test_says_of_what_the_context_is_full(self, browser, long, summed):
        html = self.drawn(browser("ada"), long.pk)

        assert "10 messages, with results" in html
        assert "Summary of earlier messages" in html
        assert "is not known" in html
        assert "<progress" not in html

    def test_says_how_full_it_is_where_the_model_is_known(
        self, browser, long, settings
    ):
        profile = settings.AI_ASSISTANT["PROFILES"]["default"]
        known = {"default": {**profile, "WINDOW_TOKENS": 1000}}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, {"PROFILES": known})

        html = self.drawn(browser("ada"), long.pk)

        assert "14 messages, with results" in html
        assert '<progress aria-labelledby="aia-meter-h" max="1000"' in html
        assert "of 1000 tokens" in html
        shares = [int(one) for one in re.findall(r"· (\d+) %</dd>", html)]
        assert len(shares) == 3
        assert 98 <= sum(shares) <= 102
        assert 'data-aia-ask="/compact"' in html

    @pytest.mark.parametrize(("read", "is_told"), [(594, False), (600, True)])
    def test_comes_by_itself_where_it_is_nearly_full(
        self, browser, long, settings, read, is_told
    ):
        profile = settings.AI_ASSISTANT["PROFILES"]["default"]
        known = {"default": {**profile, "WINDOW_TOKENS": 1000}}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, {"PROFILES": known})
        last = long.runs.latest("created_at")
        last.finished_at = last.created_at
        last.save()
        for step, tokens in enumerate((read - 10, read)):
            UsageLedger.objects.create(run=last, step_index=step, input_tokens=tokens)

        html = shown(browser("ada"), long)

        assert html.count("Context 60 % full") == is_told

    @pytest.mark.parametrize("named", ["", "x", uuid.UUID(int=7)])
    def test_of_a_conversation_that_is_not_there_it_is_empty(self, browser, named):
        assert "Nothing was said" in self.drawn(browser("ada"), named)

    def test_of_others_it_is_empty(self, browser, long):
        assert "Nothing was said" in self.drawn(browser("bob"), long.pk)

    def test_is_a_page_of_its_own_without_a_script(self, browser, long):
        page = browser("ada").get(f"/assistant/meter/?conversation={long.pk}")

        assert "What the assistant reads" in page.content.decode()
        assert "</html>" in page.content.decode()


class TestElsewhere:
    """A summary is a note for the model: nobody has said it."""

    def test_is_no_message_of_a_client(self, long, summed):
        told = messages_of(long)

        assert len(told) == 14
        assert "agreed on" not in str(told)

    def test_is_not_found_by_its_words(self, people, long, summed):
        found = conversation_list(people["ada"].pk, words=("agreed",))

        assert list(found) == []

    def test_is_not_in_a_file_of_the_conversation(self, long, summed):
        assert "agreed on" not in as_markdown(long)
        assert "Answer 0." in as_markdown(long)

    def test_is_not_on_a_shared_page(self, people, long, summed):
        entries = read_shared(long, people["bob"]).entries

        assert "Answer 0." in str(entries)
        assert "agreed on" not in str(entries)
