"""What a page tells the model: its chips, and only them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]

HELLO = "[[script:hello]]"
LIST = "/admin/questionnaires/questionnaire/"
FORM = f"{LIST}4/change/"
GROUPS = "/admin/auth/group/"


class Told:
    """What the model was told of the page with the last message."""

    def __init__(self, model: ModelServerProcess) -> None:
        self.model = model

    def __call__(self) -> str:
        first = self.model.requests()[-1]["messages"][0]
        assert first["role"] == "system"
        return str(first["content"])


@pytest.fixture
def told(model: ModelServerProcess) -> Told:
    model.clear()
    return Told(model)


def chips(panel: Panel) -> list[str]:
    """Return what the visible chips say."""
    return panel.page.locator("#aia-context .aia-chip:visible").all_inner_texts()


def chip(panel: Panel, title: str) -> Locator:
    return panel.page.locator("#aia-context .aia-chip").filter(has_text=title)


def drop(panel: Panel, title: str) -> None:
    chip(panel, title).get_by_role("button", name="Do not send").click()


def write(panel: Panel, text: str) -> None:
    """Type key by key, into an empty field: a draft may be left of another test."""
    panel.type("")
    panel.input.press_sequentially(text)


def wait_chip(panel: Panel, title: str) -> None:
    chip(panel, title).wait_for()


class TestChips:
    @pytest.mark.row("C08", "C10")
    @pytest.mark.scenario(31)
    def test_show_what_is_sent(self, panel: Panel, told: Told) -> None:
        panel.goto(FORM)
        title = panel.page.locator("#id_title").input_value()
        assert chips(panel) == [f"Questionnaire: {title}"]
        panel.ask_and_wait(HELLO)

        assert f'"text": "{title}"' in told()
        assert "questionnaires_questionnaire_change" in told()

    @pytest.mark.row("C05", "C10")
    @pytest.mark.scenario(31)
    def test_dropped_one_is_not_sent_and_is_back_on_the_next_page(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(FORM)
        title = panel.page.locator("#id_title").input_value()
        drop(panel, title)
        assert chips(panel) == []
        panel.ask_and_wait(HELLO)

        assert "questionnaire" not in told().partition("Signed-in user")[2]
        panel.goto(FORM)
        assert chips(panel) == [f"Questionnaire: {title}"]

    def test_page_itself_may_be_dropped(self, panel: Panel, told: Told) -> None:
        panel.goto(LIST)
        drop(panel, "Questionnaires")
        panel.ask_and_wait(HELLO)

        assert "questionnaire" not in told().partition("Signed-in user")[2]

    def test_chips_are_dropped_with_the_keyboard(self, panel: Panel) -> None:
        panel.goto(f"{LIST}?q=pain")
        first = panel.page.locator("#aia-context .aia-drop:visible").first
        first.focus()
        panel.page.keyboard.press("Enter")
        assert len(chips(panel)) == 1
        panel.page.keyboard.press("Enter")  # the focus has gone to the next

        assert chips(panel) == []
        assert panel.page.evaluate("document.activeElement.id") == "aia-input"

    def test_show_the_very_text_when_asked(self, panel: Panel) -> None:
        panel.goto(LIST)
        chip(panel, "Questionnaires").get_by_role("button").first.click()

        shown = panel.page.locator("#aia-context .aia-seen:popover-open")
        assert "questionnaires_questionnaire_changelist" in shown.inner_text()
        panel.page.keyboard.press("Escape")
        assert not shown.is_visible()

    def test_failed_one_says_why_and_the_message_is_sent(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(GROUPS)
        assert "Weather" in " ".join(chips(panel))
        assert "ConnectionError" in " ".join(chips(panel))
        panel.ask_and_wait(HELLO)

        assert "ConnectionError" not in told()

    @pytest.mark.row("C03")
    @pytest.mark.parametrize("how", ["pushState", "replaceState"])
    @pytest.mark.scenario(31)
    def test_follow_the_address(self, panel: Panel, told: Told, how: str) -> None:
        panel.goto(LIST)
        panel.page.evaluate(
            """() => {
              AIAssistant.context("old", {label: "Of the old page", value: 1});
            }"""
        )
        wait_chip(panel, "Of the old page")
        panel.page.evaluate(
            """how => {
              history[how](null, "", "?q=asthma");
              AIAssistant.context("new", {label: "Of the new page", value: 2});
            }""",
            how,
        )
        wait_chip(panel, "Of the new page")
        panel.wait(lambda: "Of the old page" not in chips(panel), "the old one gone")
        panel.wait(
            lambda: "Search: asthma" in chips(panel) and len(chips(panel)) == 3,
            "the search in its chip",
        )
        panel.ask_and_wait(HELLO)

        assert '"value": "asthma"' in told()

    @pytest.mark.scenario(31)
    def test_follow_a_filter_and_then_the_object(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(LIST)
        panel.page.get_by_role("button", name="Filter", exact=True).click()
        with panel.page.expect_navigation():
            panel.page.locator("#changelist-filter a", has_text="draft").click()
        assert '"status__exact": "draft"' in (
            chip(panel, "Filter: draft").text_content() or ""
        )
        panel.page.locator("input.action-select").first.check()
        wait_chip(panel, "Selected rows: 1")
        panel.ask_and_wait(HELLO)
        assert '"status__exact": "draft"' in told()
        assert '"source": "browser"' in told()

        row = panel.page.locator("#result_list tbody th a").first
        title = row.inner_text()
        with panel.page.expect_navigation():
            row.click()
        assert chips(panel) == [f"Questionnaire: {title}"]
        drop(panel, title)
        panel.ask_and_wait(HELLO)

        page = told().partition("<page>")[2]
        assert '"action": "change"' not in page  # both go with the one chip
        assert '"fields"' not in page
        assert '"source": "browser"' not in page

    @pytest.mark.row("C03")
    def test_go_back_with_the_person(self, panel: Panel) -> None:
        panel.goto(LIST)
        panel.page.evaluate("history.pushState(null, '', '?q=asthma')")
        panel.wait(lambda: "Search: asthma" in chips(panel), "the search")
        panel.page.go_back()

        panel.wait(lambda: chips(panel) == ["Questionnaires"], "no search")

    def test_chips_are_asked_for_once_per_page(self, panel: Panel) -> None:
        """Never polled; an open page is drawn with them."""
        asked: list[str] = []
        panel.page.on("request", lambda request: asked.append(request.url))
        panel.goto(LIST)
        panel.page.wait_for_timeout(1500)

        assert not [url for url in asked if "/assistant/context/" in url]

    def test_come_with_a_panel_that_is_opened(
        self, visit: Visit, server: DemoServer
    ) -> None:
        tab = visit(server).tab()
        tab.goto(LIST)
        assert tab.page.evaluate("performance.getEntriesByType('resource').length") > 0
        scripts = "performance.getEntriesByType('resource').map(e => e.name)"
        loaded = [name for name in tab.page.evaluate(scripts) if "ai_assistant" in name]
        assert [name for name in loaded if name.endswith(".js")] == [
            f"{server.url}/static/ai_assistant/boot.js"
        ]
        tab.page.evaluate(
            "() => { AIAssistant.context('early', {label: 'Early', value: 1}); }"
        )
        tab.open()

        wait_chip(tab, "Early")
        assert chips(tab) == ["Questionnaires", "Early"]


class TestBrowserItems:
    @pytest.mark.row("C04")
    @pytest.mark.scenario(31)
    def test_ticked_rows(self, panel: Panel, told: Told) -> None:
        panel.goto(LIST)
        for row in (0, 2):
            panel.page.locator("input.action-select").nth(row).check()
        names = panel.page.locator("#result_list tbody th").all_inner_texts()
        wait_chip(panel, "Selected rows: 2")
        panel.ask_and_wait(HELLO)

        assert names[0] in told()
        assert names[2] in told()
        assert names[1] not in told()
        assert '"source": "browser"' in told()

    @pytest.mark.row("C04")
    @pytest.mark.scenario(31)
    def test_ticked_row_that_is_unticked_is_gone(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(LIST)
        box = panel.page.locator("input.action-select").first
        box.check()
        wait_chip(panel, "Selected rows: 1")
        box.uncheck()
        panel.wait(lambda: chips(panel) == ["Questionnaires"], "no chip of rows")
        panel.ask_and_wait(HELLO)

        assert "browser" not in told().partition("<page>")[2]

    @pytest.mark.scenario(31)
    def test_dropped_rows_are_not_sent(self, panel: Panel, told: Told) -> None:
        panel.goto(LIST)
        panel.page.locator("input.action-select").first.check()
        wait_chip(panel, "Selected rows: 1")
        drop(panel, "Selected rows: 1")
        panel.ask_and_wait(HELLO)

        assert "browser" not in told().partition("<page>")[2]

    @pytest.mark.row("C04")
    def test_unsaved_fields_are_sent_as_they_are_now(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(FORM)
        panel.page.locator("#id_title").fill("Knees, revised")
        panel.page.locator("#id_status").select_option(index=2)
        wait_chip(panel, "Unsaved fields: 2")
        panel.page.locator("#id_title").fill("Knees, revised twice")
        panel.ask_and_wait(HELLO)

        assert '"title": "Knees, revised twice"' in told()
        assert '"status": [{"value":' in told()

    def test_passwords_are_never_sent(self, panel: Panel, told: Told) -> None:
        panel.goto("/admin/auth/user/add/")
        panel.page.locator("#id_username").fill("newcomer")
        for field in panel.page.locator("input[type=password]").all():
            field.fill("hunter2-hunter2")
        panel.page.evaluate(
            """() => {
              for (const name of ["api_key", "form-0-cardPin", "passphrase", "iban"]) {
                const field = document.createElement("input");
                Object.assign(field, {name, value: "hunter2"});
                document.querySelector("#user_form").append(field);
                field.defaultValue = "";
                field.value = "hunter2";
              }
            }"""
        )
        wait_chip(panel, "Unsaved fields: 1")
        panel.ask_and_wait(HELLO)

        assert "newcomer" in told()
        assert "hunter2" not in told()

    @pytest.mark.row("C04")
    def test_row_that_was_added_to_an_inline(self, panel: Panel, told: Told) -> None:
        panel.goto(FORM)
        # What is there by then is no addition.
        panel.page.locator("#aia-context[data-drawn]").wait_for(state="attached")
        panel.page.locator(".inline-group .add-row a").first.click()
        wait_chip(panel, "Open parts: 1")
        panel.ask_and_wait(HELLO)

        assert '"added": 1' in told()

    @pytest.mark.row("C04")
    def test_selected_text_outlives_the_click_into_the_composer(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto()
        panel.page.locator("#content h1").select_text()
        wait_chip(panel, "Selected text")
        panel.input.click()
        panel.ask_and_wait(HELLO)

        assert "Site administration" in told().partition("has selected")[2]

    @pytest.mark.row("C02", "C09")
    def test_elements_of_the_page(self, panel: Panel, told: Told) -> None:
        panel.goto()
        panel.page.evaluate(
            """() => {
              const box = document.createElement("template");
              Object.assign(box.dataset, {
                aiaContext: "cart", aiaLabel: "Cart", aiaDescription: "The cart",
                aiaValue: '{"lines": 3}'});
              const plain = document.createElement("p");
              plain.dataset.aiaContext = "tip";
              plain.textContent = "  Tea   helps. ";
              document.querySelector("#content").append(box, plain);
            }"""
        )
        wait_chip(panel, "Cart")
        panel.ask_and_wait(HELLO)

        assert (
            '{"is": "The cart", "source": "browser", "value": {"lines": 3}}' in told()
        )
        assert '{"is": "tip", "source": "browser", "value": "Tea helps."}' in told()

    @pytest.mark.row("C05")
    def test_browser_items_of_the_page_itself_comes_and_goes(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto()
        panel.page.evaluate(
            """() => {
              window.remove = AIAssistant.context("zoom", {label: "Zoom", value: 7});
            }"""
        )
        wait_chip(panel, "Zoom")
        panel.page.evaluate("remove()")
        panel.wait(lambda: "Zoom" not in chips(panel), "no chip")
        panel.ask_and_wait(HELLO)

        assert "Zoom" not in told()

    def test_too_large_one_is_refused_in_words(self, panel: Panel, told: Told) -> None:
        panel.goto()
        warnings: list[str] = []
        panel.page.on("console", lambda said: warnings.append(said.text))
        panel.page.evaluate(
            """() => {
              AIAssistant.context("big", {label: "Big", value: "x".repeat(1e6)});
              AIAssistant.context("odd", {label: "Odd", value: window});
            }"""
        )
        panel.wait(lambda: "Big" in " ".join(chips(panel)), "the chip")
        assert "Too large to send." in " ".join(chips(panel))
        panel.ask_and_wait(HELLO)

        assert "xxxx" not in told()
        assert [said for said in warnings if "big is too large" in said]

    def test_text_of_the_page_is_no_markup(self, panel: Panel) -> None:
        panel.goto()
        panel.page.evaluate(
            """() => {
              const label = "<img src=x onerror=boom>";
              AIAssistant.context("x", {label, value: "<b>"});
            }"""
        )
        wait_chip(panel, "<img src=x onerror=boom>")

        assert panel.page.locator("#aia-context img, #aia-context b").count() == 0


class TestMentions:
    def choose(self, panel: Panel, *keys: str) -> None:
        write(panel, "what of @")
        panel.page.locator("#aia-menu [role=option]").first.wait_for()
        for key in keys:
            panel.input.press(key)

    @pytest.mark.row("C06", "C07")
    def test_mentions_by_keyboard_sends_what_is_else_not_sent(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(GROUPS)
        assert "House rules" not in chips(panel)
        self.choose(panel, "h", "o", "Enter")
        assert panel.input.input_value() == "what of @House rules "
        assert "House rules" in chips(panel)
        panel.input.press_sequentially(HELLO)
        panel.input.press("Enter")
        panel.wait_done()

        assert "No shoes indoors." in told()
        assert panel.asked() == [f"what of @House rules {HELLO}"]
        panel.ask_and_wait(HELLO)
        assert "No shoes indoors." not in told()

    @pytest.mark.row("C07")
    def test_manual_item_is_not_sent_without(self, panel: Panel, told: Told) -> None:
        panel.goto(GROUPS)
        panel.ask_and_wait(HELLO)

        assert "No shoes indoors." not in told()

    @pytest.mark.row("C06")
    def test_title_typed_by_hand_is_text(self, panel: Panel, told: Told) -> None:
        panel.goto(GROUPS)
        write(panel, "@House rules")
        panel.input.press("Escape")
        panel.input.press_sequentially(f" {HELLO}")
        panel.input.press("Enter")
        panel.wait_done()

        assert "No shoes indoors." not in told()

    def test_mention_that_is_deleted_again_is_not_sent(
        self, panel: Panel, told: Told
    ) -> None:
        panel.goto(GROUPS)
        self.choose(panel, "h", "o", "Tab")
        panel.ask_and_wait(HELLO)

        assert "No shoes indoors." not in told()

    def test_menu_says_what_it_is(self, panel: Panel) -> None:
        panel.goto(GROUPS)
        self.choose(panel, "ArrowDown")

        field, options = panel.input, panel.page.locator("#aia-menu [role=option]")
        assert field.get_attribute("role") == "combobox"
        assert field.get_attribute("aria-expanded") == "true"
        active = field.get_attribute("aria-activedescendant")
        assert options.nth(1).get_attribute("id") == active
        assert options.nth(1).get_attribute("aria-selected") == "true"
        field.press("ArrowDown")
        assert options.nth(0).get_attribute("aria-selected") == "true"
        field.press("Escape")
        assert field.get_attribute("aria-expanded") is None
        assert field.input_value() == "what of @"
        assert panel.asked() == []

    def test_mentions_by_mouse(self, panel: Panel) -> None:
        panel.goto(GROUPS)
        self.choose(panel)
        panel.page.get_by_role("option", name="House rules").click()

        assert panel.input.input_value() == "what of @House rules "

    def test_mail_address_opens_no_menu(self, panel: Panel) -> None:
        panel.goto(GROUPS)
        write(panel, "ada@h")

        assert not panel.page.locator("#aia-menu").is_visible()


class TestBanner:
    @pytest.mark.row("N03", "C13", "C14")
    def test_banner_leads_back_to_the_module(self, panel: Panel) -> None:
        panel.goto(f"{GROUPS}?q=a")
        panel.ask_and_wait(HELLO)
        banner = panel.page.locator("#aia-banner")
        assert banner.inner_text() == ""
        panel.goto(LIST)
        assert "Asked on Groups" in banner.inner_text()
        with panel.page.expect_navigation():
            banner.get_by_role("link", name="Back").click()

        assert panel.page.url == f"{panel.url}{GROUPS}?q=a"
        assert banner.inner_text() == ""
        assert panel.asked() == [HELLO]

    def test_banner_is_gone_with_the_next_message(self, panel: Panel) -> None:
        panel.goto(GROUPS)
        panel.ask_and_wait(HELLO)
        panel.goto(LIST)
        link = panel.page.locator("#aia-banner a")
        assert link.is_visible()
        panel.ask_and_wait(HELLO)

        panel.wait(lambda: not link.is_visible(), "no banner")

    def test_banner_names_the_page_of_an_answer_that_goes_on(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.goto(LIST)
        panel.ask("[[script:think]]")
        panel.log.locator(".aia-reasoning").wait_for()
        panel.goto("/admin/")
        link = panel.page.locator("#aia-banner a")
        said = panel.page.locator("#aia-banner").inner_text()
        assert "Asked on Questionnaires" in said
        model.release("thought")
        panel.wait_done()

        panel.wait(lambda: not link.is_visible(), "no banner")

    @pytest.mark.row("N05")
    def test_banner_says_that_the_page_is_read_only(self, panel: Panel) -> None:
        panel.goto(f"{LIST}1/change/")  # it is published

        assert panel.root.get_attribute("data-readonly") is not None
        assert "changes drafts only" in panel.page.locator("#aia-banner").inner_text()
        panel.goto(LIST)
        assert panel.root.get_attribute("data-readonly") is None


class TestTools:
    @pytest.mark.row("T06")
    def test_tools_of_the_page_are_posted_with_the_message(self, panel: Panel) -> None:
        panel.goto()
        panel.page.evaluate(
            """() => {
              AIAssistant.registerTool("zoom", {
                description: "Zoom.", parameters: {type: "object"}, handler() {}});
            }"""
        )
        sent: list[Any] = []
        panel.page.on("request", lambda one: sent.append(one.post_data or ""))
        panel.ask_and_wait(HELLO)

        assert [data for data in sent if "tools=%5B%7B%22name%22%3A%22zoom" in data]


class TestWithheld:
    """Of objects that are kept from the assistant it is told which, and no more."""

    @pytest.fixture
    def kept(self, own_server: Callable[..., DemoServer], visit: Visit) -> Panel:
        said = json.dumps(
            {"DATA": {"MODELS_EXCLUDED": ["questionnaires.questionnaire"]}}
        )
        server = own_server(env={"TESTS_SETTINGS": said})
        return visit(server).panel(FORM)

    def test_object_that_is_open(self, kept: Panel, told: Told) -> None:
        field = kept.page.locator("#id_title")
        title = field.input_value()
        field.fill(f"{title}, once more")
        kept.page.locator("#content h1, #content h2").first.select_text()
        kept.input.focus()
        assert chips(kept) == ["Questionnaire 4"]
        kept.ask_and_wait(HELLO)

        page = told().partition("<page>")[2]  # the module's prompt is the site's
        assert title not in page
        assert '"id": 4' in page

    def test_rows_that_are_ticked(self, kept: Panel, told: Told) -> None:
        kept.goto(LIST)
        row = kept.page.locator("#result_list tbody tr").first
        text = row.locator("th").inner_text()
        row.locator(".action-select").check()
        wait_chip(kept, "Selected rows: 1")
        kept.ask_and_wait(HELLO)

        assert '"count": 1' in told()
        assert text not in told()
