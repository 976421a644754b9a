"""What a page tells the model: its chips, and only them."""

from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess

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


ADD_ELEMENTS = """() => {
  const box = document.createElement("template");
  Object.assign(box.dataset, {
    aiaContext: "cart", aiaLabel: "Cart", aiaDescription: "The cart",
    aiaValue: '{"lines": 3}'});
  const plain = document.createElement("p");
  plain.dataset.aiaContext = "tip";
  plain.textContent = "  Tea   helps. ";
  document.querySelector("#content").append(box, plain);
}"""


class TestChips:
    @pytest.mark.row("C04", "C05", "C08", "C10")
    @pytest.mark.scenario(31)
    def test_object_its_unsaved_fields_and_the_page_are_sent_unless_dropped(
        self, tab: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        tab.goto(FORM)
        title = tab.page.locator("#id_title").input_value()
        with subtests.test("an object is shown and sent"):
            assert chips(tab) == [f"Questionnaire: {title}"]
            tab.ask_and_wait(HELLO)
            assert f'"text": "{title}"' in told()
            assert "questionnaires_questionnaire_change" in told()

        with subtests.test("unsaved fields and added rows"):
            self.unsaved_fields_and_added_rows_are_sent(tab, told)

        tab.new_conversation()
        with subtests.test("dropped, the object is not sent"):
            drop(tab, title)
            assert title not in " ".join(chips(tab))
            tab.ask_and_wait(HELLO)
            page = told().partition("<page>")[2]
            assert '"action": "change"' not in page  # both go with the one chip
            assert '"fields"' not in page
            assert title not in page

        with subtests.test("it is back when the page is loaded again"):
            tab.goto(FORM)
            assert chips(tab) == [f"Questionnaire: {title}"]

        with subtests.test("the page itself may be dropped"):
            tab.new_conversation()
            tab.goto(LIST)
            drop(tab, "Questionnaires")
            tab.ask_and_wait(HELLO)
            assert "questionnaire" not in told().partition("Signed-in user")[2]

    def unsaved_fields_and_added_rows_are_sent(self, tab: Panel, told: Told) -> None:
        # What is there by then is no addition.
        tab.page.locator("#aia-context[data-drawn]").wait_for(state="attached")
        tab.page.locator("#id_title").fill("Knees, revised")
        tab.page.locator("#id_status").select_option(index=2)
        wait_chip(tab, "Unsaved fields: 2")
        tab.page.locator("#id_title").fill("Knees, revised twice")
        tab.page.locator(".inline-group .add-row a").first.click()
        wait_chip(tab, "Open parts: 1")
        tab.ask_and_wait(HELLO)
        assert '"title": "Knees, revised twice"' in told()
        assert '"status": [{"value":' in told()
        assert '"added": 1' in told()

    @pytest.mark.row("C04")
    @pytest.mark.scenario(31)
    def test_list_tells_ticked_rows_and_its_filter_and_its_chips_take_keys(
        self, tab: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        asked: list[str] = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.goto(LIST)
        with subtests.test("the very text is shown when asked for"):
            self.text_is_shown(tab)
        with subtests.test("ticked rows are sent, unless unticked or dropped"):
            self.ticked_rows_are_sent(tab, told)
        with subtests.test("never polled: an open page is drawn with them"):
            assert not [url for url in asked if "/assistant/context/" in url]
        tab.new_conversation()
        with subtests.test("a filter, then the object"):
            self.filter_then_object(tab, told)
        with subtests.test("dropped with the keyboard"):
            self.dropped_by_keys(tab)

    def text_is_shown(self, tab: Panel) -> None:
        chip(tab, "Questionnaires").get_by_role("button").first.click()
        shown = tab.page.locator("#aia-context .aia-seen:popover-open")
        assert "questionnaires_questionnaire_changelist" in shown.inner_text()
        tab.page.keyboard.press("Escape")
        assert not shown.is_visible()

    def ticked_rows_are_sent(self, tab: Panel, told: Told) -> None:
        boxes = tab.page.locator("input.action-select")
        for row in (0, 2):
            boxes.nth(row).check()
        names = tab.page.locator("#result_list tbody th").all_inner_texts()
        wait_chip(tab, "Selected rows: 2")
        tab.ask_and_wait(HELLO)
        assert names[0] in told()
        assert names[2] in told()
        assert names[1] not in told()
        assert '"source": "browser"' in told()

        tab.new_conversation()
        for row in (0, 2):
            boxes.nth(row).uncheck()
        tab.wait(lambda: chips(tab) == ["Questionnaires"], "no chip of rows")
        tab.ask_and_wait(HELLO)
        assert "browser" not in told().partition("<page>")[2]

        boxes.first.check()
        wait_chip(tab, "Selected rows: 1")
        drop(tab, "Selected rows: 1")
        tab.ask_and_wait(HELLO)
        assert "browser" not in told().partition("<page>")[2]

    def filter_then_object(self, tab: Panel, told: Told) -> None:
        tab.page.get_by_role("button", name="Filter", exact=True).click()
        with tab.page.expect_navigation():
            tab.page.locator("#changelist-filter a", has_text="draft").click()
        tab.ready()
        said = chip(tab, "Filter: draft").text_content() or ""
        assert '"status__exact": "draft"' in said
        tab.ask_and_wait(HELLO)
        assert '"status__exact": "draft"' in told()
        row = tab.page.locator("#result_list tbody th a").first
        title = row.inner_text()
        with tab.page.expect_navigation():
            row.click()
        tab.ready()
        assert chips(tab) == [f"Questionnaire: {title}"]

    def dropped_by_keys(self, tab: Panel) -> None:
        tab.goto(f"{LIST}?q=pain")
        tab.page.locator("#aia-context .aia-drop:visible").first.focus()
        tab.page.keyboard.press("Enter")
        assert len(chips(tab)) == 1
        tab.page.keyboard.press("Enter")  # the focus has gone to the next
        assert chips(tab) == []
        assert tab.page.evaluate("document.activeElement.id") == "aia-input"

    @pytest.mark.row("C03")
    @pytest.mark.scenario(31)
    def test_chips_follow_the_address_and_go_back_and_come_with_a_panel_that_opens(
        self, tab: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        cookie = {"name": "aia_ui", "value": "o=0&m=dock&w=400", "url": tab.url}
        tab.page.context.add_cookies([cookie])
        tab.goto(LIST)
        with subtests.test("a closed panel loads one script"):
            scripts = "performance.getEntriesByType('resource').map(e => e.name)"
            loaded = [one for one in tab.page.evaluate(scripts) if one.endswith(".js")]
            ours = [one for one in loaded if "ai_assistant" in one]
            assert ours == [f"{tab.url}/static/ai_assistant/boot.js"]

        with subtests.test("chips come with the panel that is opened"):
            tab.page.evaluate(
                "() => { AIAssistant.context('old', {label: 'Old', value: 1}); }"
            )
            tab.open()
            wait_chip(tab, "Old")
            assert chips(tab) == ["Questionnaires", "Old"]

        for how in ("pushState", "replaceState"):
            with subtests.test(how=how):
                self.follow(tab, how)
        with subtests.test("the model is told of the new address"):
            tab.ask_and_wait(HELLO)
            assert '"value": "knee"' in told()

        with subtests.test("back with the person"):
            tab.page.go_back()
            tab.wait(lambda: chips(tab) == ["Questionnaires"], "no search")

    def follow(self, tab: Panel, how: str) -> None:
        sought = {"pushState": "asthma", "replaceState": "knee"}[how]
        tab.page.evaluate(
            """([how, sought]) => {
              history[how](null, "", `?q=${sought}`);
              AIAssistant.context(sought, {label: `Of ${sought}`, value: 2});
            }""",
            [how, sought],
        )
        wait_chip(tab, f"Of {sought}")
        wanted = ["Questionnaires", f"Search: {sought}", f"Of {sought}"]
        tab.wait(lambda: sorted(chips(tab)) == sorted(wanted), f"{wanted}")

    @pytest.mark.row("C02", "C04", "C05", "C09")
    def test_elements_selected_text_and_items_of_scripts_are_sent_within_bounds(
        self, panel: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        warnings: list[str] = []
        panel.page.on("console", lambda said: warnings.append(said.text))
        with subtests.test("elements and selected text"):
            self.elements_and_selected_text_are_sent(panel, told)
        with subtests.test("text of the page is no markup"):
            panel.page.evaluate(
                """() => {
                  const label = "<img src=x onerror=boom>";
                  AIAssistant.context("x", {label, value: "<b>"});
                }"""
            )
            wait_chip(panel, "<img src=x onerror=boom>")
            assert panel.page.locator("#aia-context img, #aia-context b").count() == 0

        with subtests.test("an item comes and goes"):
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

    def elements_and_selected_text_are_sent(self, panel: Panel, told: Told) -> None:
        panel.page.evaluate(ADD_ELEMENTS)
        wait_chip(panel, "Cart")
        panel.page.locator("#content h1").select_text()
        wait_chip(panel, "Selected text")
        panel.input.click()  # the selection outlives it
        panel.ask_and_wait(HELLO)
        assert "Site administration" in told().partition("has selected")[2]
        cart = '{"is": "The cart", "source": "browser", "value": {"lines": 3}}'
        assert cart in told()
        assert '{"is": "tip", "source": "browser", "value": "Tea helps."}' in told()


class TestMentions:
    @pytest.mark.row("C06", "C07", "F09")
    def test_mention_is_chosen_by_mouse_and_keys_and_sent_with_one_message(
        self, tab: Panel, told: Told, subtests: pytest.Subtests
    ) -> None:
        tab.goto(GROUPS)
        with subtests.test(self.menu_says_what_it_is.__name__):
            self.menu_says_what_it_is(tab)
        for fact in (
            self.manual_item_is_sent_only_when_mentioned,
            self.title_typed_by_hand_is_text,
            self.object_page_and_tool_are_found,
            self.deleted_again_it_is_not_sent,
        ):
            tab.new_conversation()
            with subtests.test(fact.__name__):
                fact(tab, told)

    def choose(self, panel: Panel, *keys: str) -> None:
        write(panel, "what of @")
        panel.page.locator("#aia-palette [role=option]").first.wait_for()
        for key in keys:
            panel.input.press(key)

    def menu_says_what_it_is(self, panel: Panel) -> None:
        self.choose(panel)
        write(panel, "ada@h")
        assert not panel.page.locator("#aia-palette").is_visible()  # of an address
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

    def manual_item_is_sent_only_when_mentioned(self, panel: Panel, told: Told) -> None:
        assert "House rules" not in chips(panel)
        self.choose(panel, "h", "o", "Enter")
        assert panel.input.input_value() == "what of @House rules "
        assert "House rules" in chips(panel)
        panel.input.press_sequentially(HELLO)
        panel.input.press("Enter")
        panel.wait_done()
        assert "No shoes indoors." in told()
        assert panel.asked() == [f"what of @House rules {HELLO}"]

        # Not with the next message, nor one that has failed.
        assert "Weather" in " ".join(chips(panel))
        assert "ConnectionError" in " ".join(chips(panel))
        panel.ask_and_wait(HELLO)
        assert "No shoes indoors." not in told()
        assert "ConnectionError" not in told()

    def title_typed_by_hand_is_text(self, panel: Panel, told: Told) -> None:
        write(panel, "@House rules")
        panel.input.press("Escape")
        panel.input.press_sequentially(f" {HELLO}")
        panel.input.press("Enter")
        panel.wait_done()
        assert panel.asked() == [f"@House rules {HELLO}"]
        assert "No shoes indoors." not in told()

    def deleted_again_it_is_not_sent(self, panel: Panel, told: Told) -> None:
        self.choose(panel)
        panel.page.get_by_role("option", name="House rules").click()
        assert panel.input.input_value() == "what of @House rules "
        panel.ask_and_wait(HELLO)
        assert "No shoes indoors." not in told()

    def object_page_and_tool_are_found(self, panel: Panel, told: Told) -> None:
        write(panel, "what of @questionnaire exit")
        panel.page.get_by_role("option", name="Exit interview").click()
        assert panel.input.input_value() == "what of @Exit interview "
        assert "Exit interview" in chips(panel)
        for letters, name in (
            ("add quest", "Add questionnaire"),
            ("go to", "Go to a page"),
        ):
            panel.input.press_sequentially(f"@{letters}")
            panel.page.get_by_role("option", name=name).first.click()
        panel.input.press_sequentially(HELLO)
        panel.input.press("Enter")
        panel.wait_done()
        assert "The questionnaire that the user points at." in told()
        assert "/admin/questionnaires/questionnaire/add/" in told()
        assert "The user names this tool. Use it." in told()


class TestBanner:
    @pytest.mark.row("N03", "C13", "C14")
    def test_banner_leads_back_until_the_next_message_or_the_end_of_the_answer(
        self, tab: Panel, model: ModelServerProcess
    ) -> None:
        tab.goto(f"{GROUPS}?q=a")
        tab.ask_and_wait(HELLO)
        banner = tab.page.locator("#aia-banner")
        assert banner.inner_text() == ""
        tab.goto(LIST)
        assert "Asked on Groups" in banner.inner_text()
        with tab.page.expect_navigation():
            banner.get_by_role("link", name="Back").click()
        tab.ready()
        assert tab.page.url == f"{tab.url}{GROUPS}?q=a"
        assert banner.inner_text() == ""
        assert tab.asked() == [HELLO]

        tab.goto(LIST)
        link = tab.page.locator("#aia-banner a")
        assert link.is_visible()
        tab.ask("[[script:think]]")
        tab.wait(lambda: not link.is_visible(), "no banner")
        tab.log.locator(".aia-reasoning").wait_for()
        tab.goto("/admin/")
        assert "Asked on Questionnaires" in banner.inner_text()
        model.release("thought")
        tab.wait_done(2)
        tab.wait(lambda: not link.is_visible(), "no banner")


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

    @pytest.mark.row("N05")
    def test_strip_is_one_line_whose_rest_is_reached_by_mouse_and_keys(
        self, tab: Panel, subtests: pytest.Subtests
    ) -> None:
        tab.goto(GROUPS)
        tab.ask_and_wait(HELLO)
        for language in ("de", "en"):
            tab.page.set_extra_http_headers({"Accept-Language": language})
            tab.goto(FILTERED)
            assert tab.page.locator("html").get_attribute("lang") == language
            for width in (1280, 390, 320):
                with subtests.test(width=width, language=language):
                    tab.page.set_viewport_size({"width": width, "height": 800})
                    self.is_one_line(tab)
        tab.page.set_viewport_size({"width": 1280, "height": 800})
        with subtests.test("by keys"):
            self.keys_reach_what_does_not_fit(tab)
        with subtests.test("the reason of a read-only page is read"):
            self.reason_is_read(tab)

    def is_one_line(self, tab: Panel) -> None:
        rest = tab.page.locator("#aia-rest")
        tab.wait(
            lambda: f"+{strip_of(tab)['below']}" in rest.inner_text(), "how many more"
        )
        found = strip_of(tab)
        assert found["height"] <= 40
        assert not found["wide"]
        assert found["below"] > 0
        rest.click()
        assert strip_of(tab)["below"] == 0
        rest.click()

    def keys_reach_what_does_not_fit(self, tab: Panel) -> None:
        last = tab.page.locator("#aia-context .aia-drop:visible").last
        tab.page.locator("#aia-context .aia-chip-name").first.focus()
        tab.page.keyboard.press("Tab")
        while not last.evaluate("one => one === document.activeElement"):
            assert tab.page.evaluate("document.activeElement.id") != "aia-input"
            tab.page.keyboard.press("Tab")
        assert strip_of(tab)["below"] == 0
        tab.input.focus()
        assert strip_of(tab)["height"] <= 40

    def reason_is_read(self, tab: Panel) -> None:
        tab.new_conversation()
        tab.goto(f"{LIST}1/change/")  # it is published
        assert tab.root.get_attribute("data-readonly") is not None
        assert "changes drafts only" in tab.page.locator("#aia-banner").inner_text()
        said = tab.page.locator(".aia-about span")
        is_cut = "one => one.scrollWidth > one.clientWidth"
        assert said.evaluate(is_cut)
        tab.page.get_by_role("button", name="Show all").click()
        assert not said.evaluate(is_cut)
