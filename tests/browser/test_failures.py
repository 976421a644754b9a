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
    @pytest.mark.scenario(34)
    @pytest.mark.row("V08")
    def test_failure_has_a_sentence_details_and_a_way_on(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        with subtests.test("a sentence, details for support, and the next message"):
            self.sentence_and_details(panel)
        panel.new_conversation()
        with subtests.test("a provider that refuses is no error"):
            panel.ask_and_wait("[[script:refused]]")
            assert panel.log.locator(".aia-error[data-refused]").count() == 1
        panel.new_conversation()
        with subtests.test("a limit of the model counts down"):
            panel.ask_and_wait("[[script:rate-limited]]")
            left = panel.log.locator("[data-left] b")
            panel.wait(lambda: left.count() and left.inner_text() > "59", "a countdown")
            assert panel.log.get_by_role("button", name="Retry").is_visible()

    def sentence_and_details(self, panel: Panel) -> None:
        asked = "My question. [[script:bad-key]]"
        run = panel.ask_and_wait(asked).run
        assert panel.state == "error"
        assert "The model did not accept the key of this site." in sentence(panel)
        assert panel.asked() == [asked]
        for foreign in ("Traceback", "litellm", "OpenAI", "Exception", "<html"):
            assert foreign not in panel.log.inner_text()

        panel.log.get_by_role("button", name="Copy details").click()
        shown = panel.log.get_by_text("Copied")
        said = panel.page.locator("#aia-say", has_text="Copied")  # stands longer
        shown.or_(said).first.wait_for(state="attached")
        copied = panel.page.evaluate("navigator.clipboard.readText()")
        assert f"id: {run}" in copied
        assert "code: bad_key" in copied
        assert "The model did not accept the key of this site." in copied

        answer = panel.ask_and_wait("[[script:hello]]")
        assert answer.text.strip() == "Hello there, how can this help you?"
        assert panel.state == "idle"

    def test_half_an_answer_and_what_is_typed_are_kept_and_retry_begins_anew(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("half an answer and what is typed"):
            panel.ask("[[script:held-failure]]")
            panel.wait_words(2)
            panel.type("My next thought")
            model.release("failure")
            panel.wait_done()
            assert panel.state == "error"
            half = "This takes a while and then ends badly."
            for _ in ("as it grew", "as it is drawn"):
                assert "The answer was cut off." in sentence(panel)
                assert panel.answer().text.startswith(half)
                panel.reload()
            draft = panel.input.input_value
            panel.wait(lambda: draft() == "My next thought", "the draft")

        panel.new_conversation()
        with subtests.test("retry"):
            panel.ask_and_wait("[[script:fails-once#reloaded]]")
            assert "The model's provider reported an error." in sentence(panel)
            panel.reload()
            panel.log.get_by_role("button", name="Retry").click()
            panel.wait_text("At last.")
            panel.wait_done()
            assert panel.state == "idle"
            assert panel.log.get_by_role("button", name="Retry").count() == 0

        panel.new_conversation()
        with subtests.test("calls that fail"):
            self.calls_that_fail(panel, model)
        panel.new_conversation()
        with subtests.test("two hundred calls at once"):
            answer = panel.ask_and_wait("[[script:many-calls count=200]]")
            assert panel.state in ("idle", "limited")
            assert not answer.busy
            assert panel.repeated_ids() == []

    def calls_that_fail(self, panel: Panel, model: ModelServerProcess) -> None:
        """Each card has failed, and says of what; for the model it is folded."""
        causes = {"fail": "fail", "no_such_tool": "no_such_tool", "echo": "text"}
        failing = [
            call("fail", {}),
            call("no_such_tool", {}, index=1),
            call("echo", {"words": "x"}, index=2),
            call("boom", {}, index=3),
        ]
        model.script("failing-calls", [failing, [text("So they failed.")]])
        answer = panel.ask_and_wait("[[script:failing-calls]]")
        for tool, cause in (causes | {"boom": ""}).items():
            assert panel.card(tool).get_attribute("data-status") == "failed", tool
            said = panel.card(tool).text_content() or ""
            assert "Failed" in said, tool
            assert cause in said, tool
            assert "Traceback" not in said, tool
            assert "division by zero" not in said, tool
        assert answer.parts[-1].text.strip() == "So they failed."


class TestScript:
    def test_script_that_cannot_be_had_is_told_and_tried_again(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        """The launcher tells it; on the page no error is left that nobody catches."""
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
