"""The keyboard map: opening, regions, messages, and the whole path without a mouse."""

import pytest

from tests.browser.panel import Panel
from tests.browser.test_places import FORM, LIST
from tests.thorough import share

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


def stays_closed(panel: Panel) -> bool:
    """Return whether it is closed, once the script is there that would open it."""
    panel.page.evaluate("import(aia.dataset.src).then(() => {})")
    return panel.state == "closed"


@pytest.fixture
def closed(tab: Panel) -> Panel:
    """A list, with the panel closed."""
    cookie = {"name": "aia_ui", "value": "o=0&m=dock&w=400", "url": tab.url}
    tab.page.context.add_cookies([cookie])
    tab.goto(LIST)
    return tab


@pytest.mark.row("ui 98")
@pytest.mark.row("N07")
class TestShortcut:
    @pytest.mark.scenario(1)
    def test_shortcut_opens_enters_and_closes_on_each_kind_of_page_or_is_off(
        self, closed, subtests
    ):
        with subtests.test("other keys are left to the page"):
            closed.page.locator(FIELD).focus()
            press(closed, "Shift+A", "a", "Control+A")
            assert closed.page.locator(FIELD).input_value() == "Aa"
            assert stays_closed(closed)

        with subtests.test("it opens, what was typed is kept, and it closes"):
            press(closed, "Control+Shift+A")
            wait_focus(closed, "aia-input")
            closed.page.keyboard.type("Half a question")
            press(closed, "Control+Shift+A")
            closed.wait(lambda: closed.state == "closed", "a closed panel")
            assert focused(closed) == "searchbar"

        for keys in ("Alt+Shift+A", "Meta+Shift+A", "Control+Shift+A"):
            with subtests.test("it has other ways", keys=keys):
                press(closed, keys)
                wait_focus(closed, "aia-input")
                assert closed.input.input_value() == "Half a question"
            press(closed, keys)
            closed.wait(lambda: closed.state == "closed", "a closed panel")

        closed.open()
        closed.type("")
        closed.page.locator("#aia-close").click()
        for path in share(PAGES, every=3):
            closed.goto(path)
            with subtests.test(path=path):
                press(closed, "Control+Shift+A")
                closed.input.wait_for()
                wait_focus(closed, "aia-input")
            closed.page.locator("#aia-close").click()

        with subtests.test("it is turned off by the person"):
            closed.open()
            self.turned_off(closed)

    def turned_off(self, panel):
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_label("Open and close with").uncheck()
        press(panel, "Escape")
        panel.page.locator("#aia-close").click()
        for _ in range(2):
            press(panel, "Control+Shift+A", "Alt+Shift+A")
            assert stays_closed(panel)
            panel.goto(LIST)


@pytest.mark.scenario(37)
@pytest.mark.row("ui 99")
class TestPanel:
    def test_keys_go_between_page_and_panel_and_escape_stops_before_it_leaves(
        self, tab, subtests
    ):
        tab.goto(LIST)
        for fact in (
            self.page_load_takes_no_focus,
            self.f6_goes_there_and_back,
            self.skip_link_stands_after_the_admins_own,
            self.question_mark_shows_the_map,
            self.escape_leaves_the_field_and_its_text,
            self.escape_stops_first,
            self.new_conversation_and_list,
            self.f6_finds_a_page_that_had_no_focus,
            self.skip_link_of_a_closed_panel_is_none,
        ):
            with subtests.test(fact.__name__):
                fact(tab)

    def page_load_takes_no_focus(self, panel):
        panel.wait_state("idle")
        assert not panel.page.evaluate("aia.contains(document.activeElement)")

    def f6_goes_there_and_back(self, panel):
        panel.page.locator(FIELD).focus()
        press(panel, "F6")
        wait_focus(panel, "aia-input")
        press(panel, "F6")
        wait_focus(panel, "searchbar")

    def skip_link_stands_after_the_admins_own(self, panel):
        panel.page.locator(".skip-to-content-link").focus()
        press(panel, "Tab")
        assert focused(panel) == "aia-skip"
        assert panel.page.locator("#aia-skip").inner_text() == "Go to assistant"
        press(panel, "Enter")
        wait_focus(panel, "aia-input")

    def question_mark_shows_the_map(self, panel):
        panel.page.locator("#aia-scroll").focus()
        press(panel, "Shift+?")
        dialog = panel.page.get_by_role("dialog")
        dialog.wait_for()
        assert "Go from the page to the assistant" in dialog.inner_text()
        press(panel, "Escape")
        dialog.wait_for(state="hidden")
        assert focused(panel) == "aia-scroll"

    def escape_leaves_the_field_and_its_text(self, panel):
        panel.input.focus()
        panel.page.keyboard.type("Half a question")
        press(panel, "Escape", "Escape", "Escape")
        wait_focus(panel, "aia-scroll")
        assert panel.input.input_value() == "Half a question"
        assert panel.state == "idle"

    def escape_stops_first(self, panel):
        panel.ask("[[script:think]]")
        panel.wait_state("streaming", "thinking")
        panel.input.focus()
        press(panel, "Escape")
        panel.wait_state("stopped", "stopping", "idle")
        assert focused(panel) == "aia-input"

    def new_conversation_and_list(self, panel):
        panel.wait_state("stopped", "idle")
        panel.input.focus()
        before = panel.conversation
        press(panel, "Control+Shift+O")
        panel.wait(lambda: panel.conversation != before, "another conversation")
        wait_focus(panel, "aia-input")
        press(panel, "Control+Shift+H")
        panel.page.locator("#aia-history").wait_for()

    def f6_finds_a_page_that_had_no_focus(self, panel):
        panel.goto()
        panel.input.focus()
        press(panel, "F6")
        panel.wait(
            lambda: not panel.page.evaluate("aia.contains(document.activeElement)"),
            "the focus on the page",
        )
        assert focused(panel) != "BODY"

    def skip_link_of_a_closed_panel_is_none(self, panel):
        panel.page.locator("#aia-close").click()
        panel.goto(LIST)
        panel.page.locator(".skip-to-content-link").focus()
        press(panel, "Tab")
        assert focused(panel) != "aia-skip"


class TestSettings:
    IN_SUMMARY = "document.activeElement.matches('#aia-settings summary')"

    def test_fold_gives_the_focus_back(self, panel, subtests):
        summary = panel.page.locator("#aia-settings summary")
        is_open = panel.page.locator("#aia-settings[open]")
        with subtests.test("opened and closed by keys"):
            summary.focus()
            press(panel, "Enter")
            wait_focus(panel, "aia-set-enter")
            press(panel, "Escape")
            assert is_open.count() == 0
            assert panel.page.evaluate(self.IN_SUMMARY)

        with subtests.test("focus that leaves it closes it"):
            summary.click()
            wait_focus(panel, "aia-set-enter")
            panel.input.focus()
            panel.wait(lambda: not is_open.count())

        with subtests.test("so does the map that was opened from it"):
            summary.click()
            panel.page.get_by_role("link", name="Keyboard map").focus()
            press(panel, "Enter")
            dialog = panel.page.get_by_role("dialog")
            dialog.wait_for()
            dialog.get_by_role("button", name="Close").press("Enter")
            dialog.wait_for(state="hidden")
            assert panel.page.evaluate(self.IN_SUMMARY)

        with subtests.test("Enter may start a line"):
            self.write_lines(panel)

    def write_lines(self, panel):
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


@pytest.mark.scenario(37)
class TestWithoutMouse:
    def test_open_ask_approve_close(self, closed):
        """Undo by keys: see `test_undo_ways`."""
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
