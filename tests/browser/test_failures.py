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
NOTHING_SAID = {
    "bad-request": "The model did not accept the request.",
    "too-long": "The conversation is too long for the model.",
    "refused": "The model's provider refused to answer this.",
    "bad-key": "The model did not accept the key of this site.",
    "no-access": "The key of this site may not use the model.",
    "no-model": "The model that this site asks for does not exist.",
    "rate-limited": "Try again in 60 minutes.",
    "down": "The model's provider reported an error.",
    "drop": "The model cannot be reached.",
    "empty": "The model ended without saying anything.",
    "not-json": "The model sent an invalid answer.",
}
HALF_SAID = {
    "cut": "The answer was cut off.",
    "abort": "The answer was cut off.",
    "error-event": "The model's provider reported an error.",
    "bad-utf8": "The model sent an invalid answer.",
    "malformed": "The model sent an invalid answer.",
}


def sentence(panel: Panel) -> str:
    """Return the sentence that stands at the end of the last answer."""
    return panel.log.locator(".aia-msg").last.locator(".aia-error").inner_text()


class TestFailure:
    @pytest.mark.row("V08")
    @pytest.mark.parametrize("script", NOTHING_SAID)
    def test_failure_has_its_own_sentence(self, panel: Panel, script: str) -> None:
        asked = f"My question. [[script:{script}]]"
        panel.ask_and_wait(asked)

        assert panel.state == "error"
        assert NOTHING_SAID[script] in sentence(panel)
        assert panel.asked() == [asked]
        for foreign in ("Traceback", "litellm", "OpenAI", "Exception", "<html"):
            assert foreign not in panel.log.inner_text()

    @pytest.mark.parametrize("script", HALF_SAID)
    def test_failure_keeps_half_an_answer(self, panel: Panel, script: str) -> None:
        panel.ask_and_wait(f"[[script:{script}]]")

        assert panel.state == "error"
        assert HALF_SAID[script] in sentence(panel)
        assert panel.answer().text.startswith("Half an ans")
        panel.page.reload()
        assert HALF_SAID[script] in sentence(panel)
        assert panel.answer().text.startswith("Half an ans")

    def test_failure_says_when_model_is_silent(self, panel: Panel) -> None:
        panel.ask("[[script:hang]]")
        panel.wait_state("thinking")

        panel.wait_done()
        assert "did not begin to answer in time" in sentence(panel)

    def test_failure_keeps_what_is_typed_meanwhile(self, panel: Panel) -> None:
        panel.ask("[[script:slow-failure]]")
        panel.wait_words(2)
        panel.type("My next thought")

        panel.wait_state("error")
        panel.reload()
        draft = panel.input.input_value
        panel.wait(lambda: draft() == "My next thought", "the draft")

    def test_failure_goes_away_with_retry(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:fails-once#retry]]")
        assert "The model's provider reported an error." in sentence(panel)
        panel.log.get_by_role("button", name="Retry").click()

        panel.wait_text("At last.")
        panel.wait_done()
        assert panel.state == "idle"
        assert panel.log.get_by_role("button", name="Retry").count() == 0

    def test_retry_after_reload(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:fails-once#reloaded]]")
        panel.reload()
        panel.log.get_by_role("button", name="Retry").click()

        panel.wait_text("At last.")
        panel.wait_done()

    def test_next_message_works(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:bad-key]]")
        answer = panel.ask_and_wait("[[script:hello]]")

        assert answer.text.strip() == "Hello there, how can this help you?"
        assert panel.state == "idle"


class TestScript:
    @pytest.mark.parametrize("is_open", [False, True])
    def test_script_that_cannot_be_had_is_told_and_tried_again(
        self, visit: Visit, server: DemoServer, *, is_open: bool
    ) -> None:
        """The launcher tells it; on the page no error is left that nobody catches."""
        panel = visit(server).panel()
        if not is_open:
            panel.page.evaluate("() => AIAssistant.close()")
        panel.page.route("**/ai_assistant/panel*.js", lambda route: route.abort())
        panel.page.reload()
        launcher = panel.page.locator("#aia-launcher")
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
    @pytest.mark.parametrize(
        ("tool", "arguments", "cause"),
        [
            ("fail", {}, "fail"),
            ("no_such_tool", {}, "no_such_tool"),
            ("echo", '{"text": "hel', ""),
            ("echo", {"words": "x"}, "text"),
            ("boom", {}, ""),
        ],
    )
    def test_call_that_fails_is_never_done(
        self,
        panel: Panel,
        model: ModelServerProcess,
        tool: str,
        arguments: object,
        cause: str,
    ) -> None:
        model.script("failing-call", [[call(tool, arguments)], [text("So it failed.")]])
        answer = panel.ask_and_wait("[[script:failing-call]]")

        assert panel.card(tool).get_attribute("data-status") == "failed"
        card = panel.card(tool).text_content()  # what was for the model is folded
        assert "Failed" in card
        assert cause in card
        assert "Traceback" not in card
        assert "division by zero" not in card
        assert answer.parts[-1].text.strip() == "So it failed."

    def test_call_of_many_at_once_is_limited(self, panel: Panel) -> None:
        answer = panel.ask_and_wait("[[script:many-calls count=200]]", seconds=60)

        assert panel.state in ("idle", "limited")
        assert not answer.busy
        assert panel.repeated_ids() == []
