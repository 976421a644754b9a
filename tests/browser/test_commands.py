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


class TestCommands:
    @pytest.mark.row("N11", "P02", "P03", "P04", "P06", "P08")
    def test_command_is_chosen_asked_for_its_argument_and_answered(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("the palette says what it is, filters and chooses"):
            self.palette_filters_and_chooses(panel)
        panel.type("")
        with subtests.test("an argument is asked for"):
            self.argument_is_asked_for(panel)
        panel.new_conversation()
        with subtests.test("an unknown one is said, with similar ones"):
            panel.ask_and_wait(f"/wekly-report {HELLO}")
            said = "There is no command “/wekly-report” here"
            expect(panel.log).to_contain_text(said)
            expect(panel.log).to_contain_text("Similar: /weekly-report")
            assert panel.asked() == [f"/wekly-report {HELLO}"]

        with subtests.test("help is shown and not stored, /new begins anew"):
            self.help_is_not_stored(panel)

    def palette_filters_and_chooses(self, panel: Panel) -> None:
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

    def argument_is_asked_for(self, panel: Panel) -> None:
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

    def help_is_not_stored(self, panel: Panel) -> None:
        said = panel.asked()
        panel.ask("/help")
        told = panel.page.locator(".aia-told")
        told.wait_for()
        assert "/weekly-report" in told.inner_text()
        assert panel.input.input_value() == ""
        assert all_faults(panel) == []
        panel.reload()
        assert panel.asked() == said
        assert panel.page.locator(".aia-told").count() == 0
        before = panel.conversation
        panel.ask("/new")
        panel.wait(lambda: panel.conversation != before, "another conversation")
        assert panel.asked() == []

    def test_one_is_sent_by_touch_and_ones_own_saved_sent_and_deleted(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        panel = visit(server, "editor", **PHONE).panel()
        with subtests.test("by touch"):
            open_palette(panel, "/hel")
            options(panel).get_by_text("/help").tap()
            assert panel.input.input_value() == "/help "
            panel.page.locator("#aia-send").tap()
            panel.page.locator(".aia-told").wait_for()
            assert panel.page.evaluate("document.documentElement.scrollWidth") == 390

        with subtests.test("one's own"):
            self.own_is_saved_and_sent(panel)
        with subtests.test("deleted"):
            panel.page.locator("#aia-settings > summary").click()
            panel.page.get_by_role("link", name="Commands").click()
            library = panel.page.locator("#aia-commands")
            library.get_by_role("button", name="Delete /greet").click()
            expect(library).to_contain_text("None yet")

    def own_is_saved_and_sent(self, panel: Panel) -> None:
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
