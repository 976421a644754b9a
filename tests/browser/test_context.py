"""What a page tells the model: its chips, and only them."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

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
    @pytest.mark.row("C05", "C08", "C10")
    @pytest.mark.scenario(31)
    def test_chips_show_what_is_sent_unless_dropped(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        panel.goto(FORM)
        title = panel.page.locator("#id_title").input_value()
        with subtests.test("an object is shown and sent"):
            assert chips(panel) == [f"Questionnaire: {title}"]
            panel.ask_and_wait(HELLO)
            assert f'"text": "{title}"' in told()
            assert "questionnaires_questionnaire_change" in told()

        with subtests.test("dropped, it is not sent, and back on the next page"):
            panel.new_conversation()
            panel.goto(FORM)
            drop(panel, title)
            assert chips(panel) == []
            panel.ask_and_wait(HELLO)
            assert "questionnaire" not in told().partition("Signed-in user")[2]
            panel.goto(FORM)
            assert chips(panel) == [f"Questionnaire: {title}"]

        with subtests.test("the page itself may be dropped"):
            panel.new_conversation()
            panel.goto(LIST)
            drop(panel, "Questionnaires")
            panel.ask_and_wait(HELLO)
            assert "questionnaire" not in told().partition("Signed-in user")[2]

    def test_chips_show_their_text_and_take_keys(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        asked: list[str] = []
        panel.page.on("request", lambda request: asked.append(request.url))
        panel.goto(LIST)
        with subtests.test("never polled: an open page is drawn with them"):
            panel.page.wait_for_timeout(1500)
            assert not [url for url in asked if "/assistant/context/" in url]

        with subtests.test("the very text is shown when asked for"):
            chip(panel, "Questionnaires").get_by_role("button").first.click()
            shown = panel.page.locator("#aia-context .aia-seen:popover-open")
            assert "questionnaires_questionnaire_changelist" in shown.inner_text()
            panel.page.keyboard.press("Escape")
            assert not shown.is_visible()

        with subtests.test("dropped with the keyboard"):
            panel.goto(f"{LIST}?q=pain")
            first = panel.page.locator("#aia-context .aia-drop:visible").first
            first.focus()
            panel.page.keyboard.press("Enter")
            assert len(chips(panel)) == 1
            panel.page.keyboard.press("Enter")  # the focus has gone to the next
            assert chips(panel) == []
            assert panel.page.evaluate("document.activeElement.id") == "aia-input"

    @pytest.mark.row("C03")
    @pytest.mark.scenario(31)
    def test_follow_the_address_and_go_back(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        for how in ("pushState", "replaceState"):
            with subtests.test(how=how):
                self.follow(panel, how)
                panel.ask_and_wait(HELLO)
                assert '"value": "asthma"' in told()

        with subtests.test("back with the person"):
            panel.goto(LIST)
            panel.page.evaluate("history.pushState(null, '', '?q=asthma')")
            panel.wait(lambda: "Search: asthma" in chips(panel), "the search")
            panel.page.go_back()
            panel.wait(lambda: chips(panel) == ["Questionnaires"], "no search")

    def follow(self, panel: Panel, how: str) -> None:
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
    def test_ticked_rows_are_sent_unless_unticked_or_dropped(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        boxes = panel.page.locator("input.action-select")
        with subtests.test("ticked"):
            panel.goto(LIST)
            for row in (0, 2):
                boxes.nth(row).check()
            names = panel.page.locator("#result_list tbody th").all_inner_texts()
            wait_chip(panel, "Selected rows: 2")
            panel.ask_and_wait(HELLO)
            assert names[0] in told()
            assert names[2] in told()
            assert names[1] not in told()
            assert '"source": "browser"' in told()

        with subtests.test("unticked"):
            panel.new_conversation()
            panel.goto(LIST)
            boxes.first.check()
            wait_chip(panel, "Selected rows: 1")
            boxes.first.uncheck()
            panel.wait(lambda: chips(panel) == ["Questionnaires"], "no chip of rows")
            panel.ask_and_wait(HELLO)
            assert "browser" not in told().partition("<page>")[2]

        with subtests.test("dropped"):
            boxes.first.check()
            wait_chip(panel, "Selected rows: 1")
            drop(panel, "Selected rows: 1")
            panel.ask_and_wait(HELLO)
            assert "browser" not in told().partition("<page>")[2]

    @pytest.mark.row("C04")
    def test_unsaved_fields_and_added_rows_are_sent(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        panel.goto(FORM)
        # What is there by then is no addition.
        panel.page.locator("#aia-context[data-drawn]").wait_for(state="attached")
        with subtests.test("fields as they are now"):
            panel.page.locator("#id_title").fill("Knees, revised")
            panel.page.locator("#id_status").select_option(index=2)
            wait_chip(panel, "Unsaved fields: 2")
            panel.page.locator("#id_title").fill("Knees, revised twice")
            panel.ask_and_wait(HELLO)
            assert '"title": "Knees, revised twice"' in told()
            assert '"status": [{"value":' in told()

        with subtests.test("a row that was added to an inline"):
            panel.page.locator(".inline-group .add-row a").first.click()
            wait_chip(panel, "Open parts: 1")
            panel.ask_and_wait(HELLO)
            assert '"added": 1' in told()

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

    @pytest.mark.row("C02", "C04", "C09")
    def test_elements_and_selected_text_are_sent(
        self, panel: Panel, told: Told
    ) -> None:
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
        panel.page.locator("#content h1").select_text()
        wait_chip(panel, "Selected text")
        panel.input.click()  # the selection outlives it
        panel.ask_and_wait(HELLO)

        assert "Site administration" in told().partition("has selected")[2]
        assert (
            '{"is": "The cart", "source": "browser", "value": {"lines": 3}}' in told()
        )
        assert '{"is": "tip", "source": "browser", "value": "Tea helps."}' in told()

    @pytest.mark.row("C05")
    def test_items_of_scripts_come_go_and_are_bounded(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        panel.goto()
        warnings: list[str] = []
        panel.page.on("console", lambda said: warnings.append(said.text))
        with subtests.test("text of the page is no markup"):
            panel.page.evaluate(
                """() => {
                  const label = "<img src=x onerror=boom>";
                  AIAssistant.context("x", {label, value: "<b>"});
                }"""
            )
            wait_chip(panel, "<img src=x onerror=boom>")
            assert panel.page.locator("#aia-context img, #aia-context b").count() == 0

        with subtests.test("comes and goes"):
            panel.page.evaluate(
                """() => {
                  window.remove =
                    AIAssistant.context("zoom", {label: "Zoom", value: 7});
                }"""
            )
            wait_chip(panel, "Zoom")
            panel.page.evaluate("remove()")
            panel.wait(lambda: "Zoom" not in chips(panel), "no chip")

        with subtests.test("too large a one is refused in words"):
            panel.page.evaluate(
                """() => {
                  AIAssistant.context("big", {label: "Big", value: "x".repeat(1e6)});
                  AIAssistant.context("odd", {label: "Odd", value: window});
                }"""
            )
            panel.wait(lambda: "Big" in " ".join(chips(panel)), "the chip")
            assert "Too large to send." in " ".join(chips(panel))

        panel.ask_and_wait(HELLO)
        assert "Zoom" not in told()
        assert "xxxx" not in told()
        assert [said for said in warnings if "big is too large" in said]


class TestMentions:
    def choose(self, panel: Panel, *keys: str) -> None:
        write(panel, "what of @")
        panel.page.locator("#aia-palette [role=option]").first.wait_for()
        for key in keys:
            panel.input.press(key)

    @pytest.mark.row("C06", "C07")
    def test_manual_item_is_sent_only_when_mentioned(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        panel.goto(GROUPS)
        first, typed = f"what of @House rules {HELLO}", f"@House rules {HELLO}"
        with subtests.test("mentioned by keyboard"):
            assert "House rules" not in chips(panel)
            self.choose(panel, "h", "o", "Enter")
            assert panel.input.input_value() == "what of @House rules "
            assert "House rules" in chips(panel)
            panel.input.press_sequentially(HELLO)
            panel.input.press("Enter")
            panel.wait_done()
            assert "No shoes indoors." in told()
            assert panel.asked() == [first]

        with subtests.test("not with the next message, nor one that has failed"):
            assert "Weather" in " ".join(chips(panel))
            assert "ConnectionError" in " ".join(chips(panel))
            panel.ask_and_wait(HELLO)
            assert "No shoes indoors." not in told()
            assert "ConnectionError" not in told()

        with subtests.test("a title typed by hand is text"):
            write(panel, "@House rules")
            panel.input.press("Escape")
            panel.input.press_sequentially(f" {HELLO}")
            panel.input.press("Enter")
            panel.wait_done(3)
            assert panel.asked() == [first, HELLO, typed]
            assert "No shoes indoors." not in told()

        with subtests.test("not when it is deleted again"):
            self.choose(panel, "h", "o", "Tab")
            panel.ask_and_wait(HELLO)
            assert "No shoes indoors." not in told()

    def test_menu_is_for_mouse_keyboard_and_reader(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        panel.goto(GROUPS)
        with subtests.test("a mail address opens none"):
            write(panel, "ada@h")
            assert not panel.page.locator("#aia-palette").is_visible()

        with subtests.test("by mouse"):
            self.choose(panel)
            panel.page.get_by_role("option", name="House rules").click()
            assert panel.input.input_value() == "what of @House rules "

        with subtests.test("says what it is"):
            self.choose(panel, "ArrowDown")
            field = panel.input
            options = panel.page.locator("#aia-palette [role=option]")
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

    @pytest.mark.row("F09")
    def test_object_page_and_tool_are_found_and_sent(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        panel.goto(GROUPS)
        with subtests.test("object"):
            write(panel, "what of @questionnaire exit")
            panel.page.get_by_role("option", name="Exit interview").click()
            assert panel.input.input_value() == "what of @Exit interview "
            assert "Exit interview" in chips(panel)
            panel.input.press_sequentially(HELLO)
            panel.input.press("Enter")
            panel.wait_done()
            assert "The questionnaire that the user points at." in told()
            assert panel.asked() == [f"what of @Exit interview {HELLO}"]

        with subtests.test("page and tool"):
            for letters, name in (
                ("add quest", "Add questionnaire"),
                ("go to", "Go to a page"),
            ):
                panel.input.press_sequentially(f"@{letters}")
                panel.page.get_by_role("option", name=name).first.click()
            panel.input.press_sequentially(HELLO)
            panel.input.press("Enter")
            panel.wait_done(2)
            assert "/admin/questionnaires/questionnaire/add/" in told()
            assert "The user names this tool. Use it." in told()


class TestBanner:
    @pytest.mark.row("N03", "C13", "C14")
    def test_banner_leads_back_until_the_next_message(self, panel: Panel) -> None:
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


class TestWithheld:
    """Of objects that are kept from the assistant it is told which, and no more."""

    @pytest.fixture
    def kept(self, own_server: Callable[..., DemoServer], visit: Visit) -> Panel:
        said = json.dumps(
            {"DATA": {"MODELS_EXCLUDED": ["questionnaires.questionnaire"]}}
        )
        server = own_server(env={"TESTS_SETTINGS": said})
        return visit(server).panel(FORM)

    def test_rows_and_object_are_told_without_text(
        self, kept: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("rows that are ticked"):
            kept.goto(LIST)
            row = kept.page.locator("#result_list tbody tr").first
            text = row.locator("th").inner_text()
            row.locator(".action-select").check()
            wait_chip(kept, "Selected rows: 1")
            kept.ask_and_wait(HELLO)
            assert '"count": 1' in told()
            assert text not in told()

        with subtests.test("the object that is open"):
            kept.new_conversation()
            kept.goto(FORM)
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


FILTERED = f"{LIST}?status__exact=draft&q=pain"


def strip_of(panel: Panel) -> Any:
    """Return the height of the strip, and its chips that cannot be seen in it."""
    return panel.page.evaluate(
        """() => {
          const strip = document.getElementById("aia-strip");
          const list = document.getElementById("aia-context");
          const { bottom } = list.getBoundingClientRect();
          const isBelow = (one) => one.getBoundingClientRect().top >= bottom;
          const chips = [...list.children].filter((one) => !one.hidden);
          return {
            height: strip.offsetHeight,
            below: chips.filter(isBelow).length,
            wide: strip.scrollWidth > strip.clientWidth
          };
        }"""
    )


class TestStrip:
    """Where it was asked, what may be done, and the chips: one line together."""

    def test_is_one_line(self, panel: Panel, subtests: pytest.Subtests) -> None:
        panel.goto(GROUPS)
        panel.ask_and_wait(HELLO)
        rest = panel.page.locator("#aia-rest")
        for width, language in product((320, 390, 1280), ("en", "de")):
            panel.page.set_viewport_size({"width": width, "height": 800})
            panel.page.set_extra_http_headers({"Accept-Language": language})
            with subtests.test(width=width, language=language):
                panel.goto(FILTERED)
                assert panel.page.locator("html").get_attribute("lang") == language
                expect(rest).to_contain_text("+")
                found = strip_of(panel)
                assert found["height"] <= 40
                assert not found["wide"]
                assert found["below"] > 0
                assert f"+{found['below']}" in rest.inner_text()
                rest.click()
                assert strip_of(panel)["below"] == 0

    def test_keyboard_reaches_what_does_not_fit(self, panel: Panel) -> None:
        panel.goto(FILTERED)
        last = panel.page.locator("#aia-context .aia-drop:visible").last
        panel.page.locator("#aia-context .aia-chip-name").first.focus()
        panel.page.keyboard.press("Tab")
        while not last.evaluate("one => one === document.activeElement"):
            assert panel.page.evaluate("document.activeElement.id") != "aia-input"
            panel.page.keyboard.press("Tab")

        assert strip_of(panel)["below"] == 0
        panel.input.focus()
        assert strip_of(panel)["height"] <= 40

    @pytest.mark.row("N05")
    def test_reason_of_a_read_only_page_is_read(self, panel: Panel) -> None:
        panel.goto(f"{LIST}1/change/")  # it is published
        assert panel.root.get_attribute("data-readonly") is not None
        assert "changes drafts only" in panel.page.locator("#aia-banner").inner_text()
        said = panel.page.locator(".aia-about span")
        is_cut = "one => one.scrollWidth > one.clientWidth"
        assert said.evaluate(is_cut)
        panel.page.get_by_role("button", name="Show all").click()
        assert not said.evaluate(is_cut)

        panel.goto(LIST)
        assert panel.root.get_attribute("data-readonly") is None
