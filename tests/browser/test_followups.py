"""What the model suggests after its answer, and the plan that it ticks off."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import Panel
from tests.browser.test_answers import PHONE
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
NEXT = "Who is in charge of them? [[script:hello]]"
AGAIN = "And in May? [[script:suggests]]"
STEPS = ("Read", "Count", "Tell")


def plan(*statuses: str) -> object:
    items = [
        {"text": step, "status": status}
        for step, status in zip(STEPS, statuses, strict=True)
    ]
    return call("update_plan", {"items": items})


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    """The last one is held behind a word: a model that is silent is given up."""
    items = {"items": [NEXT, AGAIN, "/clear"]}
    model.script("suggests", [[text("Seven."), call("suggest_followups", items)]])
    model.script(
        "plans",
        [
            [text("Let me see."), plan("in_progress", "pending", "pending")],
            [call("count_questions")],
            [plan("done", "in_progress", "pending")],
            [text("Seven"), {"op": "hold", "name": "plan"}, text(".")],
        ],
    )


def chips(panel: Panel) -> Locator:
    return panel.page.locator("#aia-log .aia-followups button:visible")


@pytest.mark.row("S04", "L09")
def test_plan_is_ticked_off_in_its_place_and_followups_are_pressed(
    visit: Visit,
    server: DemoServer,
    model: ModelServerProcess,
    subtests: pytest.Subtests,
) -> None:
    panel = visit(server, **PHONE).panel()
    with subtests.test("a plan is ticked off"):
        plan_is_ticked_off(panel, model)
    panel.new_conversation()
    with subtests.test("by touch one leads to the next"):
        panel.ask_and_wait("[[script:suggests]]")
        expect(chips(panel)).to_have_count(2)
        assert panel.log.locator(".aia-tool").count() == 0
        chips(panel).last.tap()
        panel.wait_done(2)
        expect(chips(panel)).to_have_count(2)
        box = chips(panel).last.bounding_box()
        assert box is not None
        assert box["height"] >= 44

    panel.reload()
    with subtests.test("there after a reload, pressed by keys, and gone"):
        expect(chips(panel)).to_have_count(2)
        chips(panel).first.focus()
        panel.page.keyboard.press("Enter")
        panel.wait_done(3)
        assert panel.asked()[-1] == NEXT
        expect(chips(panel)).to_have_count(0)
        assert panel.input.input_value() == ""


def plan_is_ticked_off(panel: Panel, model: ModelServerProcess) -> None:
    panel.ask("[[script:plans]]")
    shown = panel.log.locator(".aia-list")
    expect(shown).to_contain_text("Plan: 1 of 3 done")
    items = shown.locator("li")
    expect(items.first).to_contain_text("Done")
    expect(items.nth(1)).to_contain_text("In progress")
    model.release("plan")
    panel.wait_done()
    expect(items.nth(1)).to_contain_text("Not done")
    assert shown.count() == 1
    assert panel.log.locator('.aia-tool[data-tool="update_plan"]').count() == 0
