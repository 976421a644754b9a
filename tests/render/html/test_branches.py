"""A tab shows one path through the conversation, and the same as a page load."""

from types import SimpleNamespace

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant.models import ToolCall
from ai_assistant.render.html.transcript import growing
from ai_assistant.render.html.transcript.groups import fork_entry
from ai_assistant.render.html.transcript.thread import read_thread
from tests.render.html.forking import Forking
from tests.render.html.tab import Tab, whole_page
from tests.render.html.test_projection import assert_whole, deliver, texts
from tests.thorough import examples

played = settings(
    max_examples=examples(4, many=80),
    deadline=None,
    suppress_health_check=[*HealthCheck],
)


@pytest.fixture
def story(user):
    return Forking(user)


@pytest.fixture
def two(story):
    """Two questions with their answers, and a tab that shows them."""
    for question, answer in (("First", "One."), ("Second", "Two.")):
        story.ask(question)
        story.say(answer)
        story.succeed()
    tab = Tab(story)
    tab.connect()
    return tab


def text(tab: Tab) -> str:
    return tab.page.by_id("aia-log").text()


def pickers(conversation) -> list[tuple[int, int]]:
    entries = read_thread(conversation).entries
    found = [one["versions"] for one in entries if one.get("versions")]
    return [(one["number"], one["count"]) for one in found]


def bare(page) -> str:
    """What the page shows, without how many versions there are."""
    for node in list(page.by_id("aia-log").elements()):
        if "aia-mine" in node.classes() and node.parent is not None:
            node.replace_with()
    return str(page.shown())


class TestSwitching:
    def test_switching_redraws_a_tab_that_shows_another_branch(self, story, two):
        story.edit("x")  # the second question
        two.look()
        assert "Rather" in text(two)
        assert "Second" not in text(two)
        story.say("Else.")
        story.succeed()
        two.look()
        assert_whole(two)
        assert pickers(story.conversation) == [(2, 2)]

        story.switch("x")
        two.look()

        assert "Two." in text(two)
        assert "Else." not in text(two)
        assert pickers(story.conversation) == [(1, 2)]
        assert_whole(two)

    def test_switching_redraws_all_below_the_fork(self, story, two):
        story.answer_anew("ab")  # the first question
        story.say("Uno.")
        story.succeed()
        two.look()

        assert "Second" not in text(two)
        assert "Uno." in text(two)
        assert_whole(two)

    def test_switching_is_no_news_of_the_questions(self, story, two):
        story.edit("x")
        story.succeed()
        two.look()
        two.page.accepted.clear()

        story.switch("x")
        two.look()

        assert two.page.accepted == []

    def test_switch_of_the_version_is_announced(self, story, two):
        story.edit("x")
        story.succeed()
        two.look()
        story.switch("x")

        ops = two.projection.catch_up()

        assert ["tell", "say", "Version 1 of 2 is shown."] in ops

    def test_switching_is_seen_by_a_page_that_was_away(self, story, two):
        away = Tab(story)
        story.edit("x")
        story.say("Else.")
        story.succeed()

        away.connect()

        assert_whole(away)
        assert "Two." not in text(away)

    def test_switching_is_seen_by_polling(self, story, two):
        poller = Tab(story)
        story.edit("x")
        poller.poll()
        assert_whole(poller)
        story.succeed()
        story.switch("x")

        poller.poll()

        assert_whole(poller)
        assert "Two." in text(poller)

    def test_switching_leaves_a_page_alone_that_shows_it_already(self, story, two):
        story.edit("x")
        story.succeed()
        story.switch("x")
        page = Tab(story)

        ops = page._projection().attach(story.runs()[1].pk, page.seq)

        assert not [op for op in ops if op[1] in ("aia-log", "aia-pinned")]


@pytest.mark.broad
class TestFrames:
    @played
    @given(data=st.data())
    def test_show_the_same_as_the_rows(self, user, monkeypatch, data):
        # How long a thought took is known for sure only when it is stored.
        monkeypatch.setattr(growing, "time", SimpleNamespace(monotonic=lambda: 0.0))
        with transaction.atomic():
            self._play(Forking(user), data.draw)
            transaction.set_rollback(True)  # each example has the tables for itself

    def _play(self, story, draw):
        here, away = None, None
        for _ in range(draw(st.integers(3, 25))):
            getattr(story, draw(st.sampled_from(story.possible())))(draw(texts))
            here, away = here or Tab(story), away or Tab(story)
            if here.projection is None:
                here.connect()
            deliver(draw, here)
            here.look()
            if story.all_is_stored():
                assert_whole(here)
            if draw(st.booleans()):
                away.poll()
        story.end()
        here.look()
        assert_whole(here)
        away.poll()
        # How many versions there are it may not have heard.
        assert bare(away.page) == bare(whole_page(story.conversation)[0])


class TestForm:
    def test_form_says_whether_what_is_left_has_changed_data(self, story, two):
        first, second = story.runs()
        assert not fork_entry(first)["changed"]
        story.ask("Write")
        story.say("I do.")
        story._reply(("echo",))
        story.work("x")
        story.say("Done.")
        story.succeed()
        assert not fork_entry(first)["changed"]
        ToolCall.objects.update(effect="write", status="complete")

        # It is below the first and the second as well.
        assert [fork_entry(run)["changed"] for run in story.runs()] == [True] * 3

    def test_form_holds_the_question(self, story, two):
        first, _second = story.runs()

        assert fork_entry(first)["text"] == "First"
