"""An agent asks another one: its card, an approval from below, and the way back."""

import pytest

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

pytestmark = pytest.mark.row("H23")
SECTION = {"model": "questionnaires.section", "id": 3}
RENAME = call("change_object", {**SECTION, "values": {"title": "Well put"}})
CARD = '.aia-tool[data-tool="ask_agent"]'


def asked(agent: str, script: str) -> dict[str, object]:
    """Return the call that asks an agent, for which the model has a script."""
    return call("ask_agent", {"agent": agent, "task": f"Do it. [[script:{script}]]"})


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    """
    What the assistant says, and the analyst or the proofreader whom it asks.

    A reply is held behind its first words: a model that is silent is given up.
    """
    model.script(
        "counts",
        [
            [call("count_questions", {})],
            [
                text("There are"),
                {"op": "hold", "name": "analyst"},
                text(" 12 questions."),
            ],
        ],
    )
    model.script("asks-analyst", [[asked("analyst", "counts")], [text("It says 12.")]])
    model.script("renames", [[RENAME], [text("I have renamed it.")]])
    model.script(
        "asks-proofreader",
        [[asked("proofreader", "renames")], [text("It is renamed.")]],
    )


def test_agent_shows_what_it_does_and_its_approval_comes_up_where_the_person_is(
    tab: Panel, model: ModelServerProcess, subtests: pytest.Subtests
) -> None:
    tab.goto("/admin/questionnaires/questionnaire/")
    with subtests.test("its card shows what it does, and then its answer"):
        card_shows_steps_and_answer(tab, model)
    tab.new_conversation()
    with subtests.test("its approval comes up, and can be undone there"):
        approval_comes_up(tab)


def card_shows_steps_and_answer(tab: Panel, model: ModelServerProcess) -> None:
    tab.ask("How many? [[script:asks-analyst]]")
    card = tab.log.locator(CARD).first
    card.get_by_text("Asking Analyst").wait_for()
    card.locator(".aia-steps").get_by_text("Count questions").wait_for()
    assert card.get_attribute("data-status") == "executing"
    assert tab.state == "tool"
    model.release("analyst")
    tab.wait_done()

    own = card.locator('.aia-tool[data-tool="count_questions"]')
    assert card.get_attribute("data-status") == "complete"
    card.get_by_text("Asked Analyst").click()
    card.get_by_text("There are 12 questions.").wait_for()
    assert own.is_visible()
    assert "It says 12." in tab.log.inner_text()
    assert "aia-tool" in card.inner_html()
    tab.reload()
    card.get_by_text("Asked Analyst").wait_for()
    assert own.count() == 1


def approval_comes_up(tab: Panel) -> None:
    tab.ask("Improve it. [[script:asks-proofreader]]")
    tab.approval.wait_for()
    tab.wait_state("waiting-approval")
    assert "Well put" in tab.approval.inner_text()
    assert "Proofreader asks" in tab.approval.inner_text()
    tab.reload()  # it is the server's
    tab.approval.wait_for()
    tab.approve()
    tab.wait_done()
    assert "It is renamed." in tab.log.inner_text()
    tab.page.locator("#aia-banner [data-aia-undo-all]").wait_for()
