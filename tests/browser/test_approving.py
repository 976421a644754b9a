"""Changes through the data tools: shown, decided upon and told, in a real browser."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error, Locator

from tests.browser.approval_scenes import rename
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Says = Callable[..., None]
Visit = Callable[..., Visitor]

SECTION = "questionnaires.section"
DONE = [text("That is settled.")]
TOP = "node => node.getBoundingClientRect().top"
WORDS = {"title": "Moving house", "slug": "moving", "text": "Pack early."}
REWRITE = call("change_object", {"model": "wiki.page", "id": 2, "values": WORDS})


def change(section: int, title: str) -> dict[str, Any]:
    values = {"title": title}
    return call("change_object", {"model": SECTION, "id": section, "values": values})


def change_all(ids: list[int], title: str) -> dict[str, Any]:
    values = {"title": title}
    return call("change_objects", {"model": SECTION, "ids": ids, "values": values})


def describe_all(ids: list[int]) -> dict[str, Any]:
    model, values = "questionnaires.question", {"description": "Asked of all"}
    return call("change_objects", {"model": model, "ids": ids, "values": values})


class Sections:
    """The titles of sections, as the database has them."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def title(self, section: int) -> str:
        found = self.oracle.rows(
            "SELECT title FROM questionnaires_section WHERE id = %s", section
        )
        return str(found[0]["title"]) if found else ""

    def add(self, count: int) -> list[int]:
        """Return ids of sections that no other test changes."""
        rows = self.oracle.rows(
            "SELECT id FROM questionnaires_section ORDER BY id DESC"
        )
        ids = [row["id"] for row in rows]
        taken = Sections.taken
        Sections.taken += count
        return sorted(ids[taken : taken + count])

    taken = 0


@pytest.fixture
def sections(oracle: Oracle) -> Sections:
    return Sections(oracle)


@pytest.fixture
def says(model: ModelServerProcess) -> Iterator[Says]:
    """Let the model say these steps when it is asked."""

    def script(*steps: list[Any]) -> None:
        model.script("approving", [*steps, DONE])

    yield script
    model.script("approving", [DONE])


def ask(panel: Panel) -> None:
    panel.ask("Change it. [[script:approving]]")
    panel.wait_state("waiting-approval")
    panel.approval.first.wait_for()


def difference(panel: Panel) -> tuple[list[str], list[str]]:
    shown = panel.approval.locator(".aia-diff")
    return shown.locator("del").all_inner_texts(), shown.locator(
        "ins"
    ).all_inner_texts()


def told_at(panel: Panel, field: Locator) -> str:
    """Return what a wrong field is described by."""
    assert field.get_attribute("aria-invalid") == "true"
    ids = (field.get_attribute("aria-describedby") or "").split()
    found = [panel.page.locator(f"[id='{one}']") for one in ids]
    return " ".join(one.inner_text() for one in found)


def has_focus(field: Locator) -> bool:
    return bool(field.evaluate("field => field === document.activeElement"))


class TestChange:
    @pytest.mark.scenario(25)
    @pytest.mark.scenario(26)
    def test_change_is_shown_before_and_after_and_denied_with_a_reason(
        self,
        panel: Panel,
        sections: Sections,
        says: Says,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("approved after a reload, and told where it was done"):
            self.approved_after_a_reload(panel, sections, says)
        panel.new_conversation()
        with subtests.test("Enter in the reason denies"):
            self.denied_with_a_reason(panel, sections, says)
        panel.new_conversation()
        with subtests.test("for the rest of this answer"):
            self.allowed_for_the_answer(panel, sections, says)
        panel.new_conversation()
        with subtests.test("view-only offers no tool that writes, and is remembered"):
            self.view_only_is_remembered(panel, sections, says)

    def approved_after_a_reload(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Another name")])
        ask(panel)
        assert difference(panel) == ([before], ["Another name"])
        panel.reload()
        panel.approval.wait_for()
        assert difference(panel) == ([before], ["Another name"])
        assert sections.title(section) == before
        assert panel.approval.locator("[data-aia-approve]").inner_text() == "Approve"
        link = panel.approval.locator("h3 a").get_attribute("href")
        assert link == f"/admin/questionnaires/section/{section}/change/"
        time = panel.approval.locator("time[data-until]")
        panel.wait(lambda: time.text_content() == "in 23 hours", "the time left")

        panel.input.focus()
        panel.approve()
        panel.wait_done()
        assert has_focus(panel.input)
        assert sections.title(section) == "Another name"
        changes = panel.log.locator(".aia-changes")
        assert f"title {before} → Another name" in changes.inner_text()
        live = changes.inner_html()
        changes.locator("summary").first.click()
        assert changes.locator("del").inner_text() == before
        assert changes.locator("ins").inner_text() == "Another name"
        card = panel.card("change_object")
        card.locator("summary").first.click()
        card.get_by_text("What was shown").click()
        assert "You approved this" in card.inner_text()
        assert card.locator(".aia-diff del").inner_text() == before

        panel.reload()
        panel.input.wait_for()
        assert changes.inner_html() == live
        assert panel.repeated_ids() == []

    def denied_with_a_reason(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Unwanted")])
        ask(panel)
        deny = panel.approval.locator("[data-aia-deny]")
        deny.evaluate("button => button.replaceChildren('Nicht freigeben')")
        panel.approval.locator(".aia-denial summary").click()
        reason = panel.approval.locator("[name=reason]")
        assert abs(reason.evaluate(TOP) - deny.evaluate(TOP)) < 5
        reason.fill("The old one is better")
        reason.press("Enter")
        panel.wait_done()

        assert sections.title(section) == before
        card = panel.card("change_object")
        assert card.get_attribute("data-status") == "denied"
        card.locator("summary").first.click()
        said = card.inner_text().replace("“", "").replace("”", "").replace('"', "")
        assert "You denied this: The old one is better" in said

    def allowed_for_the_answer(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(2)
        says([change(ids[0], "First")], [change(ids[1], "Second")])
        ask(panel)
        panel.approval.get_by_label("Also for the rest of this answer").check()
        panel.approve()
        panel.wait_done()

        assert [sections.title(one) for one in ids] == ["First", "Second"]
        assert "2 sections changed" in panel.log.locator(".aia-changes").inner_text()

    def view_only_is_remembered(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Not even asked")])
        panel.page.locator("#aia-look").select_option("1")
        panel.ask_and_wait("Change it. [[script:approving]]")

        assert sections.title(section) == before
        card = panel.card("change_object")
        assert card.get_attribute("data-status") == "denied"
        assert "view-only" in card.inner_text()
        panel.reload()
        panel.input.wait_for()
        assert panel.page.locator("#aia-look").input_value() == "1"
        panel.page.locator("#aia-look").select_option("")
        panel.wait(lambda: not _cookie(panel), "no cookie")


class TestEdit:
    @pytest.mark.scenario(25)
    def test_edit_names_each_wrong_field_keeps_what_was_typed_and_can_be_left(
        self,
        panel: Panel,
        sections: Sections,
        says: Says,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("wrong fields get the focus, one after another"):
            self.wrong_fields_get_the_focus(panel, says)
        panel.new_conversation()
        with subtests.test("left, and then with the values of the person"):
            self.left_and_then_edited(panel, sections, says)

    def wrong_fields_get_the_focus(self, panel: Panel, says: Says) -> None:
        says([REWRITE])
        ask(panel)
        form = panel.edit()
        form.wait_for()
        form.evaluate("form => form.noValidate = true")
        panel.edit_field("title").fill(" ")
        panel.edit_field("slug").fill("publishing")  # of another page
        panel.edit_field("text").fill("Typed by hand")
        panel.edit_field("title").press("Enter")
        form.locator(".aia-why").first.wait_for()
        panel.wait(lambda: has_focus(panel.edit_field("title")), "focus on the title")
        assert panel.edit_field("title").input_value() == " "
        told = told_at(panel, panel.edit_field("title"))
        assert told == "This field is required."
        assert panel.page.locator("#aia-notice").inner_text() == ""

        panel.edit_field("title").fill("A title")
        panel.save_edit()
        panel.wait(lambda: has_focus(panel.edit_field("slug")), "focus on the slug")
        told = told_at(panel, panel.edit_field("slug"))
        assert told == "Page with this Slug already exists."
        assert panel.edit_field("text").input_value() == "Typed by hand"
        panel.edit_field("slug").fill("quite-another")
        panel.save_edit()
        panel.wait_done()
        assert "→ quite-another" in panel.log.locator(".aia-changes").inner_text()

    def left_and_then_edited(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "As proposed")])
        ask(panel)
        panel.edit().wait_for()
        panel.approval.get_by_role("link", name="Cancel").click()
        panel.approval.locator("[data-aia-approve]").wait_for()

        panel.edit().wait_for()
        panel.edit_field("title").fill("As the person wants")
        panel.save_edit()
        panel.wait_done()
        assert sections.title(section) == "As the person wants"
        card = panel.card("change_object")
        card.locator("summary").first.click()
        assert "You edited and approved this" in card.inner_text()


class TestRows:
    @pytest.mark.scenario(27)
    def test_two_hundred_are_changed_but_for_the_unticked(
        self, panel: Panel, oracle: Oracle, says: Says
    ) -> None:
        rows = oracle.rows("SELECT id FROM questionnaires_question ORDER BY id")
        ids = [row["id"] for row in rows[:200]]
        says([describe_all(ids)])
        ask(panel)
        button = panel.approval.locator("[data-aia-approve]")
        assert button.inner_text() == "Approve 200"
        assert panel.approval.locator("[name=rows]").count() == 20
        assert "and 180 more" in panel.approval.inner_text()
        panel.approval.get_by_role("link", name="Show all").click()
        panel.approval.locator(f'[name=rows][value="{ids[150]}"]').wait_for()
        assert panel.approval.locator("[name=rows]").count() == 200
        all_rows = panel.approval.get_by_label("All", exact=True)
        all_rows.uncheck()
        panel.wait(button.is_disabled, "a button that does nothing for no row")
        all_rows.check()

        for left in (ids[0], ids[150]):
            panel.approval.locator(f'[name=rows][value="{left}"]').uncheck()
        panel.wait(lambda: button.inner_text() == "Approve 198", "the number")
        panel.approve()
        panel.wait_done()

        changed = oracle.rows(
            "SELECT id FROM questionnaires_question WHERE description = %s ORDER BY id",
            "Asked of all",
        )
        assert [row["id"] for row in changed] == [*ids[1:150], *ids[151:]]
        assert "198 questions changed" in panel.log.locator(".aia-changes").inner_text()

    @pytest.mark.scenario(25)
    @pytest.mark.scenario(27)
    def test_one_changed_meanwhile_has_all_asked_again_and_another_tab_decides(
        self, regular: Visitor, panel: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(3)
        before = [sections.title(one) for one in ids]
        says([change_all(ids, "All or none")])
        ask(panel)
        rename(panel, "By somebody else", ids[2])
        panel.approve()
        panel.approval.get_by_text("changed by somebody else").wait_for()
        assert [sections.title(one) for one in ids] == [*before[:2], "By somebody else"]
        assert difference(panel)[0] == [*before[:2], "By somebody else"]

        other = regular.tab()
        other.goto("/admin/")
        other.approval.wait_for()
        other.approve()
        other.wait_done()
        panel.wait_done()
        assert panel.approval.count() == 0
        changes = panel.log.locator(".aia-changes")
        assert "3 sections changed" in changes.inner_text()
        assert [sections.title(one) for one in ids] == ["All or none"] * 3


class TestWithoutJavaScript:
    def test_rows_are_chosen_values_edited_and_view_only_kept(
        self,
        visit: Visit,
        server: DemoServer,
        sections: Sections,
        says: Says,
        subtests: pytest.Subtests,
    ) -> None:
        plain = visit(server, java_script_enabled=False).tab()
        plain.goto("/admin/questionnaires/")
        plain.page.locator("#aia-launcher").click()
        plain.input.wait_for()
        with subtests.test("chosen rows are changed"):
            self.chosen_rows_are_changed(plain, sections, says)
        with subtests.test("errors stand beside their fields, nothing is lost"):
            self.errors_stand_beside_their_fields(plain, says)
        with subtests.test("view-only is kept"):
            self.view_only_is_kept(plain, sections, says)

    def ask(self, plain: Panel, state: str) -> None:
        with plain.page.expect_navigation():
            plain.ask("Change it. [[script:approving]]")
        self.wait(plain, state)

    def wait(self, panel: Panel, state: str) -> None:
        def is_there() -> bool:
            with suppress(Error):  # the form's own navigation may be under way
                panel.page.reload()
            return panel.state == state

        panel.wait(is_there, state)

    def chosen_rows_are_changed(
        self, plain: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(2)
        before = sections.title(ids[0])
        says([change_all(ids, "Without script")])
        self.ask(plain, "waiting-approval")
        assert "Only the ticked rows are included." in plain.approval.inner_text()

        plain.approval.locator(f'[name=rows][value="{ids[0]}"]').uncheck()
        with plain.page.expect_navigation():
            plain.approve()
        self.wait(plain, "idle")
        assert [sections.title(one) for one in ids] == [before, "Without script"]

    def errors_stand_beside_their_fields(self, plain: Panel, says: Says) -> None:
        says([REWRITE])
        self.ask(plain, "waiting-approval")
        place = plain.page.url
        plain.approval.get_by_role("link", name="Edit first").click()
        form = plain.page.locator("#content .aia-edit-form")
        title, slug = (form.locator(f"[name$={name}]") for name in ("title", "slug"))
        title.fill("Typed by hand")
        slug.fill("publishing")  # of another page
        form.get_by_role("button").click()
        form.locator(".aia-why").wait_for()
        assert title.input_value() == "Typed by hand"
        assert slug.input_value() == "publishing"
        assert told_at(plain, slug) == "Page with this Slug already exists."
        assert has_focus(slug)
        slug.fill("by-hand")
        form.get_by_role("button").click()
        plain.page.wait_for_url(place)
        self.wait(plain, "idle")
        assert "by-hand" in plain.log.locator(".aia-changes").last.inner_text()

    def view_only_is_kept(self, plain: Panel, sections: Sections, says: Says) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Not even asked")])
        plain.page.locator("#aia-look").select_option("1")
        self.ask(plain, "idle")
        assert sections.title(section) == before
        assert plain.page.locator("#aia-look").input_value() == "1"


def _cookie(panel: Panel) -> bool:
    return any(one["name"] == "aia_look" for one in panel.page.context.cookies())
