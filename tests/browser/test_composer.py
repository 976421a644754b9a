"""Writing: keys, drafts, and what other parts of a page send."""

from collections.abc import Callable

import pytest
from playwright.sync_api import CDPSession

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"
LENGTH = "document.getElementById('aia-input').value.length"
ODD = "<script>alert(1)</script> & co\nlínea 🌍 שלום\n\n  kept %s {{ x }}"


class TestChoices:
    @pytest.mark.row("ui 43", "H02")
    def test_the_chosen_agent_answers_and_stays(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        model.clear()
        panel.ask_and_wait(HELLO)
        agents = panel.page.get_by_label("Agent that answers")
        agents.select_option("Analyst")
        panel.ask_and_wait(HELLO)
        panel.reload()

        assert agents.input_value() == "analyst"
        assert panel.page.locator("#aia-log h3").last.inner_text() == "Analyst"
        first, second = (r["messages"][0]["content"] for r in model.requests()[:2])
        assert "You are asked for numbers." not in first
        assert "You are asked for numbers." in second


class TestKeys:
    @pytest.mark.smoke
    @pytest.mark.scenario(35)
    def test_enter_sends_unless_it_means_something_else(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("an input method takes Enter as its own"):
            self.input_method_takes_enter(panel)
        panel.new_conversation()
        with subtests.test("Shift+Enter begins a line, Enter sends"):
            panel.type("first")
            panel.input.press("Shift+Enter")
            panel.input.press_sequentially(HELLO)
            assert panel.input.input_value() == f"first\n{HELLO}"
            assert panel.asked() == []
            panel.input.press("Enter")
            panel.wait_done()
            assert panel.asked() == [f"first\n{HELLO}"]
            assert panel.input.input_value() == ""

        panel.new_conversation()
        with subtests.test("where Enter begins a line, Ctrl+Enter sends"):
            self.control_enter_sends(panel)
        panel.new_conversation()
        with subtests.test("Ctrl+Up brings back what was asked"):
            self.control_up_brings_back(panel)

    def input_method_takes_enter(self, panel: Panel) -> None:
        """It picks a word."""
        panel.input.focus()
        keys = panel.page.context.new_cdp_session(panel.page)
        keys.send(
            "Input.imeSetComposition",
            {"text": "にほん", "selectionStart": 3, "selectionEnd": 3},
        )
        _press_enter(keys, code=229)
        keys.send("Input.insertText", {"text": "日本"})
        panel.page.wait_for_timeout(200)
        assert panel.asked() == []
        assert panel.input.input_value() == "日本"
        panel.input.press_sequentially(f" {HELLO}")
        _press_enter(keys, code=13)
        panel.wait_done()
        assert panel.asked() == [f"日本 {HELLO}"]

    def control_enter_sends(self, panel: Panel) -> None:
        hint = panel.page.locator(".aia-hint")
        said = "node => getComputedStyle(node, '::after').content"
        assert hint.evaluate(said) == '"Enter sends"'
        panel.root.evaluate("node => { node.dataset.enter = 'ctrl' }")
        assert hint.evaluate(said) == '"Ctrl+Enter sends"'
        panel.type("first")
        panel.input.press("Enter")
        panel.input.press_sequentially(HELLO)
        panel.page.wait_for_timeout(200)
        assert panel.asked() == []
        panel.input.press("Control+Enter")
        panel.wait_done()
        assert panel.asked()[0].strip() == f"first\n{HELLO}"
        panel.root.evaluate("node => { delete node.dataset.enter }")

    def control_up_brings_back(self, panel: Panel) -> None:
        one, two = f"{HELLO} one", f"{HELLO} two"
        for text in (one, two):
            panel.ask_and_wait(text)
        for wanted in (two, one):
            panel.input.press("Control+ArrowUp")
            panel.wait(lambda text=wanted: panel.input.input_value() == text, wanted)
        panel.input.evaluate("node => node.setSelectionRange(99, 99)")
        panel.input.press("ArrowDown")
        panel.wait(lambda: panel.input.input_value() == two, "forward")
        panel.input.press_sequentially(" changed")
        panel.input.press("Home")
        panel.input.press("ArrowUp")
        panel.page.wait_for_timeout(200)
        assert panel.input.input_value() == f"{two} changed"


class TestDraft:
    def test_draft_is_kept_over_pages_by_conversation_and_while_an_answer_grows(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        draft = panel.input.input_value
        with subtests.test("over pages"):
            panel.type("half a thought")
            panel.click_to("Questionnaires")
            panel.wait(lambda: draft() == "half a thought", "the draft")

        with subtests.test("by conversation"):
            panel.ask_and_wait(HELLO)
            panel.type("for the first")
            first = panel.conversation
            panel.new_conversation()
            assert draft() == ""
            panel.type("for the second")
            panel.open_conversation(first)
            panel.wait(lambda: draft() == "for the first", "the draft")

        with subtests.test("while an answer grows"):
            panel.new_conversation()
            panel.ask("[[script:stream tokens=60 rate=20]]")
            panel.wait_words(3)
            panel.input.press_sequentially("meanwhile")
            panel.wait_words(12)
            assert draft() == "meanwhile"
            panel.wait_done()
            assert draft() == "meanwhile"
            assert len(panel.asked()) == 1


class TestBadMessage:
    @pytest.mark.scenario(36)
    def test_empty_bad_and_long_ones_stay_and_odd_ones_are_shown(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        with subtests.test("an empty one"):
            panel.type("  \n ")
            panel.input.press("Enter")
            panel.page.wait_for_timeout(200)
            assert panel.asked() == []
            assert panel.state == "idle"

        with subtests.test("one with characters that are no text"):
            panel.type("bell \x07 rings")
            panel.input.press("Enter")
            panel.root.get_by_text("characters that are not text").first.wait_for()
            assert panel.input.input_value() == "bell \x07 rings"
            assert panel.asked() == []

        with subtests.test("an odd one"):
            panel.ask_and_wait(ODD)
            assert panel.asked() == [ODD]
            panel.reload()
            assert panel.asked() == [ODD]

        for chars in (20_000, 2_000_000):
            with subtests.test("a long paste freezes nothing", chars=chars):
                self.paste(panel, chars)
        with subtests.test("what is too long is said"):
            panel.page.keyboard.press("Enter")
            long = "Shorten it by this many characters: 1900002."
            panel.root.get_by_text(long).first.wait_for()
            assert panel.page.evaluate(LENGTH) == 2_000_002
            panel.page.keyboard.press("Control+a")
            panel.page.keyboard.press("Delete")

    def paste(self, panel: Panel, chars: int) -> None:
        write = "chars => navigator.clipboard.writeText('word '.repeat(chars / 5))"
        panel.input.focus()
        panel.page.keyboard.press("Control+a")
        panel.page.evaluate(write, chars)
        panel.page.keyboard.press("Control+v")
        panel.wait(lambda: panel.page.evaluate(LENGTH) == chars, "the text")
        # Each key is a task of its own: its time is what a person waits for.
        panel.page.keyboard.press("x")
        panel.page.keyboard.press("y")
        assert panel.page.evaluate(LENGTH) == chars + 2


class TestPage:
    def test_page_hears_and_sends_by_call_and_attribute(self, panel: Panel) -> None:
        panel.page.evaluate(
            """() => {
              window.heard = [];
              for (const name of ["send", "message-done"])
                AIAssistant.on(name, () => heard.push(name));
            }"""
        )
        panel.ask_and_wait(HELLO)

        panel.wait(lambda: len(panel.page.evaluate("heard")) >= 2, "events")
        assert panel.page.evaluate("heard") == ["send", "message-done"]

        panel.page.evaluate(f"AIAssistant.send('{HELLO}')")

        panel.wait_done(2)
        assert panel.asked() == [HELLO] * 2

        panel.page.locator("#aia-close").click()
        panel.wait_state("closed")
        panel.goto()
        panel.page.evaluate(
            """text => {
              const button = document.createElement("button");
              button.dataset.aiaAsk = text;
              button.textContent = "Ask";
              document.querySelector("#content").prepend(button);
            }""",
            HELLO,
        )
        panel.page.get_by_role("button", name="Ask", exact=True).click()

        panel.wait_done(3)
        assert panel.asked() == [HELLO] * 3


def _press_enter(keys: CDPSession, *, code: int) -> None:
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": code}
    keys.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    if code == 13:
        keys.send("Input.dispatchKeyEvent", {"type": "char", **key, "text": "\r"})
    keys.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})
