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
OwnServer = Callable[..., DemoServer]

SECTION = "questionnaires.section"
DONE = [text("That is settled.")]
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


def delete(section: int) -> dict[str, Any]:
    return call("delete_objects", {"model": SECTION, "ids": [section]})


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


class TestApprove:
    @pytest.mark.scenario(25)
    def test_approve_shows_the_difference_and_then_what_was_changed(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Another name")])

        ask(panel)

        assert difference(panel) == ([before], ["Another name"])
        assert sections.title(section) == before
        assert panel.approval.locator("[data-aia-approve]").inner_text() == "Approve"
        link = panel.approval.locator("h3 a").get_attribute("href")
        assert link == f"/admin/questionnaires/section/{section}/change/"

        panel.input.focus()
        panel.approve()
        panel.wait_done()

        assert has_focus(panel.input)
        assert sections.title(section) == "Another name"
        changes = panel.log.locator(".aia-changes")
        assert f"title {before} → Another name" in changes.inner_text()
        changes.locator("summary").first.click()
        assert changes.locator("del").inner_text() == before
        assert changes.locator("ins").inner_text() == "Another name"

    def test_card_of_the_call_says_who_and_what(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Yet another")])
        ask(panel)
        panel.approve()
        panel.wait_done()

        card = panel.card("change_object")
        card.locator("summary").first.click()
        card.get_by_text("What was shown").click()

        assert "You approved this" in card.inner_text()
        assert card.locator(".aia-diff del").inner_text() == before

    def test_same_after_a_reload(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "Told twice")])
        ask(panel)
        panel.approve()
        panel.wait_done()
        live = panel.log.locator(".aia-changes").inner_html()

        panel.reload()
        panel.input.wait_for()

        assert panel.log.locator(".aia-changes").inner_html() == live
        assert panel.repeated_ids() == []


class TestEdit:
    @pytest.mark.scenario(25)
    def test_edit_takes_the_values_of_the_person(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "As proposed")])
        ask(panel)

        panel.edit().wait_for()
        panel.edit_field("title").fill("As the person wants")
        panel.save_edit()
        panel.wait_done()

        assert sections.title(section) == "As the person wants"
        card = panel.card("change_object")
        card.locator("summary").first.click()
        assert "You edited and approved this" in card.inner_text()

    def test_edit_says_what_is_wrong_and_keeps_what_was_typed(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "As proposed")])
        ask(panel)
        form = panel.edit()
        form.wait_for()

        form.evaluate("form => form.noValidate = true")
        panel.edit_field("title").fill(" ")
        panel.edit_field("title").press("Enter")
        form.locator(".aia-why").wait_for()

        field = panel.edit_field("title")
        assert field.input_value() == " "
        assert told_at(panel, field) == "This field is required."
        panel.wait(lambda: has_focus(field), "focus on the field")
        assert panel.page.locator("#aia-notice").inner_text() == ""
        assert sections.title(section) == before
        form.get_by_role("link", name="Cancel").click()
        panel.deny()
        panel.wait_done()

    def test_first_wrong_field_of_several_gets_the_focus(
        self, panel: Panel, says: Says
    ) -> None:
        says([REWRITE])
        ask(panel)
        form = panel.edit()
        form.wait_for()
        form.evaluate("form => form.noValidate = true")
        panel.edit_field("title").fill("")
        panel.edit_field("slug").fill("publishing")  # of another page
        panel.edit_field("text").fill("Typed by hand")
        panel.save_edit()
        form.locator(".aia-why").first.wait_for()
        panel.wait(lambda: has_focus(panel.edit_field("title")), "focus")
        told = told_at(panel, panel.edit_field("title"))
        assert told == "This field is required."

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

    def test_edit_can_be_left(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "As proposed")])
        ask(panel)
        panel.edit().wait_for()

        panel.approval.get_by_role("link", name="Cancel").click()
        panel.approval.locator("[data-aia-approve]").click()
        panel.wait_done()

        assert sections.title(section) == "As proposed"


class TestDeny:
    @pytest.mark.scenario(25)
    def test_deny_tells_the_reason(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Unwanted")])
        ask(panel)

        panel.deny("The old one is better")
        panel.wait_done()

        assert sections.title(section) == before
        card = panel.card("change_object")
        assert card.get_attribute("data-status") == "denied"
        card.locator("summary").first.click()
        assert "You denied this: The old one is better" in (
            card.inner_text().replace("“", "").replace("”", "").replace('"', "")
        )

    def test_enter_in_the_reason_denies(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Unwanted")])
        ask(panel)

        panel.approval.locator(".aia-denial summary").click()
        reason = panel.approval.locator("[name=reason]")
        reason.fill("No")
        reason.press("Enter")
        panel.wait_done()

        assert sections.title(section) == before
        assert panel.card("change_object").get_attribute("data-status") == "denied"


class TestRows:
    @pytest.mark.scenario(27)
    def test_only_the_ticked_are_changed(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(3)
        before = [sections.title(one) for one in ids]
        says([change_all(ids, "Alike")])
        ask(panel)
        button = panel.approval.locator("[data-aia-approve]")
        assert button.inner_text() == "Approve 3"

        panel.approval.locator(f'[name=rows][value="{ids[1]}"]').uncheck()
        panel.wait(lambda: button.inner_text() == "Approve 2", "the number")
        panel.approve()
        panel.wait_done()

        assert [sections.title(one) for one in ids] == ["Alike", before[1], "Alike"]
        assert "2 sections changed" in panel.log.locator(".aia-changes").inner_text()

    @pytest.mark.scenario(27)
    def test_none_ticked_cannot_be_approved(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(2)
        says([change_all(ids, "Nobody")])
        ask(panel)

        for tick in panel.approval.locator("[name=rows]").all():
            tick.uncheck()

        button = panel.approval.locator("[data-aia-approve]")
        panel.wait(button.is_disabled, "a button that does nothing")
        panel.deny()
        panel.wait_done()

    @pytest.mark.scenario(27)
    def test_two_hundred_are_changed_but_for_the_unticked(
        self, own_server: OwnServer, visit: Visit, says: Says
    ) -> None:
        server = own_server()
        oracle = Oracle(server.database_url)
        rows = oracle.rows("SELECT id FROM questionnaires_question ORDER BY id")
        ids = [row["id"] for row in rows[:200]]
        says([describe_all(ids)])
        panel = visit(server).panel()
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
        panel.wait(button.is_disabled, "none is ticked")
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

    @pytest.mark.scenario(27)
    def test_one_that_was_changed_meanwhile_has_all_asked_again(
        self, panel: Panel, sections: Sections, says: Says
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
        panel.deny()
        panel.wait_done()

    @pytest.mark.scenario(27)
    def test_one_that_cannot_be_saved_is_named_and_none_is_changed(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        """Of one questionnaire: no two of its sections have the same position."""
        found = sections.oracle.rows(
            "SELECT id, title, position FROM questionnaires_section "
            "WHERE questionnaire_id = 1 ORDER BY position"
        )
        ids, last = [row["id"] for row in found], found[-1]["position"]
        values = {"position": last}
        says([call("change_objects", {"model": SECTION, "ids": ids, "values": values})])

        panel.ask_and_wait("Change it. [[script:approving]]")

        card = panel.card("change_objects")
        assert card.get_attribute("data-status") == "failed"
        card.locator("summary").first.click()
        assert f"“{found[0]['title']}” cannot be saved." in card.inner_text()
        assert panel.log.locator(".aia-changes").count() == 0
        assert found == sections.oracle.rows(
            "SELECT id, title, position FROM questionnaires_section "
            "WHERE questionnaire_id = 1 ORDER BY position"
        )


class TestAllowForThisAnswer:
    def test_second_call_does_not_ask(
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

    def test_allow_for_this_answer_is_not_offered_for_what_removes_data(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([delete(section)])
        ask(panel)

        assert panel.approval.locator("[name=for_run]").count() == 0
        assert "will be deleted" in panel.approval.locator(".aia-diff").inner_text()
        panel.deny()
        panel.wait_done()
        assert sections.title(section)


class TestOtherPlaces:
    @pytest.mark.scenario(26)
    def test_card_is_there_after_a_reload(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "After the reload")])
        ask(panel)
        before = difference(panel)

        panel.reload()
        panel.approval.wait_for()

        assert difference(panel) == before
        panel.approve()
        panel.wait_done()
        assert sections.title(section) == "After the reload"

    @pytest.mark.scenario(25)
    def test_another_tab_sees_the_decision(
        self, regular: Visitor, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "Decided there")])
        ask(panel)
        other = regular.tab()
        other.goto("/admin/")
        other.approval.wait_for()

        other.approve()
        other.wait_done()
        panel.wait_done()

        assert panel.approval.count() == 0
        assert "Decided there" in panel.log.locator(".aia-changes").inner_text()
        assert sections.title(section) == "Decided there"

    def test_row_that_was_changed_meanwhile_is_asked_again(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "By the assistant")])
        ask(panel)
        rename(panel, "By somebody else", section)

        panel.approve()
        panel.approval.get_by_text("changed by somebody else").wait_for()

        assert sections.title(section) == "By somebody else"
        assert difference(panel)[0] == ["By somebody else"]
        panel.approve()
        panel.wait_done()
        assert sections.title(section) == "By the assistant"

    def test_other_places_says_how_long_it_waits(
        self, panel: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "Not today")])
        ask(panel)

        time = panel.approval.locator("time[data-until]")
        panel.wait(
            lambda: time.text_content() == "in 23 hours", "the time that is left"
        )
        panel.deny()
        panel.wait_done()

    @pytest.mark.scenario(25)
    def test_expired_one_says_so(
        self, own_server: OwnServer, visit: Visit, model: ModelServerProcess, says: Says
    ) -> None:
        server = own_server(env={"TESTS_SETTINGS": '{"TIMEOUTS": {"APPROVAL_S": 1}}'})
        panel = visit(server).panel()
        says([change(3, "Too late")])
        panel.ask("Change it. [[script:approving]]")

        panel.wait_done()

        card = panel.card("change_object")
        assert card.get_attribute("data-status") == "denied"
        assert "Expired" in card.inner_text()
        assert Sections(Oracle(server.database_url)).title(3) != "Too late"


class TestLookOnly:
    def test_look_only_offers_no_tool_that_writes_and_is_remembered(
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


class TestWithoutJavaScript:
    @pytest.fixture
    def plain(self, visit: Visit, server: DemoServer) -> Panel:
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto("/admin/questionnaires/")
        tab.page.locator("#aia-launcher").click()
        tab.input.wait_for()
        return tab

    def wait(self, panel: Panel, state: str) -> None:
        def is_there() -> bool:
            with suppress(Error):  # the form's own navigation may be under way
                panel.page.reload()
            return panel.state == state

        panel.wait(is_there, state)

    def test_chosen_rows_are_changed(
        self, plain: Panel, sections: Sections, says: Says
    ) -> None:
        ids = sections.add(2)
        before = sections.title(ids[0])
        says([change_all(ids, "Without script")])
        with plain.page.expect_navigation():
            plain.ask("Change it. [[script:approving]]")
        self.wait(plain, "waiting-approval")
        assert "Only the ticked rows are included." in plain.approval.inner_text()

        plain.approval.locator(f'[name=rows][value="{ids[0]}"]').uncheck()
        with plain.page.expect_navigation():
            plain.approve()
        self.wait(plain, "idle")

        assert [sections.title(one) for one in ids] == [before, "Without script"]

    def test_values_are_edited_on_a_page_of_their_own(
        self, plain: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        says([change(section, "As proposed")])
        with plain.page.expect_navigation():
            plain.ask("Change it. [[script:approving]]")
        self.wait(plain, "waiting-approval")

        place = plain.page.url
        plain.approval.get_by_role("link", name="Edit first").click()
        form = plain.page.locator("#content .aia-edit-form")
        form.locator("[name$=title]").fill("On its own page")
        form.get_by_role("button").click()
        plain.page.wait_for_url(place)
        self.wait(plain, "idle")

        assert sections.title(section) == "On its own page"

    def test_errors_stand_beside_their_fields_and_nothing_is_lost(
        self, plain: Panel, says: Says
    ) -> None:
        says([REWRITE])
        with plain.page.expect_navigation():
            plain.ask("Change it. [[script:approving]]")
        self.wait(plain, "waiting-approval")
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
        assert "title" in plain.log.locator(".aia-changes").inner_text()

    def test_look_only_is_kept(
        self, plain: Panel, sections: Sections, says: Says
    ) -> None:
        (section,) = sections.add(1)
        before = sections.title(section)
        says([change(section, "Not even asked")])

        plain.page.locator("#aia-look").select_option("1")
        with plain.page.expect_navigation():
            plain.ask("Change it. [[script:approving]]")
        self.wait(plain, "idle")

        assert sections.title(section) == before
        assert plain.page.locator("#aia-look").input_value() == "1"


def _cookie(panel: Panel) -> bool:
    return any(one["name"] == "aia_look" for one in panel.page.context.cookies())
