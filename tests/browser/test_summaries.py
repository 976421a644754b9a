"""A long conversation is summed up, in a real browser."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]

SUMMARY = "They agreed on **blue** for the door."
QUESTION = "Which colour is the door to have? " * 6

pytestmark = pytest.mark.row("D04")


@pytest.fixture
def told(model: ModelServerProcess) -> str:
    """Return a message of which the answer, and the summary, is the same."""
    model.script("summed", [[text(SUMMARY)]])
    return f"{QUESTION}[[script:summed]]"


def divider(panel: Panel) -> Locator:
    return panel.log.locator(".aia-summary")


def test_compact_then_unfold_then_undo(panel: Panel, told: str) -> None:
    for _number in range(6):
        panel.ask_and_wait(told)
    panel.page.locator("#aia-settings > summary").click()
    panel.page.get_by_role("link", name="What the assistant reads").click()
    dialog = panel.page.locator("dialog[open]")
    expect(dialog).to_contain_text("12 messages, with results")
    expect(dialog).to_contain_text("Tools")
    panel.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    panel.ask("/compact")
    told_last = panel.log.locator(".aia-told").last
    expect(told_last).to_contain_text("Summed up: 2 messages.")
    expect(divider(panel)).to_have_count(1)
    expect(divider(panel)).to_contain_text("Summed up: 2 messages above")
    inside = divider(panel).locator("strong", has_text="blue")
    expect(inside).to_be_hidden()
    divider(panel).locator("summary").click()
    expect(inside).to_be_visible()
    panel.reload()
    expect(divider(panel)).to_have_count(1)
    assert len(panel.asked()) == 6  # all are there

    divider(panel).locator("summary").click()
    divider(panel).get_by_role("button", name="Undo the summary").click()
    expect(divider(panel)).to_have_count(0)
    panel.reload()
    expect(divider(panel)).to_have_count(0)


def test_page_says_that_it_is_summed_up(
    visit: Visit, own_server: Callable[..., DemoServer], model: ModelServerProcess
) -> None:
    env = {"TESTS_SETTINGS": json.dumps({"LIMITS": {"HISTORY_MESSAGES": 4}})}
    panel = visit(own_server(env=env)).panel()
    model.script("held", [[text("Blue.")]])
    panel.ask_and_wait(f"{QUESTION}[[script:held]]")
    panel.ask_and_wait("[[script:held]]")  # the last of what is summed up
    model.script("held", [[{"op": "hold", "name": "sum"}, text(SUMMARY)]])

    panel.ask("[[script:hello]]")
    expect(panel.log).to_contain_text("Summing up the earlier part")
    model.release("sum")
    panel.wait_done(3)

    expect(panel.log.get_by_text("Summing up the earlier part")).to_have_count(0)
    expect(divider(panel)).to_contain_text("Summed up: 3 messages above")
