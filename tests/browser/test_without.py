"""Without JavaScript, and without websockets."""

import json
from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.proxy import Proxy

Visit = Callable[..., Visitor]

# What is seen of the panel and does nothing of itself: no form sends it, it leads nowhere.
NEEDS_A_SCRIPT = """() => [...document.querySelectorAll("#aia :is(button, a, input, select)")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => one.type !== "hidden")
  .filter((one) => one.matches("a")
    ? ["", "#", null].includes(one.getAttribute("href"))
    : !one.popoverTargetElement && (!one.form || one.type === "button"))
  .map((one) => one.outerHTML.slice(0, 200))"""


def ask(plain: Panel, text: str, *states: str) -> None:
    """Send a message by the form, and wait until the panel is in such a state."""
    with plain.page.expect_navigation():
        plain.ask(text)
    plain.reload_until(*states)


def click(plain: Panel, role: str, name: str) -> None:
    """Follow a link of the panel, or press a button of a form."""
    with plain.page.expect_navigation():
        plain.page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]


@pytest.mark.scenario(24)
class TestWithoutJavaScript:
    @pytest.fixture
    def plain(self, visit: Visit, server: DemoServer) -> Panel:
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto("/admin/questionnaires/")
        tab.page.locator("#aia-launcher").click()
        tab.input.wait_for()
        return tab

    @pytest.mark.smoke
    def test_message_is_answered_and_the_list_leads_back_to_it(
        self, plain: Panel, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("it is answered"):
            ask(plain, "A matter [[script:hello]]", "idle")
            assert "Hello there, how can this help you?" in plain.log.inner_text()
            assert plain.log.inner_text().count("[[script:hello]]") == 1

        with subtests.test("on the assistant's own page the list stands at the left"):
            click(plain, "button", "New conversation")
            assert "A matter" not in plain.log.inner_text()
            click(plain, "link", "A matter")
            assert "Hello there" in plain.log.inner_text()

        with subtests.test("without the room for that, it is a page of its own"):
            click(plain, "button", "New conversation")
            plain.page.set_viewport_size({"width": 390, "height": 780})
            click(plain, "link", "Conversations")
            click(plain, "link", "A matter")
            assert "Hello there" in plain.log.inner_text()

    @pytest.mark.row("Q02", "Q05")
    def test_conversation_is_denied_answered_queued_stopped_and_tried_again(
        self, plain: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("a refusal is a page with a way back"):
            with plain.page.expect_navigation():
                plain.ask(" ")
            assert "Write a message first." in plain.page.inner_text("body")
            click(plain, "link", "Go back")
            assert plain.input.is_visible()

        with subtests.test("denied with a reason"):
            ask(plain, "[[script:approval]]", "waiting-approval")
            with plain.page.expect_navigation():
                plain.deny("Not today")
            plain.reload_until("idle")
            status = plain.card("needs_approval").get_attribute("data-status")
            assert status == "denied"

        plain.goto("/admin/questionnaires/")
        with subtests.test("it goes on in the admin: questions are answered"):
            self.questions_are_answered(plain, model)
        with subtests.test("a message waits, and goes on after a stop"):
            self.message_waits_and_goes_on(plain)
        with subtests.test("a failed answer is tried again"):
            self.failed_answer_is_tried_again(plain)

    def test_no_control_is_seen_that_needs_a_script(
        self, plain: Panel, subtests: pytest.Subtests
    ) -> None:
        says = (
            ("an answer with code and what can be done with it", "report", "idle"),
            ("an approval", "approval", "waiting-approval"),
            ("a question that takes its place", "ask-several", "waiting-answer"),
            ("an answer under way", "hang-after-text", "streaming"),
        )
        with subtests.test("an empty panel"):
            assert plain.page.evaluate(NEEDS_A_SCRIPT) == []
        for what, script, state in says:
            with subtests.test(what):
                ask(plain, f"[[script:{script}]]", state)
                assert plain.page.evaluate(NEEDS_A_SCRIPT) == []
        with subtests.test("a message that waits for its end"):
            with plain.page.expect_navigation():
                plain.ask("[[script:hello]]")
            plain.page.locator("#aia-queue li").wait_for()
            assert plain.page.evaluate(NEEDS_A_SCRIPT) == []
        with plain.page.expect_navigation():
            plain.stop()

    def questions_are_answered(self, plain: Panel, model: ModelServerProcess) -> None:
        ask(plain, "[[script:ask-confirm]]", "waiting-answer")
        with plain.page.expect_navigation():
            plain.choose("No")
        plain.reload_until("idle")
        assert self.told(model) is False
        assert "/admin/questionnaires/" in plain.page.url

        ask(plain, "[[script:ask-several]]", "waiting-answer")
        plain.question.get_by_label("Red").check()
        plain.question.get_by_label("Green").check()
        with plain.page.expect_navigation():
            plain.question.locator("button[type=submit]").first.click()
        plain.reload_until("idle")
        assert "That was the question." in plain.log.inner_text()
        assert plain.question.count() == 0
        assert self.told(model) == ["r", "g"]

    def told(self, model: ModelServerProcess) -> object:
        """Return what the model has been told of the last answer."""
        return json.loads(model.requests()[-1]["messages"][-1]["content"])["answer"]

    def message_waits_and_goes_on(self, plain: Panel) -> None:
        queue = plain.page.locator("#aia-queue")
        for said in ("[[script:endless]]", "Go on", "[[script:hello]]"):
            with plain.page.expect_navigation():
                plain.ask(said)
        assert queue.get_by_role("listitem").count() == 2
        assert queue.get_by_role("button", name="Edit").count() == 0
        with plain.page.expect_navigation():
            queue.get_by_role("button", name="Drop").first.click()
        plain.reload_until("streaming")
        with plain.page.expect_navigation():
            plain.stop()
        plain.reload_until("stopped")
        assert "Stopped" in plain.log.inner_text()
        assert "Paused: the answer was stopped." in queue.inner_text()

        with plain.page.expect_navigation():
            queue.get_by_role("button", name="Resume").click()
        plain.reload_until("idle")
        assert "Hello there" in plain.log.inner_text()
        assert "Go on" not in plain.log.inner_text()

    def failed_answer_is_tried_again(self, plain: Panel) -> None:
        click(plain, "button", "New conversation")
        ask(plain, "[[script:slow-failure]]", "error")
        answer = plain.log.locator(".aia-msg[data-role=assistant]")
        first = answer.get_attribute("data-run-id")
        with plain.page.expect_navigation():
            plain.log.get_by_role("button", name="Retry").click()
        assert plain.page.url.endswith("#aia")

        # The new try stands in the place of the first one, which is kept beside it.
        plain.page.wait_for_timeout(300)
        plain.reload_until("error")
        assert answer.count() == 1
        assert answer.get_attribute("data-run-id") != first
        with plain.page.expect_navigation():
            plain.log.get_by_role("button", name="Previous version").click()
        assert answer.get_attribute("data-run-id") == first


@pytest.mark.scenario(24)
def test_answer_and_approval_come_by_polling(visit: Visit, server: DemoServer) -> None:
    with Proxy(server.port) as proxy:
        proxy.refuses_sockets = True
        polling = visit(server, url=proxy.url).panel()
        polling.ask("[[script:quick-report]]")
        answer = polling.wait_done()
        assert answer.text.strip().endswith("the report ends here.")
        assert polling.asked() == ["[[script:quick-report]]"]
        assert polling.repeated_ids() == []

        polling.ask("[[script:approval]]")
        polling.wait_state("waiting-approval")
        polling.approve()
        answer = polling.wait_done(2)
        assert answer.parts[-1].text.strip() == "That is settled."
        assert polling.approval.count() == 0


class TestWithoutChannelLayer:
    """The layer loses every message: only the rows tell the page."""

    def test_everything_still_completes(
        self, visit: Visit, own_server: Callable[..., DemoServer]
    ) -> None:
        server = own_server(env={"TESTS_LAYER": "deaf"})
        panel = visit(server).panel()
        answer = panel.ask_and_wait("[[script:quick-report]]")
        assert answer.text.strip().endswith("the report ends here.")
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        panel.approve()
        panel.wait_text("That is settled.")
        panel.wait_done(2)
        panel.ask("[[script:endless]]")
        panel.wait(lambda: len(panel.answers()) == 3, "the third answer")
        panel.wait_words(5)
        panel.stop()

        panel.wait_state("stopped")
        assert panel.repeated_ids() == []
