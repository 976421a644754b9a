"""The examples of docs/panel.md for a page's own scripts, and each event it lists."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.docs.blocks import blocks, page
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

HELLO = "[[script:hello]]"
LIST = "/admin/questionnaires/questionnaire/"
LIST_VIEW = "admin:questionnaires_questionnaire_changelist"
SECTION = page("docs/panel.md").partition("## Events and calls for your own scripts")[2]
KEEP_BACK, SAY_READY, PAGE_COLOUR = (
    f"() => {{ {block.code} }}" for block in blocks(SECTION) if block.language == "js"
)
(MARKED,) = (block.code for block in blocks(SECTION) if block.language == "html")
NAMES = re.findall(r"`aia:([a-z-]+)`", SECTION)
RECORD = """names => {
  window.heard = [];
  for (const name of names)
    document.addEventListener(`aia:${name}`, ({ detail }) => {
      const { element, ...plain } = detail ?? {};
      heard.push([name, detail && JSON.parse(JSON.stringify(plain))]);
    });
}"""
SHOWN = """html => {
  const place = document.createElement("div");
  for (const part of new DOMParser().parseFromString(html, "text/html").body.children)
    place.append(document.importNode(part, true));
  document.querySelector("#content").prepend(place);
}"""


@pytest.fixture
def heard(tab: Panel) -> Callable[[], list[list[Any]]]:
    """Note each event of the page that is loaded next."""
    tab.page.add_init_script(f"({RECORD})({json.dumps(NAMES)})")
    tab.goto()
    return lambda: list(tab.page.evaluate("heard"))


def names(heard: Callable[[], list[list[Any]]]) -> list[str]:
    return [name for name, _ in heard()]


class TestEvents:
    def test_each_event_is_told_of_panel_messages_failures_approvals_and_tools(
        self,
        tab: Panel,
        heard: Any,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        panel = tab
        with subtests.test("ready when it is loaded"):
            assert [one for one in heard() if one[0] == "ready"] == [["ready", None]]
        with subtests.test("panel and connection"):
            self.panel_and_connection(panel, heard)

        with subtests.test("message"):
            panel.ask_and_wait(HELLO)
            panel.wait(lambda: "message-done" in names(heard), "the end")

            told = [one for one in heard() if one[0] == "send"]
            assert told == [["send", {"text": HELLO}]]
            assert "frame" in names(heard)
            assert ["message-done", {"state": "idle"}] in heard()

        panel.new_conversation()
        with subtests.test("failure"):
            answer = panel.ask_and_wait("[[script:bad-key]]")

            panel.wait(lambda: "error" in names(heard), "the error")
            (told,) = [detail for name, detail in heard() if name == "error"]
            assert told["code"] == "bad_key"
            assert told["run"] == answer.run
            assert "did not accept the key" in told["text"]

        panel.new_conversation()
        with subtests.test("approval"):
            panel.ask("[[script:approval]]")

            panel.wait(lambda: "approval" in names(heard), "the approval")
            (told,) = [detail for name, detail in heard() if name == "approval"]
            assert told["title"]
            assert panel.page.locator(f"#i-{told['id']}").count() == 1
            panel.deny()
            panel.wait_done()

        panel.new_conversation()
        with subtests.test("browser tools"):
            panel.page.evaluate(
                "() => { AIAssistant.on('before-navigate', (e) => e.preventDefault()) }"
            )
            model.script(
                "points-and-goes",
                [
                    [call("highlight", {"selector": "#content", "text": "Here"})],
                    [call("navigate_to", {"view_name": LIST_VIEW})],
                    [text("It stayed.")],
                ],
            )
            panel.ask_and_wait("[[script:points-and-goes]]")

            assert ["before-navigate", {"path": LIST}] in heard()
            (told,) = [detail for name, detail in heard() if name == "highlight"]
            assert (told["selector"], told["text"]) == ("#content", "Here")
            assert panel.page.url.endswith("/admin/")

    def panel_and_connection(self, panel: Panel, heard: Any) -> None:
        panel.page.locator("#aia-mode").click()
        panel.wait(lambda: ["mode", {"mode": "float"}] in heard(), "the mode")
        panel.page.locator("#aia-close").click()
        panel.open()

        def moved() -> list[str]:
            return [name for name in names(heard) if name in ("close", "open")]

        panel.wait(lambda: moved()[-2:] == ["close", "open"], "closed, opened")
        panel.page.locator("#aia-dock").click()
        panel.page.context.set_offline(True)
        try:
            panel.wait(lambda: ["conn", {"state": "offline"}] in heard(), "offline")
        finally:
            panel.page.context.set_offline(False)
        panel.wait(lambda: ["conn", {"state": "online"}] in heard(), "online")


class TestExamples:
    def test_examples_do_what_they_say_and_words_are_quoted(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        panel.page.evaluate("() => AIAssistant.open()")  # its script is loaded then
        with subtests.test("a quotation of an answer by click and key"):
            self.quoted_by_click_and_key(panel)
        with subtests.test("a quotation leaves out what the page marks"):
            self.marked_is_not_quoted(panel)
        panel.new_conversation()
        with subtests.test("marks what is read"):
            self.marks_what_is_read(panel)
        panel.new_conversation()
        with subtests.test("keeps a message back"):
            panel.page.evaluate(KEEP_BACK)
            panel.ask("My card is 1234567812345678")
            panel.page.wait_for_timeout(200)
            assert panel.asked() == []
            assert panel.input.input_value() == "My card is 1234567812345678"
            panel.ask_and_wait(HELLO)
            assert len(panel.asked()) == 1

        with subtests.test("carries a tool out"):
            panel.page.evaluate(PAGE_COLOUR)
            model.script("colour", [[call("page_colour", {})], [text("It is white.")]])
            panel.ask_and_wait("[[script:colour]]")
            card = panel.card("page_colour")
            assert card.get_attribute("data-status") == "complete"
            card.locator("summary").first.click()
            assert "Colour\twhite" in card.inner_text()

        with subtests.test("says that the answer is ready"):
            panel.page.evaluate(SAY_READY)
            panel.ask_and_wait(HELLO)
            panel.wait(lambda: "Answer ready" in panel.page.title(), "the title")

    def select(self, panel: Panel, selector: str) -> None:
        panel.page.evaluate(
            """selector => {
              const range = document.createRange();
              range.selectNodeContents(document.querySelector(selector));
              getSelection().removeAllRanges();
              getSelection().addRange(range);
            }""",
            selector,
        )

    def quoted_by_click_and_key(self, panel: Panel) -> None:
        panel.ask_and_wait(HELLO)
        button = panel.page.get_by_role("button", name="Ask about this")
        for how in ("click", "key"):
            panel.type("Before")
            self.select(panel, ".aia-body")
            button.wait_for()
            below = panel.page.evaluate(
                "getSelection().getRangeAt(0).getBoundingClientRect().bottom"
            )
            assert (button.bounding_box() or {})["y"] >= below
            if how == "click":
                button.click()
            else:
                panel.page.keyboard.press("Alt+q")
            quoted = "Before\n\n> Hello there, how can this help you?\n\n"
            panel.wait(
                lambda quoted=quoted: panel.input.input_value() == quoted,
                "the quotation",
            )
            assert button.count() == 0
        panel.type("")

    def marked_is_not_quoted(self, panel: Panel) -> None:
        for mark in ("data-aia-ignore", "data-aia-private"):
            kept = f"<p id=kept-{mark}>An open <b {mark}>secret</b></p>"
            panel.page.evaluate(SHOWN, kept)
            self.select(panel, "#content h1")
            panel.page.locator("#aia-quote").wait_for()
            self.select(panel, f"#kept-{mark}")
            panel.page.locator("#aia-quote").wait_for(state="detached")
            panel.page.keyboard.press("Alt+q")
            panel.page.wait_for_timeout(200)
            assert panel.input.input_value() == ""

    def marks_what_is_read(self, panel: Panel) -> None:
        panel.page.evaluate("getSelection().removeAllRanges()")
        panel.page.evaluate(SHOWN, MARKED)
        panel.input.focus()
        item = "#aia-context [data-item='browser.weather']"
        seen = panel.page.locator(item)
        panel.wait(lambda: seen.count() == 1, "the chip")
        assert seen.locator("pre").text_content() == "Sunny,"
        panel.page.get_by_role("button", name="What is new?").click()
        panel.wait(panel.asked, "the question")
        assert panel.asked()[0].strip() == "What is new today?"
        panel.wait_done()
