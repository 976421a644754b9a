from datetime import UTC, datetime

import pytest

from ai_assistant.models import ToolCall
from ai_assistant.render.html.fragments import fragment
from ai_assistant.render.html.transcript.footer import sources_of
from tests.render.html.dom import Node, parse

USER = "/admin/auth/user/7/change/"
DATA = {
    "model": "auth.user",
    "total": 2,
    "rows": [{"id": 7, "text": "Ada <x>", "fields": {}}, {"id": 8, "text": "Bob"}],
}


@pytest.fixture
def read(story):
    """Return the sources of a text whose run has read `data`."""

    def sources(text, data=DATA, status="complete"):
        story.ask("Who?")
        story._reply(("echo",))
        ToolCall.objects.update(result={"ok": True, "data": data}, status=status)
        found = sources_of({story.run.pk: text})
        return [(one["text"], one["url"]) for one in found.get(story.run.pk, [])]

    return sources


class TestSources:
    def test_sources_are_the_objects_that_were_read(self, read):
        assert read(f"It is [Ada]({USER}).") == [("Ada <x>", USER)]

    def test_sources_are_numbered_as_they_are_linked_each_once(self, read):
        bob = "/admin/auth/user/8/change/"
        text = f"[b]({bob}), [a](<{USER}?x=1>), [b]({bob}#top)"

        assert [url for _, url in read(text)] == [bob, f"{USER}?x=1"]

    @pytest.mark.parametrize(
        "text",
        [
            "[Eve](/admin/auth/user/9/change/)",  # never read
            f"[Ada](https://example.com{USER})",  # elsewhere
            "[all](/admin/auth/user/)",
            "[none](/admin/no/such/page/)",
            f"{USER}",  # no link
            "",
        ],
    )
    def test_sources_are_nothing_else(self, read, text):
        assert read(text) == []

    def test_sources_of_a_call_that_failed_are_none(self, read):
        assert read(f"[Ada]({USER})", status="failed") == []

    @pytest.mark.parametrize("data", [None, "text", 7, [], {"id": 7}, {"model": 3}])
    def test_sources_of_other_results_are_none(self, read, data):
        assert read(f"[Ada]({USER})", data) == []

    def test_sources_of_one_object(self, read):
        data = {"model": "auth.User", "id": "7", "text": "Ada"}

        assert read(f"[Ada]({USER})", data) == [("Ada", USER)]

    def test_sources_of_a_key_are_of_the_model_that_it_points_at(self, read):
        key = {"section": {"id": 7, "text": "Sleep"}, "name": "hours"}
        data = {"model": "questionnaires.question", "id": 1, "fields": key}

        assert read("[x](/admin/questionnaires/question/7/change/)", data) == []

    def test_sources_of_a_related_object(self, read):
        ada = {"id": 7, "text": "Ada"}
        data = {"model": "auth.group", "id": 1, "fields": {"user": ada}}

        assert read(f"[Ada]({USER})", data) == [("Ada", USER)]

    def test_ask_for_results_only_where_something_is_linked(
        self, story, django_assert_num_queries
    ):
        with django_assert_num_queries(0):
            assert sources_of({story.conversation_id: "No link at all."}) == {}


NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def linked(story):
    """Return the only source of an answer whose run has read `DATA`."""
    story.ask("Who?")
    story._reply(("echo",))
    ToolCall.objects.update(
        result={"ok": True, "data": DATA},
        status="complete",
        label="Look <up>",
        finished_at=NOON,
    )
    return sources_of({story.run.pk: f"[Ada]({USER})"})[story.run.pk]


def drawn(sources) -> Node:
    return parse(fragment("sources", entry={"run_id": "r1", "sources": sources}))


def cards(sources) -> list[Node]:
    return [node for node in drawn(sources).elements() if "popover" in node.attrs]


class TestCard:
    def test_card_says_which_tool_has_read_the_object_and_when(self, linked):
        assert linked[0]["tool"] == "Look <up>"
        assert linked[0]["read_at"] == NOON

    def test_card_of_an_object_read_twice_tells_of_the_last_time(self, story):
        story.ask("Who?")
        story._reply(("echo", "echo"))
        later, earlier = ToolCall.objects.order_by("position")
        told = ((later, 13, "later"), (earlier, 12, "earlier"))
        for call, hour, label in told:
            call.result = {"data": {**DATA["rows"][0], "model": "auth.user"}}
            call.status, call.label = "complete", label
            call.finished_at = NOON.replace(hour=hour)
            call.save()

        (source,) = sources_of({story.run.pk: f"[Ada]({USER})"})[story.run.pk]

        assert source["tool"] == "later"

    def test_card_is_named_by_the_link_that_shows_it(self, linked):
        twice = [*linked, *linked]

        links = [node.attrs.get("interestfor") for node in drawn(twice).elements()]
        assert [name for name in links if name] == [card.id for card in cards(twice)]
        assert len({card.id for card in cards(twice)}) == 2

    def test_card_names_object_model_app_and_tool(self, linked):
        (card,) = cards(linked)

        said = card.text()
        for words in ("Ada <x>", "user · ", "Look <up>", "March 1, 2026"):
            assert words in said

    def test_card_leads_to_the_object_outside_the_order_of_tab(self, linked):
        (card,) = cards(linked)

        (link,) = (node for node in card.elements() if node.tag == "a")
        assert link.text() == "Open"
        assert link.attrs["href"] == USER
        assert link.attrs["tabindex"] == "-1"  # the source itself is in it
