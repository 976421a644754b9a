"""The cards of tools: a site's own templates, and what a call tells of its work."""

from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

WRITTEN = '{"place": "a place whose name is long, and which is held in the middle"}'


def held_in_the_middle(name: str, arguments: str) -> list[Any]:
    """A call of which the arguments come in pieces, with a hold half way."""
    first = {"index": 0, "id": "call_a", "function": {"name": name, "arguments": ""}}
    pieces = [
        _piece({"index": 0, "function": {"arguments": arguments[at : at + 4]}})
        for at in range(0, len(arguments), 4)
    ]
    half = len(pieces) // 2
    hold = {"op": "hold", "name": "measured"}
    finish = {"op": "finish", "reason": "tool_calls"}
    return [_piece(first), *pieces[:half], hold, *pieces[half:], finish]


def _piece(call: dict[str, Any]) -> dict[str, Any]:
    return {"op": "delta", "delta": {"tool_calls": [call]}}


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    model.script(
        "measure",
        [[call("measure", {"place": "Rome", "held": "measure"})], [text("Measured.")]],
    )
    model.script("locate", [[call("locate", {"place": "Oslo"})], [text("Found.")]])
    model.script("torn", [[call("torn", {"text": "a"})], [text("Torn.")]])
    model.script(
        "measured", [held_in_the_middle("measure", WRITTEN), [text("Measured.")]]
    )


@pytest.mark.row("L06", "L07", "L08", "L09")
def test_custom_template_shows_arguments_then_the_pieces(
    panel: Panel, model: ModelServerProcess, server: DemoServer
) -> None:
    panel.ask("[[script:measured]]")
    card = panel.card("measure")
    card.get_by_text("a place whose").wait_for()
    assert card.get_attribute("data-status") == "pending"

    model.release("measured")
    panel.wait_done()

    assert card.count() == 1
    assert card.get_attribute("data-status") == "complete"
    assert panel.repeated_ids() == []

    panel.new_conversation()
    panel.ask("[[script:measure]]")
    card.get_by_text("10 so far").wait_for()
    steps = card.locator(".aia-steps > li")
    assert steps.last.get_attribute("data-status") == "executing"
    server.let("measure-1")
    card.get_by_text("30 so far").wait_for()
    assert steps.first.get_attribute("data-status") == "complete"
    assert card.locator("progress").get_attribute("value") is not None

    server.let("measure-2")
    server.let("measure-3")
    panel.wait_done()

    assert card.get_attribute("data-status") == "complete"
    card.get_by_text("60 in all").wait_for()
    assert card.locator("td").all_inner_texts() == ["10", "20", "30"]

    panel.page.reload()
    panel.open()
    panel.card("measure").get_by_text("60 in all").wait_for()


@pytest.mark.smoke
@pytest.mark.row("T04")
def test_card_that_a_tool_shows(panel: Panel) -> None:
    panel.ask_and_wait("[[script:locate]]")

    shown = panel.card("locate").locator('.aia-tool[data-tool="map_card"]')
    shown.get_by_text("Here lies Oslo.").wait_for()

    panel.page.reload()
    panel.open()
    shown.get_by_text("Here lies Oslo.").wait_for()
