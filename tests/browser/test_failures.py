"""Each failure of the model has its own sentence, keeps all, and has a way on."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]


def sentence(panel: Panel) -> str:
    """Return the sentence that stands at the end of the last answer."""
    return panel.log.locator(".aia-msg").last.locator(".aia-error").inner_text()


class TestFailure:
    @pytest.mark.row("V08")
    def test_failure_has_a_sentence_and_next_message_works(self, panel: Panel) -> None:
        asked = "My question. [[script:bad-key]]"
        panel.ask_and_wait(asked)

        assert panel.state == "error"
        assert "The model did not accept the key of this site." in sentence(panel)
        assert panel.asked() == [asked]
        for foreign in ("Traceback", "litellm", "OpenAI", "Exception", "<html"):
            assert foreign not in panel.log.inner_text()

        answer = panel.ask_and_wait("[[script:hello]]")

        assert answer.text.strip() == "Hello there, how can this help you?"
        assert panel.state == "idle"

    def test_failure_keeps_half_answer_and_what_is_typed(self, panel: Panel) -> None:
        panel.ask("[[script:slow-failure]]")
        panel.wait_words(2)
        panel.type("My next thought")

        panel.wait_done()
        assert panel.state == "error"
        half = "This takes a while and then ends badly."
        for _ in ("as it grew", "as it is drawn"):
            assert "The answer was cut off." in sentence(panel)
            assert panel.answer().text.startswith(half)
            panel.reload()
        draft = panel.input.input_value
        panel.wait(lambda: draft() == "My next thought", "the draft")

    def test_failure_says_when_model_is_silent(self, panel: Panel) -> None:
        panel.ask("[[script:hang]]")
        panel.wait_state("thinking")

        panel.wait_done()
        assert "did not begin to answer in time" in sentence(panel)

    def test_failure_goes_away_with_retry(self, panel: Panel) -> None:
        for tag in ("retry", "reloaded"):
            if tag == "reloaded":
                panel.new_conversation()
            panel.ask_and_wait(f"[[script:fails-once#{tag}]]")
            assert "The model's provider reported an error." in sentence(panel)
            if tag == "reloaded":
                panel.reload()
            panel.log.get_by_role("button", name="Retry").click()

            panel.wait_text("At last.")
            panel.wait_done()
            assert panel.state == "idle"
            assert panel.log.get_by_role("button", name="Retry").count() == 0


class TestScript:
    def test_script_that_cannot_be_had_is_told_and_tried_again(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        """The launcher tells it; on the page no error is left that nobody catches."""
        panel = visit(server).panel()
        panel.page.evaluate("() => AIAssistant.close()")
        launcher = panel.page.locator("#aia-launcher")
        for is_open in (False, True):  # the panel, as the page is loaded
            with subtests.test(is_open=is_open):
                panel.page.route(
                    "**/ai_assistant/panel*.js", lambda route: route.abort()
                )
                panel.page.reload()
                if not is_open:
                    launcher.click()
                said = "The assistant could not be loaded."
                expect(launcher).to_have_attribute("data-trouble", re.compile(said))
                panel.page.wait_for_timeout(200)  # an error would come by now

                panel.page.unroute_all()
                panel.page.evaluate("() => AIAssistant.open()")
                panel.input.wait_for()
                expect(launcher).not_to_have_attribute("data-trouble", re.compile("."))


class TestCall:
    CALLS: tuple[tuple[str, object, str], ...] = (
        ("fail", {}, "fail"),
        ("no_such_tool", {}, "no_such_tool"),
        ("echo", '{"text": "hel', ""),
        ("echo", {"words": "x"}, "text"),
        ("boom", {}, ""),
    )

    def test_call_that_fails_is_never_done_many_limited(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        for tool, arguments, cause in self.CALLS:
            with subtests.test(tool=tool, arguments=str(arguments)):
                steps = [[call(tool, arguments)], [text("So it failed.")]]
                model.script("failing-call", steps)
                answer = panel.ask_and_wait("[[script:failing-call]]")

                assert panel.card(tool).get_attribute("data-status") == "failed"
                card = panel.card(tool).text_content()  # for the model it is folded
                assert card is not None
                assert "Failed" in card
                assert cause in card
                assert "Traceback" not in card
                assert "division by zero" not in card
                assert answer.parts[-1].text.strip() == "So it failed."
            panel.new_conversation()

        with subtests.test("many"):
            answer = panel.ask_and_wait("[[script:many-calls count=200]]")

            assert panel.state in ("idle", "limited")
            assert not answer.busy
            assert panel.repeated_ids() == []
