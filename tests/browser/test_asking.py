"""What waits for the person: approvals, questions; and stop, which never waits."""

import json
from typing import Any

import pytest

from tests.browser.panel import Entry, Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess


def statuses(answer: Entry) -> list[str]:
    return [part.status for part in answer.parts if part.kind == "tool"]


def propose(panel: Panel) -> None:
    panel.ask("[[script:approval]]")
    panel.wait_state("waiting-approval")


def assert_settled(panel: Panel, status: str) -> None:
    answer = panel.wait_done()
    assert statuses(answer) == [status]
    assert answer.parts[-1].text.strip() == "That is settled."
    assert panel.approval.count() == 0


class TestApproval:
    @pytest.mark.smoke
    @pytest.mark.scenario(26)
    def test_approval_on_another_page_is_carried_out_or_denied_with_its_reason(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        propose(panel)
        with subtests.test("approved on another page"):
            assert panel.approval.count() == 1
            assert "a wish" in panel.approval.locator(".aia-diff").inner_text()
            assert statuses(panel.answer()) == ["waiting"]
            panel.click_to("Questionnaires")
            panel.approve()
            assert_settled(panel, "complete")
            assert "Approved: a wish" in panel.card("needs_approval").inner_html()

        panel.new_conversation()
        propose(panel)
        with subtests.test("denied, with a reason for the model"):
            panel.deny("The wish is too small.")
            assert_settled(panel, "denied")
            told = str(model.requests()[-1]["messages"])
            assert "The wish is too small." in told

    @pytest.mark.scenario(8)
    @pytest.mark.scenario(25)
    def test_another_message_or_a_stop_ends_it(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        propose(panel)
        with subtests.test("another message denies it"):
            panel.ask("Rather not. [[script:hello]]")
            assert statuses(panel.wait_done()) == ["denied"]
            assert panel.approval.count() == 0
            assert "Rather not." in panel.log.inner_text()

        with subtests.test("a stop ends one that removes data, as it says"):
            panel.new_conversation()
            panel.ask("[[script:delete]]")
            panel.wait_state("waiting-approval")
            assert "question · deleted" in panel.approval.inner_text()
            panel.stop()
            panel.wait_state("stopped")
            assert panel.approval.count() == 0
            assert statuses(panel.wait_done()) == ["cancelled"]

        with subtests.test("a stop stops a tool in the background"):
            panel.new_conversation()
            panel.ask("[[script:long-progress]]")
            panel.card("slow").locator("progress").wait_for()
            panel.stop()
            panel.wait_state("stopped")
            assert statuses(panel.wait_done()) == ["cancelled"]


class TestQuestion:
    def test_option_and_free_text_answer_the_question_of_a_tool(
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

    def question(self, panel: Panel) -> Panel:
        panel.ask("[[script:question]]")
        panel.wait_state("waiting-answer")
        return panel

    def assert_answered(self, panel: Panel) -> None:
        panel.wait_state("waiting-approval")
        panel.approve()
        assert statuses(panel.wait_done()) == ["complete"]
        assert panel.question.count() == 0


class TestAskUser:
    """The model's own question: of every kind, and after a reload."""

    @pytest.mark.row("Q02", "Q03", "Q04", "Q05", "Q06")
    def test_question_of_the_model_is_answered_after_a_reload_skipped_or_in_two_tabs(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("skip"):
            self.asked(panel, "ask-select")
            panel.choose("Skip")
            assert statuses(panel.wait_done()) == ["cancelled"]
            assert "Skipped" in panel.card("ask_user").inner_text()
            assert self.told(model)["error_type"] == "declined"

        panel.new_conversation()
        with subtests.test("a choice after a reload, which is shown in both tabs"):
            self.choice_in_two_tabs(regular, panel, model)

        panel.new_conversation()
        with subtests.test("a wrong answer, then several after a reload"):
            self.wrong_then_several(panel, model)

    def choice_in_two_tabs(
        self, regular: Visitor, panel: Panel, model: ModelServerProcess
    ) -> None:
        self.asked(panel, "ask-select").reload()
        assert "easy to see" in panel.question.inner_text()
        other = regular.tab()
        other.goto()
        other.question.wait_for()
        panel.choose("Green")
        for tab in (panel, other):
            assert statuses(tab.wait_done()) == ["complete"]
            assert tab.question.count() == 0
        assert self.told(model)["answer"] == "g"
        assert "Green" in panel.card("ask_user").inner_text()
        other.page.close()

    def wrong_then_several(self, panel: Panel, model: ModelServerProcess) -> None:
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

    def asked(self, panel: Panel, script: str) -> Panel:
        panel.ask(f"[[script:{script}]]")
        panel.wait_state("waiting-answer")
        return panel

    def told(self, model: ModelServerProcess) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(
            model.requests()[-1]["messages"][-1]["content"]
        )
        return result


@pytest.mark.scenario(8)
class TestStop:
    LONG = "[[script:stream tokens=4000 rate=20]]"  # minutes: it is always stopped

    @pytest.mark.smoke
    def test_stop_keeps_what_was_said_also_after_a_reload_elsewhere_and_by_escape(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("after a reload; the stream of the model is closed"):
            self.begin(panel)
            panel.reload()
            panel.wait_words(8)
            panel.stop()
            panel.wait_state("stopped")
            kept = panel.wait_done().text
            assert 8 <= len(kept.split()) < 4000
            assert "Stopped" in panel.log.inner_text()
            panel.wait(
                lambda: model.log()[-1]["outcome"] == "closed", "a closed stream"
            )
            panel.reload()
            assert panel.answer().text.split() == kept.split()
            assert panel.state == "stopped"

        with subtests.test("the conversation goes on afterwards"):
            answer = panel.ask_and_wait("[[script:hello]]")
            assert answer.text.strip() == "Hello there, how can this help you?"
            assert panel.state == "idle"

        with subtests.test("by Escape"):
            panel.new_conversation()
            self.begin(panel)
            panel.input.press("Escape")
            panel.wait_state("stopped")

        with subtests.test("from another tab"):
            panel.new_conversation()
            self.begin(panel)
            regular.panel().stop()
            panel.wait_state("stopped")

    def begin(self, panel: Panel) -> None:
        panel.ask(self.LONG)
        panel.wait_words(8)
