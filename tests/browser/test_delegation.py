"""An agent asks another one: its card, an approval from below, and the way back."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]

pytestmark = pytest.mark.row("H23")
SECTION = {"model": "questionnaires.section", "id": 3}
RENAME = call("change_object", {**SECTION, "values": {"title": "Well put"}})
CARD = '.aia-tool[data-tool="ask_agent"]'


def asked(agent: str, script: str) -> dict[str, object]:
    """Return the call that asks an agent, for which the model has a script."""
    return call("ask_agent", {"agent": agent, "task": f"Do it. [[script:{script}]]"})


@pytest.fixture
def panel(own_server: OwnServer, model: ModelServerProcess, visit: Visit) -> Panel:
    """A panel whose assistant asks the analyst, or the proofreader."""
    model.script(
        "counts",
        [
            [call("count_questions", {})],
            [{"op": "hold", "name": "analyst"}, text("There are 12 questions.")],
        ],
    )
    model.script("asks-analyst", [[asked("analyst", "counts")], [text("It says 12.")]])
    model.script("renames", [[RENAME], [text("I have renamed it.")]])
    model.script(
        "asks-proofreader",
        [[asked("proofreader", "renames")], [text("It is renamed.")]],
    )
    tab = visit(own_server()).tab()
    tab.goto("/admin/questionnaires/questionnaire/")
    tab.open()
    return tab


class TestCard:
    def test_shows_what_the_agent_does_and_then_its_answer(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask("How many? [[script:asks-analyst]]")
        card = panel.log.locator(CARD).first
        card.get_by_text("Asking Analyst").wait_for()
        card.locator(".aia-steps").get_by_text("Count questions").wait_for()
        assert card.get_attribute("data-status") == "executing"
        assert panel.state == "tool"

        model.release("analyst")
        panel.wait_done()

        assert card.get_attribute("data-status") == "complete"
        card.get_by_text("Asked Analyst").click()
        card.get_by_text("There are 12 questions.").wait_for()
        assert card.locator('.aia-tool[data-tool="count_questions"]').is_visible()
        assert "It says 12." in panel.log.inner_text()
        live = card.inner_html()

        panel.reload()
        panel.open()
        card.get_by_text("Asked Analyst").wait_for()
        assert "aia-tool" in live
        assert card.locator('.aia-tool[data-tool="count_questions"]').count() == 1


class TestApproval:
    def test_comes_up_where_the_person_is_and_can_be_undone_there(
        self, panel: Panel
    ) -> None:
        panel.ask("Improve it. [[script:asks-proofreader]]")
        panel.approval.wait_for()
        panel.wait_state("waiting-approval")
        assert "Well put" in panel.approval.inner_text()
        assert "Proofreader asks" in panel.approval.inner_text()

        panel.reload()  # it is the server's
        panel.open()
        panel.approval.wait_for()
        panel.approve()
        panel.wait_done()

        assert "It is renamed." in panel.log.inner_text()
        panel.page.locator("#aia-banner [data-aia-undo-all]").wait_for()
