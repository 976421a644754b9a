"""Suggestions of an empty panel: pressed, and those that a model writes meanwhile."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import Panel
from tests.browser.theatre import PHONE
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
PAGE = "/admin/questionnaires/questionnaire/4/change/"
WRITTEN = ["Which questions are skipped? [[script:hello]]", "What is missing?"]


def chips(panel: Panel) -> Locator:
    return panel.page.locator("#aia-suggestions [data-aia-ask]")


@pytest.fixture
def writing(
    own_server: Callable[..., DemoServer], model: ModelServerProcess
) -> DemoServer:
    """A server with a model that writes, as soon as it is let."""
    said = [{"op": "hold", "name": "writer"}, text(json.dumps(WRITTEN))]
    model.script("written", [said])
    model.clear()
    one = {"API_BASE": model.base, "API_KEY_ENV": "ASSISTANT_API_KEY"}
    own = {
        "default": {**one, "MODEL": "openai/scripted"},
        # Below an address at which the model reads the whole request.
        "writer": {
            **one,
            "MODEL": "openai/writer",
            "API_BASE": f"{model.url}/written/v1",
        },
    }
    return own_server(env={"TESTS_SETTINGS": json.dumps({"PROFILES": own})})


@pytest.mark.row("S01", "S02")
def test_suggestions_are_pressed_and_those_that_are_written_come_below(
    visit: Visit,
    writing: DemoServer,
    model: ModelServerProcess,
    subtests: pytest.Subtests,
) -> None:
    panel = visit(writing).panel(PAGE)
    shown = chips(panel).count()
    asked = chips(panel).first.inner_text()
    before = chips(panel).first.bounding_box()
    model.release("writer")
    with subtests.test("those that are written come below what stays in its place"):
        expect(chips(panel)).to_have_count(shown + len(WRITTEN))
        assert chips(panel).first.bounding_box() == before
        written = chips(panel).nth(shown)
        expect(written).to_have_text(WRITTEN[0])
        written.focus()
        panel.page.keyboard.press("Enter")
        panel.wait_done()
        assert panel.asked() == [WRITTEN[0]]

    with subtests.test("they are kept, and one of the page is pressed on a phone"):
        other = visit(writing, **PHONE).panel(PAGE)
        expect(chips(other).nth(shown)).to_have_text(WRITTEN[0])
        assert [one["model"] for one in model.requests()].count("writer") == 1
        chips(other).first.tap()
        other.wait_done()
        assert other.asked() == [asked]
        expect(chips(other)).to_have_count(0)
