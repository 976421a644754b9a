"""Messages written while an answer is under way: kept, in order, sent once."""

from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess, scripts
from tests.servers.oracle import Oracle
from tests.thorough import share

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
    def test_send_now_is_read_in_the_next_step_though_the_page_was_left(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("it is read, and can be read after a reload"):
            write_beside_a_look(panel, model)
            tell_now(panel)
            assert queue(panel).get_by_role("button").count() == 0
            panel.click_to("Questionnaires")
            panel.wait(lambda: texts(panel) == [TOLD], "the queue on the next page")
            model.release("look")
            panel.wait(lambda: asked(panel) == [LOOK, TOLD], "said within the answer")
            panel.wait_done(1)
            panel.wait(lambda: queue(panel).count() == 0, "out of the queue")
            read = panel.answer().text
            panel.reload()
            assert asked(panel) == [LOOK, TOLD]
            for words in (read, panel.answer().text):
                assert "Only that year, then." in words
                assert "Nobody has said more." not in words

        panel.new_conversation()
        with subtests.test("after a stop it can be changed again"):
            write_beside_a_look(panel, model)
            tell_now(panel)
            panel.stop()
            panel.wait_state("stopped")
            press(panel, 0, "Edit")
            panel.wait(lambda: panel.input.input_value() == TOLD, "the text again")
            assert asked(panel) == [LOOK]
            model.release("look")  # which nobody waits for

        panel.type("")
        panel.new_conversation()
        with subtests.test("why it is not taken"):
            self.says_why_it_is_not_taken(panel, model)

    def says_why_it_is_not_taken(self, panel: Panel, model: ModelServerProcess) -> None:
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


class TestQueue:
    @pytest.mark.smoke
    def test_queue_is_changed_shown_in_two_tabs_and_sent_once_in_order(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        odd = "<b>&amp;</b> %s {{ x }} \U0001f30d"
        wait_for_them(panel, "first", "second", "third", odd)
        with subtests.test("each is shown as it is, dropped, moved, edited"):
            self.queue_is_changed(panel, odd)

        panel.click_to("Questionnaires")
        two = regular.tab()
        two.goto()
        for tab in (panel, two):
            tab.wait(
                lambda tab=tab: texts(tab) == [odd, "second"],
                "the queue on the next page and in the other tab",
            )
        with subtests.test("Send now without another step keeps their order"):
            press(panel, 1, "Send now")
            told = panel.page.locator("#aia-queue li[data-told]", has_text="second")
            told.wait_for()
            assert texts(panel) == [odd, "second"]
            assert NEXT_STEP in panel.root.inner_text()

        model.release("thought")
        for tab in (panel, two):
            with subtests.test("each is sent once", second=tab is two):
                tab.wait(
                    lambda tab=tab: asked(tab) == [HELD, odd, "second"], "each once"
                )
                tab.wait_done(3)
                tab.wait(lambda tab=tab: queue(tab).count() == 0, "out of the queue")
        panel.page.wait_for_timeout(300)
        assert asked(panel) == asked(two) == [HELD, odd, "second"]

    def queue_is_changed(self, panel: Panel, odd: str) -> None:
        assert texts(panel) == ["first", "second", "third", odd]
        press(panel, 0, "Drop")
        panel.wait(lambda: texts(panel) == ["second", "third", odd], "dropped")
        press(panel, 0, "Move down")
        panel.wait(lambda: texts(panel) == ["third", "second", odd], "moved")
        press(panel, 2, "Send now")
        panel.wait(lambda: texts(panel) == [odd, "third", "second"], "first")
        press(panel, 1, "Edit")
        panel.wait(lambda: texts(panel) == [odd, "second"], "edited")
        # The list may come by the socket before the answer that fills the field.
        panel.wait(lambda: panel.input.input_value() == "third", "what is edited")
        panel.type("")

    def test_queue_goes_on_without_a_page_and_waits_after_a_stop_or_a_failure(
        self,
        panel: Panel,
        model: ModelServerProcess,
        oracle: Oracle,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("after a stop, until one is sent by hand"):
            wait_for_them(panel, "first")
            panel.stop()
            panel.wait_state("stopped")
            panel.root.get_by_text("Paused: the answer was stopped.").first.wait_for()
            assert asked(panel) == [HELD]
            press(panel, 0, "Send now")
            panel.wait(lambda: asked(panel) == [HELD, "first"], "sent by hand")
            panel.wait_done(2)

        with subtests.test("after a stop, until it goes on"):
            panel.new_conversation()
            wait_for_them(panel, "first", "second")
            panel.stop()
            panel.wait_state("stopped")
            row = panel.page.locator("#aia-queue")
            row.get_by_role("button", name="Resume").click()
            panel.wait(lambda: asked(panel) == [HELD, "first", "second"], "both sent")
            panel.wait_done(3)

        with subtests.test("after a failure"):
            panel.new_conversation()
            self.waits_after_a_failure(panel, model)
        with subtests.test("without a page it goes on"):
            panel.new_conversation()
            self.goes_on_without_a_page(panel, model, oracle)

    def waits_after_a_failure(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:held-failure]]")
        panel.wait_words(2)
        panel.type("first")
        panel.input.press("Enter")
        panel.wait(lambda: texts(panel) == ["first"], "queued")
        model.release("failure")
        panel.wait_state("error")
        panel.root.get_by_text("Paused: the last answer failed.").first.wait_for()
        assert texts(panel) == ["first"]

    def goes_on_without_a_page(
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

    def test_message_sent_while_an_answer_breaks_stays(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        """It is answered, or waits in a queue that one can see; never in between."""
        breaks = [scripts.text("It begins."), {"op": "hold", "name": "cut"}]
        model.script("breaks", [[*breaks, {"op": "cut"}]])
        for wait_ms in share((0, 30, 80, 160, 400), every=2):
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
