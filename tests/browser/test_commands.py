"""Commands after `/`: the palette, what they lack, what they answer, one's own."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import Panel
from tests.browser.test_answers import PHONE
from tests.browser.test_axe import all_faults
from tests.browser.test_context import GROUPS
from tests.browser.visitor import Visitor
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"


def options(panel: Panel) -> Locator:
    return panel.page.locator("#aia-palette [role=option]:visible")


def open_palette(panel: Panel, text: str = "/") -> None:
    panel.input.press_sequentially(text)
    options(panel).first.wait_for()


@pytest.mark.row("P02", "N11")
class TestPalette:
    def test_says_what_it_is_filters_and_chooses(self, panel: Panel) -> None:
        open_palette(panel)
        panel.input.press("ArrowDown")

        assert panel.input.get_attribute("role") == "combobox"
        assert panel.input.get_attribute("aria-controls") == "aia-palette"
        second = options(panel).nth(1)
        active = panel.input.get_attribute("aria-activedescendant")
        assert second.get_attribute("id") == active
        assert second.get_attribute("aria-selected") == "true"
        assert all_faults(panel) == []
        panel.input.press("Escape")
        assert not panel.page.locator("#aia-palette").is_visible()
        assert panel.input.input_value() == "/"

        # It is for the beginning of a message.
        panel.type("")
        open_palette(panel)
        panel.type("what is 1/")
        assert not panel.page.locator("#aia-palette").is_visible()

        panel.type("")
        open_palette(panel)
        assert options(panel).count() >= 10
        panel.input.press_sequentially("week")
        expect(options(panel)).to_have_count(1)
        assert "/weekly-report" in options(panel).inner_text()
        panel.input.press("Tab")

        assert panel.input.input_value() == "/weekly-report "
        hint = panel.page.locator("#aia-ghost-text")
        assert hint.inner_text() == "/weekly-report <status>"
        assert panel.input.get_attribute("role") is None

    def test_works_by_touch_on_a_phone(self, visit: Visit, server: DemoServer) -> None:
        tab = visit(server, **PHONE).tab()
        tab.goto()
        tab.open()
        open_palette(tab, "/hel")
        options(tab).get_by_text("/help").tap()
        assert tab.input.input_value() == "/help "

        tab.page.locator("#aia-send").tap()

        tab.page.locator(".aia-told").wait_for()
        assert tab.page.evaluate("document.documentElement.scrollWidth") == 390


class TestSending:
    @pytest.mark.row("P03", "P04", "P08")
    def test_argument_is_asked_and_unknown_one_said(self, panel: Panel) -> None:
        panel.ask("/weekly-report")
        field = panel.page.get_by_label("Status", exact=True)
        field.wait_for()
        expect(field).to_be_focused()
        assert panel.input.input_value() == "/weekly-report"
        assert all_faults(panel) == []
        field.select_option("draft")
        panel.page.locator("#aia-send").click()

        panel.wait_done()

        assert not panel.page.locator("#aia-arguments").is_visible()
        assert panel.input.input_value() == ""
        assert panel.asked() == ["/weekly-report"]
        panel.page.get_by_text("What was sent").click()
        expect(panel.log).to_contain_text("List all draft questionnaires.")

        panel.new_conversation()
        panel.ask_and_wait(f"/wekly-report {HELLO}")

        expect(panel.log).to_contain_text("There is no command “/wekly-report” here")
        expect(panel.log).to_contain_text("Similar: /weekly-report")
        assert panel.asked() == [f"/wekly-report {HELLO}"]


@pytest.mark.row("P06")
class TestAnswers:
    def test_help_is_shown_not_stored_and_new_begins(self, panel: Panel) -> None:
        panel.ask_and_wait(HELLO)
        panel.ask("/help")
        told = panel.page.locator(".aia-told")
        told.wait_for()

        assert "/weekly-report" in told.inner_text()
        assert panel.input.input_value() == ""
        assert all_faults(panel) == []
        panel.reload()
        assert panel.asked() == [HELLO]
        assert panel.page.locator(".aia-told").count() == 0

        before = panel.conversation

        panel.ask("/new")

        panel.wait(lambda: panel.conversation != before, "another conversation")
        assert panel.asked() == []


class TestOwn:
    def test_message_is_saved_sent_and_deleted(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, "editor").tab()
        panel.goto()
        panel.open()
        panel.ask_and_wait(HELLO)
        panel.log.get_by_role("link", name="Save as command").last.click()
        panel.page.get_by_label("Name", exact=True).fill("no good")
        save = panel.page.get_by_role("button", name="Save as command")
        save.click()
        expect(panel.log).to_contain_text("Use lower-case letters")
        panel.page.get_by_label("Name", exact=True).fill("greet")
        panel.page.get_by_label("What it does").fill("Says hello")
        assert all_faults(panel) == []
        save.click()
        expect(panel.log).to_contain_text("Type /greet to send it.")

        open_palette(panel, "/gre")
        assert "Says hello" in options(panel).inner_text()
        panel.input.press("Enter")
        panel.input.press("Enter")
        panel.wait_done(2)
        assert panel.asked() == [HELLO, "/greet"]

        panel.page.locator("#aia-settings > summary").click()
        panel.page.get_by_role("link", name="Commands").click()
        library = panel.page.locator("#aia-commands")
        library.get_by_role("button", name="Delete /greet").click()
        expect(library).to_contain_text("None yet")


class TestWithoutJavaScript:
    def test_command_is_sent_from_the_form(
        self, visit: Visit, server: DemoServer
    ) -> None:
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto(GROUPS)
        tab.page.locator("#aia-launcher").click()
        tab.input.wait_for()
        with tab.page.expect_navigation():
            tab.ask("/weekly-report")
        tab.page.get_by_label("Status").select_option("published")
        with tab.page.expect_navigation():
            tab.page.get_by_role("button", name="Send").click()

        tab.page.reload()
        text = tab.log.inner_text()
        assert "/weekly-report" in text
        assert "List all published questionnaires." in tab.log.text_content()
