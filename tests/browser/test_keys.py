"""The keyboard map: opening, regions, messages, and the whole path without a mouse."""

import pytest

from tests.browser.panel import Panel
from tests.browser.test_places import FORM, LIST

FOCUSED = "() => document.activeElement?.id || document.activeElement?.tagName"
PAGES = [
    "/admin/",
    LIST,
    FORM,
    f"{LIST}add/",
    f"{LIST}4/delete/",
    f"{LIST}4/history/",
]
FIELD = "#searchbar"


def focused(panel: Panel) -> str:
    return str(panel.page.evaluate(FOCUSED))


def press(panel: Panel, *keys: str) -> None:
    for key in keys:
        panel.page.keyboard.press(key)


def wait_focus(panel: Panel, wanted: str) -> None:
    panel.wait(lambda: focused(panel) == wanted, f"the focus in {wanted}")


@pytest.fixture
def closed(panel: Panel) -> Panel:
    panel.page.locator("#aia-close").click()
    panel.goto(LIST)
    return panel


@pytest.mark.row("ui 98")
@pytest.mark.row("N07")
class TestShortcut:
    @pytest.mark.scenario(1)
    @pytest.mark.parametrize("path", PAGES)
    def test_shortcut_opens_and_focuses_on_each_kind_of_page(self, closed, path):
        closed.goto(path)

        press(closed, "Control+Shift+A")

        closed.input.wait_for()
        wait_focus(closed, "aia-input")

    @pytest.mark.scenario(1)
    @pytest.mark.parametrize("keys", ["Alt+Shift+A", "Meta+Shift+A"])
    def test_shortcut_has_other_ways(self, closed, keys):
        press(closed, keys)

        wait_focus(closed, "aia-input")

    def test_shortcut_goes_into_the_open_panel_then_closes_it(self, panel):
        panel.goto(LIST)
        panel.page.locator(FIELD).focus()

        press(panel, "Control+Shift+A")
        wait_focus(panel, "aia-input")
        press(panel, "Control+Shift+A")

        panel.wait(lambda: panel.state == "closed")
        assert focused(panel) == "searchbar"

    def test_shortcut_keeps_what_was_typed(self, closed):
        press(closed, "Control+Shift+A")
        wait_focus(closed, "aia-input")
        panel_text = "Half a question"
        closed.page.keyboard.type(panel_text)

        press(closed, "Control+Shift+A", "Control+Shift+A")

        wait_focus(closed, "aia-input")
        assert closed.input.input_value() == panel_text

    def test_page_load_takes_no_focus(self, panel):
        panel.goto(LIST)
        panel.wait_state("idle")

        assert not panel.page.evaluate("aia.contains(document.activeElement)")

    def test_shortcut_is_turned_off_by_the_person(self, panel):
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_label("Open and close with").uncheck()
        press(panel, "Escape")
        panel.page.locator("#aia-close").click()

        for _ in range(2):
            press(panel, "Control+Shift+A", "Alt+Shift+A")
            assert panel.state == "closed"
            panel.goto(LIST)

    def test_shortcut_leaves_other_keys_to_the_page(self, closed):
        closed.page.locator(FIELD).focus()

        press(closed, "Shift+A", "a", "Control+A")

        assert closed.page.locator(FIELD).input_value() == "Aa"
        assert closed.state == "closed"


class TestRegions:
    @pytest.mark.scenario(37)
    def test_f6_goes_there_and_back(self, panel):
        panel.goto(LIST)
        panel.page.locator(FIELD).focus()

        press(panel, "F6")
        wait_focus(panel, "aia-input")
        press(panel, "F6")
        wait_focus(panel, "searchbar")

    def test_f6_finds_a_page_that_had_no_focus(self, panel):
        panel.input.focus()

        press(panel, "F6")

        panel.wait(
            lambda: not panel.page.evaluate("aia.contains(document.activeElement)")
        )
        assert focused(panel) != "BODY"

    def test_skip_link_stands_after_the_admins_own(self, panel):
        panel.goto(LIST)
        panel.page.locator(".skip-to-content-link").focus()

        press(panel, "Tab")
        assert focused(panel) == "aia-skip"
        assert panel.page.locator("#aia-skip").inner_text() == "Go to assistant"
        press(panel, "Enter")

        wait_focus(panel, "aia-input")

    def test_skip_link_of_a_closed_panel_is_none(self, closed):
        closed.page.locator(".skip-to-content-link").focus()

        press(closed, "Tab")

        assert focused(closed) != "aia-skip"


class TestMessages:
    def test_alt_arrows_go_from_message_to_message(self, panel):
        panel.ask_and_wait("Hello")
        panel.ask_and_wait("Hello again")
        panel.input.focus()
        role = "() => document.activeElement.dataset.role"
        ways = ("Alt+ArrowUp",) * 3 + ("Alt+ArrowDown",)
        for key, wanted in zip(ways, ("assistant", "user") * 2, strict=True):
            press(panel, key)
            panel.wait(lambda role_=wanted: panel.page.evaluate(role) == role_, wanted)

    def test_alt_a_goes_to_what_waits(self, panel):
        panel.ask("Do it. [[script:approval]]")
        panel.wait_state("waiting-approval")
        assert not panel.page.evaluate("aia.contains(document.activeElement)") or (
            focused(panel) in ("aia-input", "aia-send", "BODY")
        )

        press(panel, "Alt+A")

        inside = (
            "document.querySelector('#aia-pinned .aia-approval')"
            ".contains(document.activeElement)"
        )
        panel.wait(lambda: panel.page.evaluate(inside))
        panel.deny()
        panel.wait_done()


class TestPanel:
    def test_new_conversation_and_list(self, panel):
        panel.ask_and_wait("Hello")
        panel.input.focus()
        before = panel.conversation

        press(panel, "Control+Shift+O")
        panel.wait(lambda: panel.conversation != before)
        wait_focus(panel, "aia-input")
        press(panel, "Control+Shift+H")

        panel.page.locator("#aia-history").wait_for()

    @pytest.mark.row("ui 99")
    def test_question_mark_shows_the_map(self, panel):
        panel.page.locator("#aia-scroll").focus()
        press(panel, "Shift+?")

        dialog = panel.page.get_by_role("dialog")
        dialog.wait_for()
        assert "Go from the page to the assistant" in dialog.inner_text()
        press(panel, "Escape")
        dialog.wait_for(state="hidden")
        assert focused(panel) == "aia-scroll"

    def test_map_is_a_page_without_a_script(self, server, visit):
        tab = visit(server, java_script_enabled=False).tab()

        tab.goto("/assistant/keyboard/")

        assert tab.page.get_by_text("Show this map").is_visible()

    def test_escape_leaves_the_field_and_its_text(self, panel):
        panel.input.focus()
        panel.page.keyboard.type("Half a question")

        press(panel, "Escape", "Escape", "Escape")

        wait_focus(panel, "aia-scroll")
        assert panel.input.input_value() == "Half a question"
        assert panel.state == "idle"

    def test_escape_stops_before_it_leaves(self, panel):
        panel.ask("[[script:report]]")
        panel.wait_state("streaming", "thinking")
        panel.input.focus()

        press(panel, "Escape")

        panel.wait_state("stopped", "stopping", "idle")
        assert focused(panel) == "aia-input"


class TestSettings:
    def test_fold_opens_closes_and_gives_the_focus_back(self, panel):
        summary = panel.page.locator("#aia-settings summary")
        summary.focus()
        press(panel, "Enter")
        wait_focus(panel, "aia-set-enter")

        press(panel, "Escape")

        assert panel.page.locator("#aia-settings[open]").count() == 0
        assert panel.page.evaluate(
            "document.activeElement.matches('#aia-settings summary')"
        )

    def test_focus_that_leaves_it_closes_it(self, panel):
        panel.page.locator("#aia-settings summary").click()
        wait_focus(panel, "aia-set-enter")

        panel.input.focus()

        panel.wait(lambda: not panel.page.locator("#aia-settings[open]").count())

    def test_enter_may_start_a_line(self, panel):
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_label("Send a message with").select_option("1")
        panel.goto(LIST)
        panel.input.focus()

        panel.page.keyboard.type("one")
        press(panel, "Enter")
        panel.page.keyboard.type("two")
        assert panel.input.input_value() == "one\ntwo"
        press(panel, "Control+Enter")

        panel.wait_done()
        assert panel.asked() == ["one\ntwo"]

    def test_map_opened_from_it_gives_the_focus_back(self, panel):
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_role("link", name="Keyboard map").focus()
        press(panel, "Enter")
        dialog = panel.page.get_by_role("dialog")
        dialog.wait_for()

        dialog.get_by_role("button", name="Close").press("Enter")

        dialog.wait_for(state="hidden")
        assert panel.page.evaluate(
            "document.activeElement.matches('#aia-settings summary')"
        )


@pytest.mark.scenario(37)
class TestWithoutMouse:
    def test_open_ask_approve_close(self, closed):
        """Undo is not built yet: the path ends before it."""
        closed.page.locator(FIELD).focus()
        press(closed, "Control+Shift+A")
        wait_focus(closed, "aia-input")
        closed.page.keyboard.type("Do it. [[script:approval]]")
        press(closed, "Enter")
        closed.wait_state("waiting-approval")
        assert focused(closed) == "aia-input"  # no frame moves it

        press(closed, "Alt+A")
        button = "document.activeElement.matches('[data-aia-approve]')"
        for _ in range(12):
            if closed.page.evaluate(button):
                break
            press(closed, "Tab")
        assert closed.page.evaluate(button)
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert closed.page.evaluate(outline) != "none"
        press(closed, "Enter")

        closed.wait_done()
        press(closed, "Alt+ArrowUp")
        closed.wait(
            lambda: closed.page.evaluate(
                "document.activeElement.dataset?.role === 'assistant'"
            )
        )
        press(closed, "Control+Shift+A")
        closed.wait(lambda: closed.state == "closed")
        assert focused(closed) == "searchbar"
