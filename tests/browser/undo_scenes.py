"""An undo of hundreds of rows: its plan, how far it is, and what it says at its end."""

from typing import Any

from tests.browser.panel import Panel
from tests.model_server.scripts import call, text

DONE = [text("The questions are worded anew.")]


def _script(then: str) -> list[Any]:
    return [[call("word_anew", {"then": then})], DONE]


SCRIPTS: dict[str, list[Any]] = {
    "undo-plan": _script(""),
    "undo-progress": _script("slow"),
    "undo-report": _script("refuse"),
}


def undo_plan(panel: Panel) -> None:
    panel.ask("Word the questions anew.")
    panel.wait_done()
    panel.page.locator("#aia-undo-banner [data-aia-undo-all]").click()
    panel.page.locator("#aia-undo-plan [data-aia-undo-apply]").wait_for()


def undo_progress(panel: Panel) -> None:
    undo_plan(panel)
    panel.page.locator("[data-aia-undo-apply]").click()
    said = panel.page.locator("#aia-undo-progress [role=status]")
    said.get_by_text("200 of").wait_for()


def undo_report(panel: Panel) -> None:
    undo_plan(panel)
    panel.page.locator("[data-aia-undo-apply]").click()
    panel.page.locator("#aia-undo-plan [data-aia-undo-on]").wait_for()


SCENES = (undo_plan, undo_progress, undo_report)
