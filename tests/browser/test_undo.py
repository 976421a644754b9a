"""What the assistant has changed is taken back, in a real browser."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]

SECTION = "questionnaires.section"
DONE = [text("That is settled.")]


class Sections:
    """Sections that no other test changes, the oldest first."""

    taken = 0

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def take(self, count: int) -> list[int]:
        rows = self.oracle.rows("SELECT id FROM questionnaires_section ORDER BY id")
        start = 10 + Sections.taken
        Sections.taken += count
        return [row["id"] for row in rows][start : start + count]

    def titles(self, ids: list[int]) -> list[str]:
        rows = self.oracle.rows("SELECT id, title FROM questionnaires_section")
        found = {row["id"]: str(row["title"]) for row in rows}
        return [found.get(one, "") for one in ids]


@pytest.fixture
def sections(oracle: Oracle) -> Sections:
    return Sections(oracle)


@pytest.fixture
def says(model: ModelServerProcess) -> Iterator[Callable[..., None]]:
    def script(*steps: list[Any]) -> None:
        model.script("undoing", [*steps, DONE])

    yield script
    model.script("undoing", [DONE])


@pytest.fixture
def change(says: Callable[..., None]) -> Callable[..., None]:
    """Let the assistant give sections another title."""

    def do(panel: Panel, ids: list[int], title: str, *, js: bool = True) -> None:
        values = {"title": title}
        says([call("change_objects", {"model": SECTION, "ids": ids, "values": values})])
        if not js:
            return
        panel.ask("Change them. [[script:undoing]]")
        panel.wait_state("waiting-approval")
        panel.approve()
        panel.wait_done()

    return do


def plan_of(panel: Panel) -> Locator:
    return panel.page.locator("#aia-pinned .aia-undo-plan")


def changes_of(panel: Panel) -> Locator:
    return panel.log.locator(".aia-changes").last


def apply(panel: Panel) -> None:
    plan_of(panel).locator("[data-aia-undo-apply]").click()
    expect(plan_of(panel)).to_have_count(0)


@pytest.mark.scenario(28)
class TestUndo:
    @pytest.mark.row("R04")
    def test_all_is_undone_from_the_banner_and_redone_or_kept_and_a_part_undone(
        self,
        panel: Panel,
        sections: Sections,
        change: Callable[..., None],
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("cancelled, then kept, then two of five undone"):
            self.kept_and_a_part_undone(panel, sections, change)
        panel.new_conversation()
        with subtests.test("undone from the banner, and redone"):
            self.undone_and_redone(panel, sections, change)

    def kept_and_a_part_undone(
        self, panel: Panel, sections: Sections, change: Callable[..., None]
    ) -> None:
        ids = sections.take(5)
        before = sections.titles(ids)
        change(panel, ids, "Five")
        changes_of(panel).locator("[data-aia-undo]").click()
        plan_of(panel).locator("[data-aia-undo-cancel]").click()
        expect(plan_of(panel)).to_have_count(0)
        assert sections.titles(ids) == ["Five"] * 5

        offer = panel.page.locator("#aia-banner [data-aia-undo-all]")
        expect(offer).to_be_visible()
        panel.page.locator("#aia-banner [name=do][value=keep]").click()
        expect(offer).to_have_count(0)
        panel.reload()
        expect(offer).to_have_count(0)  # what is kept is not offered again

        changes_of(panel).locator("[data-aia-undo]").click()
        boxes = plan_of(panel).locator("input[name=rows]")
        expect(boxes).to_have_count(5)
        # The newest change is the first.
        for number in (0, 1, 2):
            boxes.nth(number).uncheck()
        apply(panel)
        assert sections.titles(ids) == [*before[:2], "Five", "Five", "Five"]
        expect(changes_of(panel)).to_contain_text("Undone in part")

    def undone_and_redone(
        self, panel: Panel, sections: Sections, change: Callable[..., None]
    ) -> None:
        ids = sections.take(2)
        before = sections.titles(ids)
        change(panel, ids, "Renamed")
        offer = panel.page.locator("#aia-banner [data-aia-undo-all]")
        expect(offer).to_be_visible()
        panel.reload()
        offer.click()
        expect(plan_of(panel)).to_be_visible()
        assert sections.titles(ids) == ["Renamed"] * 2
        plan_of(panel).locator("[data-aia-undo-cancel]").click()
        panel.page.locator("#aia-banner [data-aia-undo-now]").click()
        expect(changes_of(panel)).to_contain_text("Undone")
        assert sections.titles(ids) == before
        expect(offer).to_have_count(0)
        panel.reload()
        expect(offer).to_have_count(0)
        changes_of(panel).locator("[data-aia-redo]").click()
        apply(panel)
        assert sections.titles(ids) == ["Renamed"] * 2
        expect(changes_of(panel).locator("[data-aia-undo]")).to_be_visible()


class TestWithoutJavaScript:
    def test_changes_are_undone_on_a_page_of_their_own(
        self,
        visit: Visit,
        server: DemoServer,
        sections: Sections,
        change: Callable[..., None],
    ) -> None:
        ids = sections.take(2)
        before = sections.titles(ids)
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto("/admin/questionnaires/")
        tab.page.locator("#aia-launcher").click()
        change(tab, ids, "Plain", js=False)
        with tab.page.expect_navigation():
            tab.ask("Change them. [[script:undoing]]")
        tab.reload_until("waiting-approval")
        with tab.page.expect_navigation():
            tab.approve()
        tab.reload_until("idle")
        with tab.page.expect_navigation():
            changes_of(tab).locator("[data-aia-undo]").click()
        with tab.page.expect_navigation():
            tab.page.locator(".aia-undo-plan [data-aia-undo-apply]").click()

        assert sections.titles(ids) == before
        assert "Undone" in changes_of(tab).inner_text()
