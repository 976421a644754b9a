"""Writing: keys, drafts, and what other parts of a page send."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import CDPSession

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"
ODD = "<script>alert(1)</script> & co\nlínea 🌍 שלום\n\n  kept %s {{ x }}"


@pytest.mark.row("ui 43")
class TestModels:
    def test_the_chosen_one_answers(
        self,
        visit: Visit,
        own_server: Callable[..., DemoServer],
        model: ModelServerProcess,
    ) -> None:
        one = {"API_BASE": model.base, "API_KEY_ENV": "ASSISTANT_API_KEY"}
        own = {
            "default": {**one, "MODEL": "openai/small"},
            "large": {**one, "MODEL": "openai/large", "LABEL": "Large"},
        }
        env = {"TESTS_SETTINGS": json.dumps({"PROFILES": own, "TITLES": False})}
        panel = visit(own_server(env=env)).panel()
        model.clear()
        panel.ask_and_wait(HELLO)
        models = panel.page.get_by_label("Model that answers")
        models.select_option("Large")
        panel.ask_and_wait(HELLO)
        panel.reload()

        assert models.input_value() == "large"
        panel.ask_and_wait(HELLO)
        asked = [request["model"] for request in model.requests()]
        assert asked == ["small", "large", "large"]


class TestAgents:
    @pytest.mark.row("H02")
    def test_the_chosen_one_answers_and_stays(
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
    def test_enter_sends(self, panel: Panel) -> None:
        panel.type(HELLO)
        panel.input.press("Enter")

        panel.wait_done()
        assert panel.asked() == [HELLO]
        assert panel.input.input_value() == ""

    @pytest.mark.scenario(35)
    def test_enter_that_means_something_else_sends_nothing(self, panel: Panel) -> None:
        """An input method takes Enter as its own: it picks a word."""
        panel.input.focus()
        keys = panel.page.context.new_cdp_session(panel.page)
        keys.send(
            "Input.imeSetComposition",
            {"text": "にほん", "selectionStart": 3, "selectionEnd": 3},
        )
        _press_enter(keys, code=229)
        keys.send("Input.insertText", {"text": "日本"})
        panel.page.wait_for_timeout(300)

        assert panel.asked() == []
        assert panel.input.input_value() == "日本"
        panel.input.press_sequentially(f" {HELLO}")
        _press_enter(keys, code=13)
        panel.wait_done()
        assert panel.asked() == [f"日本 {HELLO}"]

        panel.new_conversation()
        panel.type("first")
        panel.input.press("Shift+Enter")
        panel.input.press_sequentially(HELLO)
        assert panel.input.input_value() == f"first\n{HELLO}"
        assert panel.asked() == []
        panel.input.press("Enter")

        panel.wait_done()
        assert panel.asked() == [f"first\n{HELLO}"]

        panel.new_conversation()
        hint = panel.page.locator(".aia-hint")
        said = "node => getComputedStyle(node, '::after').content"
        assert hint.evaluate(said) == '"Enter sends"'
        panel.root.evaluate("node => { node.dataset.enter = 'ctrl' }")
        assert hint.evaluate(said) == '"Ctrl+Enter sends"'
        panel.type("first")
        panel.input.press("Enter")
        panel.input.press_sequentially(HELLO)
        panel.page.wait_for_timeout(300)
        assert panel.asked() == []
        panel.input.press("Control+Enter")

        panel.wait_done()
        assert panel.asked()[0].strip() == f"first\n{HELLO}"

    def test_control_up_brings_back_what_was_asked(self, panel: Panel) -> None:
        for text in ("[[script:hello]] one", "[[script:hello]] two"):
            panel.ask_and_wait(text)
        for wanted in ("[[script:hello]] two", "[[script:hello]] one"):
            panel.input.press("Control+ArrowUp")
            panel.wait(lambda text=wanted: panel.input.input_value() == text, wanted)
        panel.input.evaluate("node => node.setSelectionRange(99, 99)")
        panel.input.press("ArrowDown")
        panel.wait(
            lambda: panel.input.input_value() == "[[script:hello]] two", "forward"
        )
        panel.input.press_sequentially(" changed")
        panel.input.press("Home")
        panel.input.press("ArrowUp")

        panel.page.wait_for_timeout(200)
        assert panel.input.input_value() == "[[script:hello]] two changed"

    def test_whole_way_without_mouse(self, visit: Visit, server: DemoServer) -> None:
        tab = visit(server).tab()
        tab.goto()
        tab.page.locator("#aia-launcher").focus()
        tab.page.keyboard.press("Enter")
        tab.input.wait_for()
        tab.wait(
            lambda: tab.input.evaluate("node => node === document.activeElement"),
            "focus in the composer",
        )
        tab.page.keyboard.type("[[script:approval]]")
        tab.page.keyboard.press("Enter")
        tab.wait_state("waiting-approval")
        tab.page.locator("[data-aia-approve]").focus()
        tab.page.keyboard.press("Enter")
        tab.wait_done()
        tab.page.locator("#aia-close").focus()
        tab.page.keyboard.press("Enter")

        tab.wait_state("closed")
        assert tab.page.evaluate("document.activeElement.id") == "aia-launcher"


class TestDraft:
    def test_draft_is_kept_over_pages(self, panel: Panel) -> None:
        panel.type("half a thought")
        panel.click_to("Questionnaires")

        panel.wait(lambda: panel.input.input_value() == "half a thought", "the draft")

    def test_draft_is_kept_by_conversation(self, panel: Panel) -> None:
        panel.ask_and_wait(HELLO)
        panel.type("for the first")
        first = panel.conversation
        panel.new_conversation()
        assert panel.input.input_value() == ""
        panel.type("for the second")
        panel.open_conversation(first)

        panel.wait(lambda: panel.input.input_value() == "for the first", "the draft")

    def test_draft_may_be_written_while_an_answer_grows(self, panel: Panel) -> None:
        panel.ask("[[script:stream tokens=60 rate=20]]")
        panel.wait_words(3)
        panel.input.press_sequentially("meanwhile")
        panel.wait_words(12)

        assert panel.input.input_value() == "meanwhile"
        panel.wait_done()
        assert panel.input.input_value() == "meanwhile"
        assert len(panel.asked()) == 1


class TestBadMessage:
    @pytest.mark.scenario(36)
    def test_long_paste_stays_and_freezes_nothing(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        write = "chars => navigator.clipboard.writeText('word '.repeat(chars / 5))"
        length = "document.getElementById('aia-input').value.length"
        for chars in (20_000, 2_000_000):
            with subtests.test(chars=chars):
                panel.input.focus()
                panel.page.evaluate(write, chars)
                panel.page.keyboard.press("Control+v")
                panel.wait(
                    lambda chars=chars: panel.page.evaluate(length) == chars, "the text"
                )
                # Each key is a task of its own: its time is what a person waits for.
                panel.page.keyboard.press("x")
                panel.page.keyboard.press("y")

                assert panel.page.evaluate(length) == chars + 2
                if chars > 100_000:
                    panel.page.keyboard.press("Enter")
                    long = "Shorten it by this many characters: 1900002."
                    panel.wait(
                        lambda long=long: long in panel.root.inner_text(),
                        "the sentence",
                    )
                    assert panel.page.evaluate(length) == chars + 2
            panel.page.keyboard.press("Control+a")
            panel.page.keyboard.press("Delete")

    def test_empty_or_bad_stays_and_odd_is_shown(self, panel: Panel) -> None:
        panel.type("  \n ")
        panel.input.press("Enter")
        panel.page.wait_for_timeout(300)

        assert panel.asked() == []
        assert panel.state == "idle"

        panel.type("bell \x07 rings")
        panel.input.press("Enter")

        panel.wait(
            lambda: "characters that are not text" in panel.root.inner_text(),
            "the sentence",
        )
        assert panel.input.input_value() == "bell \x07 rings"
        assert panel.asked() == []

        panel.ask_and_wait(ODD)

        assert panel.asked() == [ODD]
        panel.page.reload()
        assert panel.asked() == [ODD]


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
