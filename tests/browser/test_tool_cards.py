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
    hold = {"op": "hold", "name": "written"}
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
        "written", [held_in_the_middle("measure", WRITTEN), [text("Measured.")]]
    )


@pytest.mark.row("L06")
@pytest.mark.row("L08")
@pytest.mark.row("L09")
def test_custom_tool_template(panel: Panel, server: DemoServer) -> None:
    panel.ask("[[script:measure]]")
    card = panel.card("measure")
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


def test_template_that_fails_is_contained(panel: Panel) -> None:
    answer = panel.ask_and_wait("[[script:torn]]")

    assert "Torn." in answer.text
    card = panel.card("torn")
    assert card.get_attribute("data-status") == "complete"
    assert "The template of this tool failed" in card.inner_text()


@pytest.mark.row("L07")
def test_arguments_are_shown_while_they_are_written(
    panel: Panel, model: ModelServerProcess
) -> None:
    panel.ask("[[script:written]]")
    card = panel.card("measure")
    card.get_by_text("a place whose").wait_for()
    assert card.get_attribute("data-status") == "pending"

    model.release("written")
    panel.wait_done()

    assert card.count() == 1
    assert card.get_attribute("data-status") == "complete"
    assert panel.repeated_ids() == []
