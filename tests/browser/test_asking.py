"""What waits for the person: approvals, questions; and stop, which never waits."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error

from tests.browser.panel import Entry, Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]


def statuses(answer: Entry) -> list[str]:
    return [part.status for part in answer.parts if part.kind == "tool"]


@pytest.fixture
def asked(panel: Panel) -> Panel:
    """A panel in which an approval is pending."""
    panel.ask("[[script:approval]]")
    panel.wait_state("waiting-approval")
    return panel


def assert_settled(panel: Panel, status: str) -> None:
    answer = panel.wait_done()
    assert statuses(answer) == [status]
    assert answer.parts[-1].text.strip() == "That is settled."
    assert panel.approval.count() == 0


class TestApproval:
    @pytest.mark.scenario(26)
    def test_approval_is_shown_on_another_page_too(self, asked: Panel) -> None:
        assert asked.approval.count() == 1
        assert "a wish" in asked.approval.locator(".aia-diff").inner_text()
        assert statuses(asked.answer()) == ["waiting"]

        asked.click_to("Questionnaires")
        asked.approve()
        assert_settled(asked, "complete")

    @pytest.mark.smoke
    def test_approve_carries_it_out(self, asked: Panel) -> None:
        asked.approve()

        assert_settled(asked, "complete")
        assert "Approved: a wish" in asked.card("needs_approval").inner_html()

    @pytest.mark.smoke
    def test_denial_reaches_the_model_with_its_reason(
        self, asked: Panel, model: ModelServerProcess
    ) -> None:
        asked.deny("The wish is too small.")

        assert_settled(asked, "denied")
        told = str(model.requests()[-1]["messages"])
        assert "The wish is too small." in told

    @pytest.mark.scenario(8)
    @pytest.mark.scenario(25)
    def test_another_message_or_stop_ends_it(
        self, asked: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("another message denies it"):
            asked.ask("Rather not. [[script:hello]]")
            answer = asked.wait_done()
            assert statuses(answer) == ["denied"]
            assert asked.approval.count() == 0
            assert "Rather not." in asked.log.inner_text()

        with subtests.test("a stop ends one that removes data, as it says"):
            asked.new_conversation()
            asked.ask("[[script:delete]]")
            asked.wait_state("waiting-approval")
            assert "question, deleted" in asked.approval.inner_text()
            asked.stop()
            asked.wait_state("stopped")
            assert asked.approval.count() == 0
            assert statuses(asked.wait_done()) == ["cancelled"]


class TestQuestion:
    def question(self, panel: Panel) -> Panel:
        panel.ask("[[script:question]]")
        panel.wait_state("waiting-answer")
        return panel

    def assert_answered(self, panel: Panel) -> None:
        panel.wait_state("waiting-approval")
        panel.approve()
        assert statuses(panel.wait_done()) == ["complete"]
        assert panel.question.count() == 0

    def test_option_and_free_text_answer_it(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("option"):
            self.question(panel).question.get_by_role("button").first.click()
            self.assert_answered(panel)

        with subtests.test("free text"):
            panel.new_conversation()
            buttons = self.question(panel).question.get_by_role("button")
            panel.reply(buttons.nth(1).inner_text().rpartition(" (id")[0])
            self.assert_answered(panel)

        with subtests.test("what is typed is kept while the page is fed"):
            panel.new_conversation()
            own = self.question(panel).question.locator("input[name=answer]")
            assert not own.is_visible()  # the composer is its field
            field = panel.input
            field.fill("half an ans")
            panel.page.wait_for_timeout(2500)  # longer than a look at the rows
            assert field.input_value() == "half an ans"
            assert field.evaluate("node => node === document.activeElement")
            panel.stop()
            panel.wait_state("stopped")


class TestAskUser:
    """The model's own question: of every kind, after a reload, and without script."""

    def asked(self, panel: Panel, script: str) -> Panel:
        panel.ask(f"[[script:{script}]]")
        panel.wait_state("waiting-answer")
        return panel

    def told(self, model: ModelServerProcess) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(
            model.requests()[-1]["messages"][-1]["content"]
        )
        return result

    @pytest.mark.row("Q02", "Q04", "Q06")
    def test_choice_after_a_reload_and_skip(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("choice after a reload"):
            self.asked(panel, "ask-select").reload()
            assert "easy to see" in panel.question.inner_text()
            panel.choose("Green")
            assert statuses(panel.wait_done()) == ["complete"]
            assert self.told(model)["answer"] == "g"
            assert panel.question.count() == 0
            assert "Green" in panel.card("ask_user").inner_text()

        with subtests.test("skip"):
            panel.new_conversation()
            self.asked(panel, "ask-select")
            panel.choose("Skip")
            assert statuses(panel.wait_done()) == ["cancelled"]
            assert "Skipped" in panel.card("ask_user").inner_text()
            assert self.told(model)["error_type"] == "declined"

    @pytest.mark.row("Q02", "Q04", "Q05")
    def test_wrong_answer_then_several_after_a_reload(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        self.asked(panel, "ask-several")
        panel.question.get_by_role("button", name="Answer").click()
        panel.page.get_by_text("Write an answer, or choose one.").wait_for()
        assert panel.question.count() == 1

        panel.reload()
        assert panel.state == "waiting-answer"
        panel.question.get_by_label("Red").check()
        panel.question.get_by_label("Blue").check()
        panel.question.get_by_role("button", name="Answer").click()
        assert statuses(panel.wait_done()) == ["complete"]
        assert self.told(model)["answer"] == ["r", "b"]

    @pytest.mark.row("Q03", "Q04")
    def test_first_of_two_tabs_wins(self, visit: Visit, server: DemoServer) -> None:
        visitor = visit(server)
        first = self.asked(visitor.panel(), "ask-confirm")
        second = visitor.panel()
        second.question.wait_for()
        first.choose("Yes")

        for tab in (first, second):
            assert statuses(tab.wait_done()) == ["complete"]
            assert tab.question.count() == 0

    @pytest.mark.row("Q02", "Q05")
    def test_no_without_javascript_reaches_the_model_as_false(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto("/admin/questionnaires/")
        tab.page.locator("#aia-launcher").click()
        with tab.page.expect_navigation():
            tab.ask("[[script:ask-confirm]]")
        wait_reloading(tab, "waiting-answer")
        with tab.page.expect_navigation():
            tab.choose("No")

        wait_reloading(tab, "idle")
        assert self.told(model)["answer"] is False


def wait_reloading(panel: Panel, state: str) -> None:
    """Reload, as a person without JavaScript does, until the panel is in that state."""

    def is_there() -> bool:
        with suppress(Error):  # the form's own navigation may still be under way
            panel.page.reload()
        return panel.state == state

    panel.wait(is_there, state)


@pytest.mark.scenario(8)
class TestStop:
    LONG = "[[script:stream tokens=400 rate=20]]"

    @pytest.mark.smoke
    def test_stop_keeps_what_was_said(self, panel: Panel) -> None:
        panel.ask(self.LONG)
        panel.wait_words(8)
        panel.stop()

        panel.wait_state("stopped")
        panel.wait_done()
        kept = panel.answer().text
        assert 8 <= len(kept.split()) < 400
        assert "Stopped" in panel.log.inner_text()
        panel.reload()
        assert panel.answer().text.split() == kept.split()
        assert panel.state == "stopped"

    def test_stop_after_reload_elsewhere_and_by_escape(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("after a reload; the stream of the model is closed"):
            panel.ask(self.LONG)
            panel.wait_words(8)
            panel.reload()
            panel.wait_words(8)
            panel.stop()
            panel.wait_state("stopped")
            assert not panel.wait_done().busy
            panel.wait(
                lambda: model.log()[-1]["outcome"] == "closed", "a closed stream"
            )

        with subtests.test("the conversation goes on afterwards"):
            answer = panel.ask_and_wait("[[script:hello]]")
            assert answer.text.strip() == "Hello there, how can this help you?"
            assert panel.state == "idle"

        with subtests.test("from another tab"):
            panel.new_conversation()
            panel.ask(self.LONG)
            panel.wait_words(8)
            regular.panel().stop()
            panel.wait_state("stopped")

        with subtests.test("by Escape"):
            panel.new_conversation()
            panel.ask(self.LONG)
            panel.wait_words(3)
            panel.input.press("Escape")
            panel.wait_state("stopped")

    def test_stop_stops_a_background_tool(self, panel: Panel) -> None:
        panel.ask("[[script:long-progress]]")
        panel.card("slow").locator("progress").wait_for()
        panel.stop()

        panel.wait_state("stopped")
        assert statuses(panel.wait_done()) == ["cancelled"]
