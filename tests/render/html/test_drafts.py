"""Calls that the model is still writing, on the page."""

import pytest

from ai_assistant.render.html.live.texts import partial_arguments
from tests.render.html.tab import Tab

FULL = '{"text": "a <b>wish</b>", "list": [1, 2]}'


@pytest.fixture
def tab(story):
    story.ask("Hello")
    tab = Tab(story)
    tab.connect()
    return tab


@pytest.fixture
def hear(story, tab):
    """Let the tab hear a draft."""

    def say(arguments, *, name="echo", position=0, **changed):
        frame = {
            "run": str(story.run.pk),
            "epoch": story.run.epoch,
            "step": 0,
            "message": story.stretch.message_id,
            "position": position,
            "name": name,
            "arguments": arguments,
        }
        tab.hear([{**frame, **changed}])
        tab.page.apply(tab.projection.draft_ops())

    return say


def cards(tab):
    parts = tab.page.by_id(f"r-{tab.story.run.pk}-parts").children
    return [part for part in parts if "aia-tool" in part.classes()]


@pytest.mark.row("L07")
class TestDraft:
    def test_draft_grows(self, tab, hear):
        hear('{"te')
        (first,) = cards(tab)
        assert (first.attrs["data-tool"], first.attrs["data-status"]) == (
            "echo",
            "pending",
        )

        hear('{"text": "a <b>wi')

        (card,) = cards(tab)
        assert "a <b>wi" in card.text()

    def test_late_and_repeated_ones_change_nothing(self, tab, hear):
        hear('{"text": "all"}')
        hear('{"te')
        hear('{"text": "all"}')

        (card,) = cards(tab)
        assert "all" in card.text()

    def test_draft_of_two_calls(self, tab, hear):
        hear("{", position=0)
        hear("{", position=1, name="slow")

        assert [card.attrs["data-tool"] for card in cards(tab)] == ["echo", "slow"]

    def test_draft_goes_to_the_template_of_the_tool(self, tab, hear):
        hear('{"place": "Ro', name="map_card")

        assert "Here lies Ro." in cards(tab)[0].text()

    def test_draft_gives_way_to_the_stored_call(self, story, tab, hear):
        hear('{"text": ')
        story._reply(("echo",))
        tab.look()

        assert [card.attrs["id"] for card in cards(tab)] == [
            f"c-{story.run.calls.get().pk}"
        ]

        hear(FULL)
        assert len(cards(tab)) == 1

    def test_draft_of_a_process_that_has_lost_the_run(self, tab, hear):
        hear("{", epoch=7)
        hear('{"text": "zombie"}', message="other", epoch=6)

        assert len(cards(tab)) == 1
        assert "zombie" not in cards(tab)[0].text()

    def test_draft_goes_with_the_end_of_the_run(self, story, tab, hear):
        hear("{")
        story.fail()
        tab.look()

        assert cards(tab) == []

    def test_draft_is_not_on_a_page_that_comes_later(self, story, tab, hear):
        hear("{")

        assert cards(Tab(story)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("{", {}),
        ('{"a', {}),
        ('{"a": "b', {"a": "b"}),
        ('{"a": "b", "c": [1, 2', {"a": "b", "c": [1]}),
        (FULL, {"text": "a <b>wish</b>", "list": [1, 2]}),
        ("[1, 2", {}),
        ("no json", {}),
        ('{"a": NaN}', {}),
        ("[" * 5000, {}),
    ],
)
def test_partial_arguments(text, found):
    read = partial_arguments({"arguments": text})

    assert read == found or (found == {"a": "b", "c": [1]} and read["a"] == "b")
