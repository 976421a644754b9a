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


@pytest.mark.row("S02")
class TestPressed:
    def test_chip_of_the_page_asks_its_question(self, panel: Panel) -> None:
        panel.goto(PAGE)
        asked = chips(panel).first.inner_text()

        chips(panel).first.click()
        panel.wait_done()

        assert panel.asked() == [asked]
        expect(chips(panel)).to_have_count(0)


@pytest.mark.row("S02", "S01")
class TestWritten:
    @pytest.fixture
    def writing(
        self, own_server: Callable[..., DemoServer], model: ModelServerProcess
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

    @pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
    def test_come_below_what_stays_in_its_place_and_are_pressed(
        self,
        visit: Visit,
        writing: DemoServer,
        model: ModelServerProcess,
        options: dict[str, object],
    ) -> None:
        panel = visit(writing, **options).panel(PAGE)
        shown = chips(panel).count()
        before = chips(panel).first.bounding_box()

        model.release("writer")

        expect(chips(panel)).to_have_count(shown + len(WRITTEN))
        assert chips(panel).first.bounding_box() == before
        written = chips(panel).nth(shown)
        expect(written).to_have_text(WRITTEN[0])
        written.focus()
        panel.page.keyboard.press("Enter")
        panel.wait_done()
        assert panel.asked() == [WRITTEN[0]]

        other = visit(writing, **options).panel(PAGE)  # it is kept
        expect(chips(other).nth(shown)).to_have_text(WRITTEN[0])
        assert [one["model"] for one in model.requests()].count("writer") == 1
