"""An agent that another one asks: at work, with a wish of its own, and done."""

from typing import Any

from tests.browser.panel import Panel
from tests.model_server.scripts import call, text

CARD = '.aia-tool[data-tool="ask_agent"]'
TITLE = {
    "model": "questionnaires.section",
    "id": 3,
    "values": {"title": "What you measure at home"},
}


def _asking(agent: str, task: str, script: str, last: str) -> list[Any]:
    asked = call("ask_agent", {"agent": agent, "task": f"{task} [[script:{script}]]"})
    return [[asked], [text(last)]]


# What the agents say, by the names in their tasks.
BESIDE: dict[str, list[Any]] = {
    "counting": [
        [call("count_questions", {})],
        [call("list_questionnaires", {"status": "draft"})],
        [{"op": "hang"}],
    ],
    "wording": [[call("change_object", TITLE)], [text("I changed one title.")]],
    "counted": [
        [call("count_questions", {})],
        [text("350 questions in 24 questionnaires, most of them in published ones.")],
    ],
}
SCRIPTS: dict[str, list[Any]] = {
    "agent-works": _asking(
        "analyst", "Count the questions of all drafts.", "counting", "There are 90."
    ),
    "agent-asks": _asking(
        "proofreader", "Correct the titles of section 3.", "wording", "It is done."
    ),
    "agent-done": _asking(
        "analyst",
        "Count all questions.",
        "counted",
        "There are 350 questions in 24 questionnaires.",
    ),
}


def agent_works(panel: Panel) -> None:
    panel.ask("How many questions do the drafts have?")
    steps = panel.log.locator(f"{CARD} .aia-steps li")
    steps.nth(1).wait_for()


def agent_asks(panel: Panel) -> None:
    panel.ask("Look over the titles of section 3.")
    panel.wait_state("waiting-approval")
    panel.approval.wait_for()


def agent_done(panel: Panel) -> None:
    panel.ask("How many questions are there?")
    panel.wait_done()
    panel.log.locator(f"{CARD} > details > summary").first.click()


SCENES = (agent_works, agent_asks, agent_done)
