"""The other ways to an undo: words, going back, two tabs, the keyboard, small screens."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.browser.test_axe import all_faults
from tests.browser.test_undo import (
    SECTION,
    Sections,
    Visit,
    apply,
    change,
    changes_of,
    plan_of,
    says,
    sections,
)
from tests.browser.theatre import PHONE
from tests.browser.visitor import Visitor
from tests.model_server.scripts import call
from tests.servers.app import DemoServer

__all__ = ["change", "says", "sections"]

SCRIPT = "[[script:undoing]]"
ASK = f"Take that back. {SCRIPT}"
BOXES = "buttons => buttons.map(one => one.getBoundingClientRect().toJSON())"

Change = Callable[..., None]
Says = Callable[..., None]


def approve(panel: Panel, text: str, answers: int) -> None:
    panel.ask(text)
    panel.wait_state("waiting-approval")
    panel.approve()
    panel.wait_done(answers)


def save_by_hand(panel: Panel, *sections: int) -> None:
    """Give sections a title on their own pages, as somebody else may."""
    other = panel.page.context.new_page()
    for one in sections:
        other.goto(f"{panel.url}/admin/questionnaires/section/{one}/change/")
        other.locator("#id_title").fill("By hand")
        other.locator("[name=_save]").click()
        other.wait_for_url("**/section/")
    other.close()


@pytest.mark.scenario(28)
class TestWays:
    @pytest.mark.row("R05")
    def test_changes_are_taken_back_by_words_by_going_back_and_a_deletion_whole(
        self,
        panel: Panel,
        sections: Sections,
        change: Change,
        says: Says,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("take that back"):
            self.take_that_back(panel, sections, change, says)
        panel.new_conversation()
        with subtests.test("a deletion, with all that went along"):
            self.deletion_with_all(panel, sections, says)
        panel.new_conversation()
        with subtests.test("back and forth"):
            self.back_and_forth(panel, sections, change, says)

    def take_that_back(
        self, panel: Panel, sections: Sections, change: Change, says: Says
    ) -> None:
        ids = sections.take(2)
        before = sections.titles(ids)
        change(panel, ids, "Renamed")
        says([call("undo_changes", {})])
        panel.ask(ASK)
        panel.wait_state("waiting-approval")
        expect(panel.approval).to_contain_text("Undo 2 changes")
        panel.approval.locator("input[name=rows]").first.uncheck()
        panel.approve()
        panel.wait_done(2)
        assert sorted(sections.titles(ids)) == sorted([before[0], "Renamed"])
        changed = panel.log.locator(".aia-changes").first
        expect(changed).to_contain_text("Undone in part")

    def deletion_with_all(self, panel: Panel, sections: Sections, says: Says) -> None:
        (own,) = sections.take(1)

        def rows() -> tuple[list[Any], list[Any]]:
            found = sections.oracle.rows("SELECT * FROM questionnaires_section")
            asked = sections.oracle.rows("SELECT * FROM questionnaires_question")
            return (
                [dict(row) for row in found if row["id"] == own],
                sorted(str(dict(row)) for row in asked if row["section_id"] == own),
            )

        before = rows()
        assert before[1]  # questions
        says([call("delete_objects", {"model": SECTION, "ids": [own]})])
        approve(panel, f"Delete it. {SCRIPT}", 1)
        assert rows() == ([], [])
        changes_of(panel).locator("[data-aia-undo]").click()
        expect(plan_of(panel)).to_contain_text("comes back")
        apply(panel)
        assert rows() == before

    def back_and_forth(
        self, panel: Panel, sections: Sections, change: Change, says: Says
    ) -> None:
        ids = sections.take(2)
        change(panel, ids, "First")
        values = {"title": "Second"}
        arguments = {"model": SECTION, "ids": ids, "values": values}
        says([call("change_objects", arguments)])
        approve(panel, f"And again. {SCRIPT}", 2)

        question = panel.log.locator(".aia-msg[data-role=user]")
        question.last.hover()
        question.last.locator("[data-aia-back]").click()
        expect(plan_of(panel)).to_contain_text("Go back to before this message")
        apply(panel)
        expect(question).to_have_count(1)
        assert sections.titles(ids) == ["First"] * 2
        panel.reload()
        expect(question).to_have_count(1)
        panel.log.get_by_role("button", name="Show the later messages").click()
        expect(question).to_have_count(2)
        question.last.hover()
        question.last.locator("[data-aia-back]").click()
        apply(panel)
        expect(question).to_have_count(1)
        says()
        panel.ask(f"Otherwise. {SCRIPT}")
        panel.wait_done(2)
        expect(panel.log.get_by_text("2 / 2")).to_be_visible()

    def test_conflicts_are_shown_and_overruled_and_pages_of_an_undo_have_no_faults(
        self, panel: Panel, sections: Sections, change: Change
    ) -> None:
        ids = sections.take(4)
        before = sections.titles(ids)
        change(panel, ids, "Renamed")
        link = changes_of(panel).locator("[data-aia-undo]")
        url = link.get_attribute("href")
        link.click()
        expect(plan_of(panel)).to_be_visible()
        save_by_hand(panel, *ids[:2])
        plan_of(panel).locator("[data-aia-undo-apply]").click()
        expect(plan_of(panel)).to_contain_text("Something has changed")
        assert sections.titles(ids) == ["By hand", "By hand", "Renamed", "Renamed"]

        conflicts = plan_of(panel).locator(".aia-conflict")
        expect(conflicts).to_have_count(2)
        for one in conflicts.all():
            expect(one).to_contain_text("admin")
        assert all_faults(panel, "#aia") == []
        conflicts.last.get_by_label("Restore").check()  # the newest change is first
        plan_of(panel).locator("input[name=rows]").first.uncheck()
        apply(panel)
        assert sections.titles(ids) == [before[0], "By hand", before[2], "Renamed"]

        panel.page.goto(f"{panel.url}{url}")
        assert all_faults(panel, "#aia-undo-plan") == []
        panel.page.goto(f"{panel.url}/admin/questionnaires/section/{ids[3]}/history/")
        assert all_faults(panel, "#aia-object-history") == []
        panel.page.locator("#aia-object-history a").first.click()
        panel.page.locator("[data-aia-undo-apply]").click()
        panel.page.wait_for_url("**/history/**")
        assert sections.titles(ids)[3] == before[3]
        expect(panel.page.locator("#aia-object-history")).to_contain_text("Undone")


class TestTwoTabs:
    def test_script_keys_and_two_tabs_undo_once_and_all_know(
        self,
        regular: Visitor,
        panel: Panel,
        sections: Sections,
        change: Change,
        subtests: pytest.Subtests,
    ) -> None:
        assert panel.page.evaluate("AIAssistant.undo()") is False
        ids = sections.take(2)
        before = sections.titles(ids)
        change(panel, ids, "Renamed")
        with subtests.test("a script of the page shows the plan"):
            panel.page.evaluate("AIAssistant.close()")
            assert panel.page.evaluate("AIAssistant.undo()") is True
            expect(plan_of(panel)).to_be_visible()

        with subtests.test("by keys alone"):
            self.cancel_and_undo_one_by_keys(panel)
            assert sections.titles(ids) == [before[0], "Renamed"]

        panel.new_conversation()
        with subtests.test("one effect in two tabs"):
            self.one_effect_in_two_tabs(regular, panel, sections, change)

    def cancel_and_undo_one_by_keys(self, panel: Panel) -> None:
        keys = panel.page.keyboard
        within = "document.activeElement.closest('#aia') !== null"
        plan_of(panel).locator("[data-aia-undo-cancel]").focus()
        keys.press("Enter")
        expect(plan_of(panel)).to_have_count(0)
        assert panel.page.evaluate(within)

        changes_of(panel).locator("[data-aia-undo]").focus()
        keys.press("Enter")
        # The plan has the focus, so that it is read, and its first key is a tick.
        expect(panel.page.locator("#aia-undo-plan")).to_be_focused()
        keys.press("Tab")
        for _ in range(3):
            if panel.page.evaluate("document.activeElement.name") == "rows":
                break
            keys.press("Tab")
        keys.press("Space")
        for _ in range(6):
            if panel.page.locator("[data-aia-undo-apply]:focus").count():
                break
            keys.press("Tab")
        keys.press("Enter")
        expect(plan_of(panel)).to_have_count(0)
        assert panel.page.evaluate(within)

    def one_effect_in_two_tabs(
        self, regular: Visitor, panel: Panel, sections: Sections, change: Change
    ) -> None:
        ids = sections.take(2)
        before = sections.titles(ids)
        change(panel, ids, "Renamed")
        other = regular.tab()
        other.goto()
        for tab in (panel, other):
            changes_of(tab).locator("[data-aia-undo]").click()
            expect(plan_of(tab)).to_be_visible()
        apply(panel)

        expect(changes_of(other)).to_contain_text("Undone")
        expect(other.page.locator("[data-aia-undo-all]")).to_have_count(0)
        other.page.locator("[data-aia-undo-apply]").click()
        expect(plan_of(other)).to_contain_text("There is nothing that can be undone.")
        assert sections.titles(ids) == before
        run = other.log.locator("[data-run-id]").get_attribute("data-run-id") or ""
        undos = sections.oracle.rows(
            "SELECT run_id FROM ai_assistant_changeset WHERE kind = 'undo'"
        )
        keys = [str(row["run_id"]).replace("-", "") for row in undos]
        assert keys.count(run.replace("-", "")) == 1


class TestSmall:
    def test_plan_and_its_buttons_fit_on_phones(
        self, visit: Visit, server: DemoServer, sections: Sections, change: Change
    ) -> None:
        panel = visit(server, **PHONE).panel()
        ids = sections.take(3)
        before = sections.titles(ids)
        change(panel, ids, "Renamed by the assistant")
        changes_of(panel).locator("[data-aia-undo]").click()
        plan = plan_of(panel)
        expect(plan).to_be_visible()
        for width in (320, 390):
            panel.page.set_viewport_size({"width": width, "height": 844})
            fits = "one => one.scrollWidth <= one.clientWidth + 1"
            assert plan.evaluate(fits), f"The plan is wider than {width}."
        plan.locator("input[name=rows]").first.uncheck()
        apply(panel)
        assert sections.titles(ids)[:2] == before[:2]

        buttons = changes_of(panel).locator(".aia-buttons .aia-btn")
        expect(buttons).to_have_count(2)
        for width in (320, 390):
            panel.page.set_viewport_size({"width": width, "height": 844})
            boxes = buttons.evaluate_all(BOXES)  # at once: the thread may scroll
            assert len({box["y"] for box in boxes}) == 1, width
            assert all(box["height"] < 50 for box in boxes), width
