from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.models import Interrupt, Message, ToolCall
from ai_assistant.models.run import RunState
from ai_assistant.registry import registry
from ai_assistant.render.html.transcript import thread
from ai_assistant.render.html.transcript.state import WORDS
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.types import IMPORTANCES
from tests.render.html.tab import whole_page


def articles(story) -> list[dict[str, str]]:
    page, _, _ = whole_page(story.conversation)
    nodes = [node for node in page.by_id("aia-log").children if node.tag == "article"]
    return [node.attrs for node in nodes]


def inside(story, name: str) -> list[str]:
    """The values of an attribute within the last run, in the order of the page."""
    page, _, _ = whole_page(story.conversation)
    nodes = page.by_id(f"r-{story.run.pk}-parts").elements()
    return [node.attrs[name] for node in nodes if name in node.attrs]


def cards_in(group) -> int:
    return sum("aia-tool" in one.classes() for one in group.elements())


def folded(group) -> int:
    """How many cards of a group are behind its own fold."""
    folds = [
        one
        for one in group.children
        if not isinstance(one, str) and one.tag == "details"
    ]
    return sum(map(cards_in, folds))


class TestRun:
    @pytest.mark.row("L15")
    def test_run_is_one_message_with_its_steps_inside(self, story):
        story.ask("Hello")
        story.think("Hm")
        story.say("I look.")
        story._reply(("echo",))
        story.work("x")
        story._reply(("echo",))
        story.work("y")
        story.say("Found.")
        story.succeed()

        question, answer = articles(story)
        assert question["data-role"] == "user"
        assert answer["data-role"] == "assistant"
        assert answer["data-run-id"] == str(story.run.pk)
        kinds = [value.split()[0] for value in inside(story, "class")]
        wanted = ("aia-reasoning", "aia-body", "aia-tool")
        assert [kind for kind in kinds if kind in wanted] == [
            *("aia-reasoning", "aia-body", "aia-tool", "aia-tool", "aia-body")
        ]

    @pytest.mark.row("D10")
    def test_run_says_whether_it_is_still_written(self, story):
        story.ask("Hello")
        story.say("Half")
        story.flush()

        assert articles(story)[1]["aria-busy"] == "true"
        story.stop_at_work()
        assert "aria-busy" not in articles(story)[1]
        assert Message.objects.last().state == Message.State.INTERRUPTED

    @pytest.mark.row("L16")
    def test_run_shows_label_and_status_of_each_call(self, story):
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        seen = []
        page, _, _ = whole_page(story.conversation)
        for status in ("waiting", "executing", "complete", "failed", "unknown"):
            ToolCall.objects.update(status=status, label="Mark as <paid>")
            page, _, _ = whole_page(story.conversation)
            nodes = page.by_id(f"r-{story.run.pk}-parts").elements()
            (card,) = [node for node in nodes if "aia-tool" in node.classes()]
            assert card.attrs["data-tool"] == "needs_approval"
            assert card.attrs["data-status"] == status
            assert "Mark as <paid>" in card.text()
            seen.append(card.text())
        assert len(set(seen)) == 5

    @pytest.mark.row("L14")
    def test_run_calls_of_one_tool_in_a_row_are_a_group_with_a_count(self, story):
        story.ask("Hello")
        story._reply(("echo", "echo", "no_such_tool"))
        story.work("a")
        story.work("b")
        story._reply(("no_such_tool",))
        story.say("Text parts them.")
        story._reply(("echo",))
        story.work("c")
        story.end()

        page, _, _ = whole_page(story.conversation)
        parts = page.by_id(f"r-{story.run.pk}-parts").children
        shown = [
            (
                part.classes()[0],
                sum("aia-tool" in one.classes() for one in part.elements()),
            )
            for part in parts
            if not isinstance(part, str)
        ]
        assert shown == [
            *(("aia-group", 2), ("aia-group", 2), ("aia-body", 0), ("aia-tool", 0))
        ]
        groups = [
            node for node in page.root.elements() if "aia-group" in node.classes()
        ]
        # What failed is in no fold.
        assert ["\u00d72" in group.text() for group in groups] == [True, False]
        assert [group.attrs["data-status"] for group in groups] == [
            "complete",
            "failed",
        ]
        assert [folded(group) for group in groups] == [2, 0]

    def test_group_hides_nothing_that_goes_on_or_failed(self, story):
        story.ask("Hello")
        story._reply(("echo", "echo", "echo", "echo"))
        for number in range(3):
            story.work(str(number))

        page, _, _ = whole_page(story.conversation)
        (group,) = [one for one in page.root.elements() if "aia-group" in one.classes()]
        assert group.attrs["data-status"] == "pending"
        assert folded(group) == 3
        assert cards_in(group) == 4

        ToolCall.objects.filter(position=1).update(status="failed", error="Gone.")
        page, _, _ = whole_page(story.conversation)
        group = page.by_id(group.id)
        assert folded(group) == 2
        assert cards_in(group) == 4

    @pytest.mark.row("L14")
    def test_run_reads_of_different_tools_are_one_group(self, story):
        story.ask("Hello")
        story._reply(("echo", "needs_approval", "no_such_tool", "echo"))
        began = timezone.now()
        for position, (start, end) in enumerate([(0, 1), (0.5, 1.5), (2, 2.3), (9, 9)]):
            ToolCall.objects.filter(position=position).update(
                effect="write" if position == 3 else "read",
                started_at=began + timedelta(seconds=start),
                finished_at=began + timedelta(seconds=end),
                status="complete",
            )

        page, _, _ = whole_page(story.conversation)
        (group,) = [one for one in page.root.elements() if "aia-group" in one.classes()]
        assert folded(group) == cards_in(group) == 3
        assert "Looked at 3 things" in group.text()
        assert "1.8 s" in group.text()  # side by side counts once

    def test_run_of_a_message_typed_meanwhile_stands_inside(self, story):
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        story.type_instead("now")
        story.say("As you wish.")
        story.succeed()

        assert len(articles(story)) == 2
        assert "user" in inside(story, "data-role")


class TestReadThread:
    def test_read_thread_without_a_conversation_is_empty(self):
        drawn = read_thread(None)

        assert (drawn.entries, drawn.run, drawn.state) == ([], None, "idle")

    @pytest.mark.row("N11")
    def test_read_thread_shows_the_last_runs_only(self, story, monkeypatch):
        monkeypatch.setattr(thread, "DRAWN_RUNS", 2)
        for number in range(4):
            story.ask(f"Question {number}")
            story.say("Answer.")
            story.succeed()

        texts = [entry.get("text") for entry in read_thread(story.conversation).entries]

        assert texts == ["Question 2", None, "Question 3", None]

    @pytest.mark.django_db
    def test_read_thread_asks_the_database_as_often_for_many_runs(
        self, story, django_assert_num_queries
    ):
        story.ask("One")
        story._reply(("echo",))
        story.end()
        conversation = story.conversation
        with django_assert_num_queries(9):
            read_thread(conversation)
        for _ in range(3):
            story.ask("More")
            story._reply(("echo", "echo"))
            story.end()
        with django_assert_num_queries(9):
            read_thread(conversation)


class TestPinned:
    def with_arguments(self, story, text):
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        ToolCall.objects.update(arguments={"text": text, "more": [{"a": text}]})
        page, _, _ = whole_page(story.conversation)
        return page.by_id("aia-pinned")

    def test_approval_shows_its_arguments_whole(self, story):
        card = self.with_arguments(story, "x" * 9000 + " and delete everything")

        assert card.text().count("and delete everything") == 2
        assert "Show the whole text" not in card.text()

    def test_approval_leads_to_arguments_too_long_for_it(self, story):
        card = self.with_arguments(story, "x" * 100_000 + " and delete everything")

        assert "and delete everything" not in card.text()
        links = [one.attrs["href"] for one in card.elements() if one.tag == "a"]
        asked = Interrupt.objects.get()
        for name in ("text", "more"):
            query = f"?interrupt={asked.pk}&argument={name}"
            (link,) = [one for one in links if one.endswith(query)]
            assert "whole" in link

    def test_approval_says_from_the_start_how_long_it_waits(self, story):
        said = " ".join(self.with_arguments(story, "x").text().split())

        assert "It expires in 23 hours." in said

    @pytest.mark.row("T24")
    @pytest.mark.parametrize("importance", [None, *IMPORTANCES])
    def test_approval_says_how_important_it_is(self, story, importance):
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        tool = registry.tool("needs_approval").changed(importance=importance)

        with registry.temporarily(tool):
            page, _, _ = whole_page(story.conversation)

        said = page.by_id("aia-pinned").text()
        assert said.count(f"Importance: {importance}") == bool(importance)
        assert said.count("Importance") == bool(importance)


class TestState:
    def test_state_has_a_word_for_each_state(self):
        assert {*WORDS, RunState.RUNNING} == {*RunState}
