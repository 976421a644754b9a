"""Messages written while an answer is under way: kept, in order, sent once."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess, scripts
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
HELD = "[[script:think]]"
LOOK = "[[script:look]]"
TOLD = "only 2025 [[script:told]]"
NEXT_STEP = "The assistant reads it in its next step."


def queue(panel: Panel) -> Locator:
    """Return the rows that the server has, without those still on their way to it."""
    return panel.page.locator("#aia-queue li:not(.aia-ghost)")


def texts(panel: Panel) -> list[str]:
    return [
        text.strip() for text in queue(panel).locator("span[dir]").all_inner_texts()
    ]


def asked(panel: Panel) -> list[str]:
    return [text.strip() for text in panel.asked()]


def runs_of(oracle: Oracle, conversation: str) -> list[dict[str, Any]]:
    wanted = UUID(conversation).hex
    return [
        run
        for run in oracle.runs()
        if str(run["conversation_id"]).replace("-", "") == wanted
    ]


def press(panel: Panel, place: int, how: str) -> None:
    queue(panel).nth(place).get_by_role("button", name=how).click()


def wait_for_them(panel: Panel, *later: str) -> None:
    """Ask something that is held, then write the others meanwhile."""
    panel.ask(HELD)
    panel.wait_state("thinking", "streaming", "tool")
    for number, text in enumerate(later, 1):
        panel.type(text)
        panel.input.press("Enter")
        panel.wait(lambda n=number: queue(panel).count() == n, "one more in the queue")


def write_beside_a_look(panel: Panel, model: ModelServerProcess) -> None:
    """Have a reply held before its call, and a message that waits meanwhile."""
    hold = {"op": "hold", "name": "look"}
    look = scripts.call("echo", {"text": "a look"})
    first = [scripts.text("First a look."), hold, look]
    model.script("look", [first, [scripts.text("Nobody has said more.")]])
    model.script("told", [[scripts.text("Only that year, then.")]])
    panel.ask(LOOK)
    panel.wait_words(3)
    panel.type(TOLD)
    panel.input.press("Enter")
    panel.wait(lambda: texts(panel) == [TOLD], "queued")


def tell_now(panel: Panel) -> None:
    press(panel, 0, "Send now")
    panel.wait(lambda: NEXT_STEP in panel.root.inner_text(), "what will be")


@pytest.mark.row("ui 33")
class TestSendNow:
    def test_send_now_is_read_in_the_next_step(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("on the same page, and after a reload"):
            write_beside_a_look(panel, model)
            tell_now(panel)
            assert queue(panel).get_by_role("button").count() == 0
            model.release("look")
            self.assert_read(panel)
            read = panel.answer().text
            panel.reload()
            assert asked(panel) == [LOOK, TOLD]
            for words in (read, panel.answer().text):
                assert "Only that year, then." in words
                assert "Nobody has said more." not in words

        with subtests.test("though the page was left"):
            panel.new_conversation()
            write_beside_a_look(panel, model)
            tell_now(panel)
            panel.click_to("Questionnaires")
            panel.wait(lambda: texts(panel) == [TOLD], "the queue on the next page")
            model.release("look")
            self.assert_read(panel)

    def assert_read(self, panel: Panel) -> None:
        panel.wait(lambda: asked(panel) == [LOOK, TOLD], "said within the answer")
        panel.wait_done(1)
        panel.wait(lambda: queue(panel).count() == 0, "out of the queue")

    def test_send_now_without_another_step_keeps_order(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        """The answer has no other step: they are sent after it, as the next ones."""
        wait_for_them(panel, "first", "second", "third")
        for place, later in ((1, "second"), (2, "third")):
            press(panel, place, "Send now")
            told = panel.page.locator("#aia-queue li[data-told]", has_text=later)
            told.wait_for()
        assert texts(panel) == ["second", "third", "first"]
        assert NEXT_STEP in panel.root.inner_text()
        model.release("thought")

        panel.wait(
            lambda: asked(panel) == [HELD, "second", "third", "first"], "in order"
        )
        panel.wait_done(4)
        assert queue(panel).count() == 0

    def test_send_now_says_why_it_is_not_taken(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask(HELD)
        panel.wait_state("thinking", "streaming", "tool")
        panel.page.locator("#aia-look").select_option("1")
        panel.type("first")
        panel.input.press("Enter")
        press(panel, 0, "Send now")

        panel.wait(lambda: "still working" in panel.root.inner_text(), "why")
        assert queue(panel).get_by_role("button").count() == 3
        panel.page.locator("#aia-look").select_option("")
        model.release("thought")
        panel.wait(lambda: asked(panel) == [HELD, "first"], "sent as the next one")
        panel.wait_done(2)
        assert "still working" not in panel.root.inner_text()

    def test_send_now_can_be_changed_again_after_a_stop(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        write_beside_a_look(panel, model)
        tell_now(panel)
        panel.stop()
        panel.wait_state("stopped")

        press(panel, 0, "Edit")
        panel.wait(lambda: panel.input.input_value() == TOLD, "the text again")
        assert asked(panel) == [LOOK]


class TestQueue:
    @pytest.mark.smoke
    def test_queue_can_be_changed(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        wait_for_them(panel, "first", "second", "third", "fourth")
        press(panel, 0, "Drop")
        panel.wait(lambda: texts(panel) == ["second", "third", "fourth"], "dropped")
        press(panel, 0, "Move down")
        panel.wait(lambda: texts(panel) == ["third", "second", "fourth"], "moved")
        press(panel, 2, "Send now")
        panel.wait(lambda: texts(panel) == ["fourth", "third", "second"], "first")
        press(panel, 1, "Edit")
        panel.wait(lambda: texts(panel) == ["fourth", "second"], "edited")
        # The list may come by the socket before the answer that fills the field.
        panel.wait(lambda: panel.input.input_value() == "third", "what is edited")
        model.release("thought")

        panel.wait(
            lambda: asked(panel) == [HELD, "fourth", "second"], "what was left of them"
        )
        panel.wait_done(3)
        assert panel.input.input_value() == "third"

    def test_queue_goes_on_without_a_page(
        self, panel: Panel, model: ModelServerProcess, oracle: Oracle
    ) -> None:
        wait_for_them(panel, "first", "second")
        conversation = panel.conversation
        panel.page.goto("about:blank")
        model.release("thought")

        oracle.wait(
            lambda: (
                [run["state"] for run in runs_of(oracle, conversation)]
                == ["succeeded"] * 3
            ),
            30,
            "all of them",
        )
        panel.goto()
        panel.wait(lambda: asked(panel) == [HELD, "first", "second"], "on arrival")
        panel.wait_done(3)

    def test_queue_of_two_tabs_is_sent_once(
        self, regular: Visitor, panel: Panel, model: ModelServerProcess
    ) -> None:
        wait_for_them(panel, "first", "second")
        assert panel.input.input_value() == ""
        assert asked(panel) == [HELD]
        panel.click_to("Questionnaires")
        two = regular.tab()
        two.goto()
        for tab in (panel, two):
            tab.wait(
                lambda tab=tab: texts(tab) == ["first", "second"],
                "the queue on the next page and in the other tab",
            )
        model.release("thought")

        for tab in (panel, two):
            tab.wait(
                lambda tab=tab: asked(tab) == [HELD, "first", "second"], "each once"
            )
            tab.wait_done(3)
            tab.wait(lambda tab=tab: queue(tab).count() == 0, "out of the queue")
        panel.page.wait_for_timeout(500)
        assert asked(panel) == asked(two) == [HELD, "first", "second"]

    def test_queue_waits_after_a_stop(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("until one is sent by hand"):
            wait_for_them(panel, "first")
            panel.stop()
            panel.wait_state("stopped")
            panel.wait(
                lambda: "Paused: the answer was stopped." in panel.root.inner_text(),
                "why",
            )
            assert asked(panel) == [HELD]
            press(panel, 0, "Send now")
            panel.wait(lambda: asked(panel) == [HELD, "first"], "sent by hand")
            panel.wait_done(2)

        with subtests.test("until it goes on"):
            panel.new_conversation()
            wait_for_them(panel, "first", "second")
            panel.stop()
            panel.wait_state("stopped")
            resume = panel.page.locator("#aia-queue").get_by_role(
                "button", name="Resume"
            )
            resume.click()
            panel.wait(lambda: asked(panel) == [HELD, "first", "second"], "both sent")
            panel.wait_done(3)

    def test_queue_waits_after_a_failure(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask("[[script:held-failure]]")
        panel.wait_words(2)
        panel.type("first")
        panel.input.press("Enter")
        panel.wait(lambda: texts(panel) == ["first"], "queued")
        model.release("failure")
        panel.wait_state("error")

        panel.wait(
            lambda: "Paused: the last answer failed." in panel.root.inner_text(), "why"
        )
        assert texts(panel) == ["first"]

    def test_message_sent_while_an_answer_breaks_stays(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        """It is answered, or waits in a queue that one can see; never in between."""
        breaks = [scripts.text("It begins."), {"op": "hold", "name": "cut"}]
        model.script("breaks", [[*breaks, {"op": "cut"}]])
        for wait_ms in (0, 30, 80, 160, 400):
            with subtests.test(wait_ms=wait_ms):
                panel.new_conversation()
                panel.ask("[[script:breaks]]")
                panel.wait_words(2)
                panel.type("And then? [[script:hello]]")
                model.release("cut")
                panel.page.wait_for_timeout(wait_ms)
                panel.input.press("Enter")
                panel.wait(
                    lambda: len(asked(panel)) == 2 or texts(panel) != [],
                    "where it has gone",
                )
                panel.wait(lambda: not panel.root.get_attribute("data-busy"), "an end")

                assert panel.input.input_value() == ""
                is_paused = "Paused" in panel.page.locator("#aia-queue").inner_text()
                assert is_paused == bool(texts(panel))

    def test_queue_shows_text_as_it_is(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        odd = ["<b>&amp;</b>", "%s {{ x }} \U0001f30d"]
        wait_for_them(panel, *odd)

        assert texts(panel) == odd
        press(panel, 0, "Drop")
        panel.wait(lambda: texts(panel) == odd[1:], "dropped")
        press(panel, 0, "Drop")
        model.release("thought")
        panel.wait_done()
