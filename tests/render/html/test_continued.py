"""An answer that was cut and went on is one message, on a page load and by frames."""

import uuid

import pytest

from ai_assistant.engine.intake.retries import whole_answer
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import Submission
from ai_assistant.models import Message
from ai_assistant.models.run import Run
from ai_assistant.render.html.transcript import thread
from ai_assistant.render.html.transcript.thread import read_earlier, read_thread
from tests.render.html.forking import Forking
from tests.render.html.tab import Tab, whole_page
from tests.render.html.test_projection import assert_whole


@pytest.fixture
def story(user):
    return Forking(user)


@pytest.fixture
def cut(story):
    """One question, and an answer that was stopped half-way."""
    story.ask("Count")
    story.say("One, two")
    story.stop_at_work()
    return story


@pytest.fixture
def tab(cut):
    tab = Tab(cut)
    tab.connect()
    return tab


def messages(page) -> list:
    nodes = page.by_id("aia-log").elements()
    return [node for node in nodes if "aia-msg" in node.classes()]


def seams(page) -> list:
    nodes = page.by_id("aia-log").elements()
    return [node for node in nodes if "aia-seam" in node.classes()]


def kinds(entries) -> list[str]:
    return [entry["kind"] for entry in entries]


class TestPage:
    def test_page_has_one_message_for_both_parts(self, cut):
        cut.go_on("")
        cut.say("three, four.")
        cut.succeed()

        page, _, _ = whole_page(cut.conversation)

        question, answer = messages(page)
        assert question.attrs["data-role"] == "user"
        assert answer.attrs["data-run-id"] == str(cut.runs()[0].pk)
        text = answer.text()
        assert text.index("One, two") < text.index("Continued") < text.index("three")
        assert text.count("Assistant") == 1
        # The model is told it still; the person has not said it.
        assert "Go on." not in page.by_id("aia-log").text()
        assert [one.text for one in Message.objects.all()].count("Go on.") == 1

    def test_page_has_what_stands_under_an_answer_once(self, cut):
        cut.go_on("")
        cut.say("three")
        cut.stop_at_work()
        first, second = cut.runs()

        page, _, _ = whole_page(cut.conversation)

        text = page.by_id("aia-log").text()
        assert text.count("Stopped") == text.count("Continue") - 1 == 1
        assert page.by_id(f"r-{first.pk}-end").text().strip() == ""
        bars = [
            one for one in page.root.elements() if one.attrs.get("role") == "toolbar"
        ]
        (bar,) = bars
        assert bar.parent.attrs["id"] == f"r-{second.pk}-actions"

    def test_page_joins_what_went_on_twice(self, cut):
        for said in ("three", "four"):
            cut.go_on("x" * (len(cut.runs()) - 1))  # the last one
            cut.say(said)
            cut.stop_at_work()

        page, _, _ = whole_page(cut.conversation)

        assert len(messages(page)) == 2
        assert len(seams(page)) == 2

    def test_page_joins_another_try_at_going_on(self, cut):
        cut.go_on("")
        cut.fail()
        cut.go_on("x")
        cut.say("three")
        cut.succeed()

        page, _, _ = whole_page(cut.conversation)

        assert len(messages(page)) == 2
        assert "Go on." not in page.by_id("aia-log").text()
        # The failed try is a version of it.
        assert "Version 2 of 2" in seams(page)[0].text()

    def test_page_shows_a_question_with_such_a_key(self, cut):
        accept(
            Submission(
                user_id=cut.user.pk,
                conversation_id=cut.conversation_id,
                key=f"again-{uuid.uuid4()}",
                text="Delete all",
            )
        )

        page, _, _ = whole_page(cut.conversation)

        assert len(messages(page)) == 4
        assert "Delete all" in page.by_id("aia-log").text()
        texts = [node.classes() for node in page.by_id("aia-log").elements()]
        assert not any("aia-again" in classes for classes in texts)

    def test_page_begins_with_the_question_of_the_first_part(self, cut, monkeypatch):
        monkeypatch.setattr(thread, "DRAWN_RUNS", 1)
        cut.go_on("")
        cut.succeed()

        drawn = read_thread(cut.conversation)
        assert kinds(drawn.entries) == ["user", "run"]
        assert drawn.earlier == ""

        cut.ask("More")
        cut.succeed()
        last = cut.runs()[-1]
        above = read_earlier(cut.conversation, last.pk, None)
        assert kinds(above.entries) == ["user", "run"]
        assert len(above.entries[1]["later"]) == 1


class TestFrames:
    def test_take_the_end_away_as_it_goes_on(self, cut, tab):
        assert "Stopped" in tab.page.by_id("aia-log").text()

        cut.go_on("")
        tab.look()

        assert "Stopped" not in tab.page.by_id("aia-log").text()
        assert len(messages(tab.page)) == 2
        assert_whole(tab)

    def test_write_on_in_the_same_message(self, cut, tab):
        cut.go_on("")
        tab.look()
        cut.say("three")
        cut.flush()
        tab.look()
        assert "three" in messages(tab.page)[1].text()

        cut.succeed()
        tab.look()

        assert_whole(tab)
        assert len(messages(tab.page)) == 2

    def test_copy_the_half_that_there_is(self, cut, tab):
        cut.go_on("")
        cut.stop_at_work()
        tab.look()

        last = tab.page.by_id(f"r-{cut.runs()[1].pk}-end").elements()
        assert "Copy" in [one.attrs.get("aria-label") for one in last]
        assert_whole(tab)

    def test_show_another_version_of_it(self, cut, tab):
        cut.go_on("")
        cut.say("three")
        cut.succeed()
        tab.look()
        cut.answer_anew("x")
        cut.say("drei")
        cut.succeed()
        tab.look()

        text = messages(tab.page)[1].text()
        assert "drei" in text
        assert "three" not in text
        assert "Version 2 of 2" in seams(tab.page)[0].text()
        assert_whole(tab)

        cut.switch("x")
        assert ["tell", "say", "Version 1 of 2 is shown."] in tab.projection.catch_up()
        assert "three" in messages(whole_page(cut.conversation)[0])[1].text()

    def test_reach_a_page_that_shows_the_second_part(self, cut):
        cut.go_on("")
        cut.stop_at_work()
        poller = Tab(cut)
        cut.go_on("x")
        cut.say("four")
        cut.succeed()

        poller.poll()

        assert len(messages(poller.page)) == 2
        assert_whole(poller)


class TestWholeAnswer:
    def test_whole_answer_is_the_runs_of_its_parts(self, cut):
        cut.go_on("")
        cut.succeed()
        cut.ask("More")
        cut.succeed()
        first, second, third = cut.runs()

        assert whole_answer(first) == [first.pk]
        assert whole_answer(second) == [first.pk, second.pk]
        assert whole_answer(third) == [third.pk]

    def test_whole_answer_stands_without_what_was_deleted(self, cut):
        cut.go_on("")
        cut.succeed()
        first, second = cut.runs()
        first.delete()
        second = Run.objects.get(pk=second.pk)

        assert whole_answer(second) == [second.pk]
        assert kinds(read_thread(cut.conversation).entries) == ["user", "run"]
