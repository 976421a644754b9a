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


def decide(panel: Panel, posted: dict[str, str]) -> int:
    """Approve what `posted` names, past the panel; return the status."""
    cookies = {one["name"]: one["value"] for one in panel.page.context.cookies()}
    own = {"csrfmiddlewaretoken": cookies["csrftoken"], "decision": "approve"}
    answer = panel.page.request.post(
        f"{panel.url}/assistant/answer/",
        form={**posted, **own},
        headers={"Accept": "application/json", "Origin": panel.url},
    )
    return answer.status


class TestApproval:
    def test_approval_shows_what_is_asked_for(self, asked: Panel) -> None:
        assert asked.approval.count() == 1
        assert "a wish" in asked.approval.locator(".aia-diff").inner_text()
        assert statuses(asked.answer()) == ["waiting"]

    @pytest.mark.smoke
    def test_approve_carries_it_out(self, asked: Panel) -> None:
        asked.approve()

        assert_settled(asked, "complete")
        assert "Approved: a wish" in asked.card("needs_approval").inner_html()

    @pytest.mark.scenario(26)
    def test_approval_is_there_on_another_page(self, asked: Panel) -> None:
        asked.click_to("Questionnaires")
        asked.approve()

        assert_settled(asked, "complete")

    @pytest.mark.smoke
    def test_denial_reaches_the_model_with_its_reason(
        self, asked: Panel, model: ModelServerProcess
    ) -> None:
        asked.deny("The wish is too small.")

        assert_settled(asked, "denied")
        told = str(model.requests()[-1]["messages"])
        assert "The wish is too small." in told

    @pytest.mark.scenario(25)
    def test_another_message_denies_it(
        self, asked: Panel, model: ModelServerProcess
    ) -> None:
        asked.ask("Rather not. [[script:hello]]")

        answer = asked.wait_done()
        assert statuses(answer) == ["denied"]
        assert asked.approval.count() == 0
        assert "Rather not." in asked.log.inner_text()

    @pytest.mark.scenario(25)
    def test_approval_is_decided_once_in_two_tabs(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        first = visitor.panel()
        first.ask("[[script:approval]]")
        first.wait_state("waiting-approval")
        second = visitor.panel()
        second.approval.wait_for()
        first.approve()

        assert_settled(first, "complete")
        assert_settled(second, "complete")

    @pytest.mark.scenario(26)
    def test_approval_of_another_person_is_neither_shown_nor_taken(
        self, visit: Visit, server: DemoServer
    ) -> None:
        mine = visit(server).panel()
        mine.ask("[[script:approval]]")
        mine.wait_state("waiting-approval")
        form = mine.approval.locator("form").first
        posted: dict[str, str] = form.evaluate(
            "form => Object.fromEntries(new FormData(form))"
        )

        other = visit(server, "editor").panel()
        other.new_conversation()
        frames = f"{server.url}/assistant/frames/?conversation={mine.conversation}"
        assert mine.page.request.get(frames).status == 200
        assert other.page.request.get(frames).status == 404
        assert other.approval.count() == 0
        assert "a wish" not in other.page.content()
        assert decide(other, posted) == 404

        mine.page.reload()
        assert mine.state == "waiting-approval"
        assert decide(mine, posted) < 300
        assert_settled(mine, "complete")

    def test_destructive_one_says_so(self, panel: Panel) -> None:
        panel.ask("[[script:delete]]")
        panel.wait_state("waiting-approval")

        assert "question, deleted" in panel.approval.inner_text()
        panel.deny()
        assert_settled(panel, "denied")


class TestQuestion:
    @pytest.fixture
    def questioned(self, panel: Panel) -> Panel:
        panel.ask("[[script:question]]")
        panel.wait_state("waiting-answer")
        return panel

    def test_option_answers_it(self, questioned: Panel) -> None:
        questioned.question.get_by_role("button").first.click()
        questioned.wait_state("waiting-approval")
        questioned.approve()

        assert statuses(questioned.wait_done()) == ["complete"]
        assert questioned.question.count() == 0

    def test_free_text_answers_it(self, questioned: Panel) -> None:
        option = questioned.question.get_by_role("button").nth(1).inner_text()
        questioned.reply(option.rpartition(" (id")[0])
        questioned.wait_state("waiting-approval")
        questioned.approve()

        assert statuses(questioned.wait_done()) == ["complete"]
        assert questioned.question.count() == 0

    def test_question_keeps_what_is_typed_while_the_page_is_fed(
        self, questioned: Panel
    ) -> None:
        field = questioned.question.locator("input:not([type=hidden])")
        field.fill("half an ans")
        questioned.page.wait_for_timeout(2500)  # longer than a look at the rows

        assert field.input_value() == "half an ans"
        assert field.evaluate("node => node === document.activeElement")
        questioned.stop()
        questioned.wait_state("stopped")


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

    @pytest.mark.row("Q02", "Q04")
    def test_choice_after_a_reload(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        self.asked(panel, "ask-select").reload()
        assert "easy to see" in panel.question.inner_text()
        panel.choose("Green")

        assert statuses(panel.wait_done()) == ["complete"]
        assert self.told(model)["answer"] == "g"
        assert panel.question.count() == 0
        assert "Green" in panel.card("ask_user").inner_text()

    @pytest.mark.row("Q04", "Q05")
    def test_several_after_a_reload(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        self.asked(panel, "ask-several").reload()
        panel.question.get_by_label("Red").check()
        panel.question.get_by_label("Blue").check()
        panel.question.get_by_role("button", name="Answer").click()

        assert statuses(panel.wait_done()) == ["complete"]
        assert self.told(model)["answer"] == ["r", "b"]

    @pytest.mark.row("Q02")
    def test_wrong_answer_leaves_it_open(self, panel: Panel) -> None:
        self.asked(panel, "ask-several")
        panel.question.get_by_role("button", name="Answer").click()

        panel.page.get_by_text("Write an answer, or choose one.").wait_for()
        assert panel.question.count() == 1
        panel.stop()
        panel.wait_state("stopped")

    @pytest.mark.row("Q06")
    def test_skip(self, panel: Panel, model: ModelServerProcess) -> None:
        self.asked(panel, "ask-select")
        panel.choose("Skip")

        assert statuses(panel.wait_done()) == ["cancelled"]
        assert "Skipped" in panel.card("ask_user").inner_text()
        assert self.told(model)["error_type"] == "declined"

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

    def test_stop_works_after_reload(self, panel: Panel) -> None:
        panel.ask(self.LONG)
        panel.wait_words(8)
        panel.reload()
        panel.wait_words(8)
        panel.stop()

        panel.wait_state("stopped")
        assert not panel.wait_done().busy

    def test_stop_works_from_another_tab(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        first = visitor.panel()
        first.ask(self.LONG)
        first.wait_words(8)
        visitor.panel().stop()

        first.wait_state("stopped")

    def test_escape_stops(self, panel: Panel) -> None:
        panel.ask(self.LONG)
        panel.wait_words(3)
        panel.input.press("Escape")

        panel.wait_state("stopped")

    def test_stop_closes_the_stream_of_the_model(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask(self.LONG)
        panel.wait_words(3)
        panel.stop()

        panel.wait_state("stopped")
        panel.wait(lambda: model.log()[-1]["outcome"] == "closed", "a closed stream")

    def test_stop_stops_a_background_tool(self, panel: Panel) -> None:
        panel.ask("[[script:long-progress]]")
        panel.card("slow").locator("progress").wait_for()
        panel.stop()

        panel.wait_state("stopped")
        assert statuses(panel.wait_done()) == ["cancelled"]

    def test_stop_ends_an_approval(self, asked: Panel) -> None:
        asked.stop()

        asked.wait_state("stopped")
        assert asked.approval.count() == 0
        assert statuses(asked.wait_done()) == ["cancelled"]

    def test_conversation_goes_on_afterwards(self, panel: Panel) -> None:
        panel.ask(self.LONG)
        panel.wait_words(3)
        panel.stop()
        panel.wait_state("stopped")

        answer = panel.ask_and_wait("[[script:hello]]")
        assert answer.text.strip() == "Hello there, how can this help you?"
        assert panel.state == "idle"
