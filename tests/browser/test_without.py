"""Without JavaScript, and without websockets."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Error

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.proxy import Proxy

Visit = Callable[..., Visitor]


@pytest.mark.scenario(24)
class TestWithoutJavaScript:
    @pytest.fixture
    def plain(self, visit: Visit, server: DemoServer) -> Panel:
        tab = visit(server, java_script_enabled=False).tab()
        tab.goto("/admin/questionnaires/")
        tab.page.locator("#aia-launcher").click()
        tab.input.wait_for()
        return tab

    def wait(self, panel: Panel, state: str) -> None:
        """Reload, as the person does, until the panel is in that state."""

        def is_there() -> bool:
            # The form's own navigation may still be under way.
            with suppress(Error):
                panel.page.reload()
            return panel.state == state

        panel.wait(is_there, state)

    def log(self, panel: Panel) -> str:
        return panel.log.inner_text()

    @pytest.mark.smoke
    def test_message_is_answered(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:hello]]")

        self.wait(plain, "idle")
        assert "Hello there, how can this help you?" in self.log(plain)
        assert self.log(plain).count("[[script:hello]]") == 1

    def test_conversation_goes_on_in_the_admin(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:hello]]")
        self.wait(plain, "idle")
        plain.goto("/admin/questionnaires/")
        with plain.page.expect_navigation():
            plain.ask("[[script:reasoning]]")

        self.wait(plain, "idle")
        assert "/admin/questionnaires/" in plain.page.url
        assert self.log(plain).count("[[script:") == 2
        assert "Good day." in self.log(plain)

    def test_approval_works(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:approval]]")
        self.wait(plain, "waiting-approval")
        with plain.page.expect_navigation():
            plain.approve()

        self.wait(plain, "idle")
        assert "That is settled." in self.log(plain)

    def test_denial_with_a_reason_works(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:approval]]")
        self.wait(plain, "waiting-approval")
        with plain.page.expect_navigation():
            plain.deny("Not today")

        self.wait(plain, "idle")
        assert plain.card("needs_approval").get_attribute("data-status") == "denied"

    def answer(self, model: ModelServerProcess) -> object:
        """Return what the model has been told of the last answer."""
        return json.loads(model.requests()[-1]["messages"][-1]["content"])["answer"]

    def test_question_is_answered(
        self, plain: Panel, model: ModelServerProcess
    ) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:ask-select]]")
        self.wait(plain, "waiting-answer")
        with plain.page.expect_navigation():
            plain.choose("Green")

        self.wait(plain, "idle")
        assert "That was the question." in self.log(plain)
        assert plain.question.count() == 0
        assert self.answer(model) == "g"

    def test_several_answers_are_ticked(
        self, plain: Panel, model: ModelServerProcess
    ) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:ask-several]]")
        self.wait(plain, "waiting-answer")
        plain.question.get_by_label("Red").check()
        plain.question.get_by_label("Green").check()
        with plain.page.expect_navigation():
            plain.question.locator("button[type=submit]").first.click()

        self.wait(plain, "idle")
        assert "That was the question." in self.log(plain)
        assert self.answer(model) == ["r", "g"]

    def test_failed_answer_is_tried_again(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:slow-failure]]")
        self.wait(plain, "error")
        first = plain.log.locator("article[data-run-id]").get_attribute("data-run-id")
        with plain.page.expect_navigation():
            plain.log.get_by_role("button", name="Retry").click()
        assert plain.page.url.endswith("#aia")

        # The new try stands in the place of the first one, which is kept beside it.
        self.wait(plain, "error")
        answer = plain.log.locator(".aia-msg[data-role=assistant]")
        assert answer.count() == 1
        assert answer.get_attribute("data-run-id") != first
        with plain.page.expect_navigation():
            plain.log.get_by_role("button", name="Previous version").click()
        assert answer.get_attribute("data-run-id") == first

    def test_stop_works(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("[[script:stream tokens=400 rate=20]]")
        self.wait(plain, "streaming")
        with plain.page.expect_navigation():
            plain.stop()

        self.wait(plain, "stopped")
        assert "Stopped" in self.log(plain)

    def test_refusal_is_a_page_with_a_way_back(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask(" ")

        assert "Write a message first." in plain.page.inner_text("body")
        with plain.page.expect_navigation():
            plain.page.get_by_role("link", name="Go back").click()
        assert plain.input.is_visible()

    def test_message_waits_and_goes_on(self, plain: Panel) -> None:
        queue = plain.page.locator("#aia-queue")
        for said in (
            "[[script:stream tokens=400 rate=20]]",
            "Go on",
            "[[script:hello]]",
        ):
            with plain.page.expect_navigation():
                plain.ask(said)
        assert queue.get_by_role("listitem").count() == 2
        assert queue.get_by_role("button", name="Edit").count() == 0
        with plain.page.expect_navigation():
            queue.get_by_role("button", name="Drop").first.click()
        self.wait(plain, "streaming")
        with plain.page.expect_navigation():
            plain.stop()
        self.wait(plain, "stopped")
        assert "Paused: the answer was stopped." in queue.inner_text()

        with plain.page.expect_navigation():
            queue.get_by_role("button", name="Resume").click()
        self.wait(plain, "idle")
        assert "Hello there" in self.log(plain)
        assert "Go on" not in self.log(plain)

    def test_new_conversation_and_list(self, plain: Panel) -> None:
        with plain.page.expect_navigation():
            plain.ask("A matter [[script:hello]]")
        self.wait(plain, "idle")
        with plain.page.expect_navigation():
            plain.page.get_by_role("button", name="New conversation").click()
        assert "A matter" not in self.log(plain)
        # On the assistant's own page the list stands at the left.
        with plain.page.expect_navigation():
            plain.page.get_by_role("link", name="A matter").first.click()
        assert "Hello there" in self.log(plain)

        # Without the room for that, it is a page of its own.
        with plain.page.expect_navigation():
            plain.page.get_by_role("button", name="New conversation").click()
        plain.page.set_viewport_size({"width": 390, "height": 780})
        assert "A matter" not in self.log(plain)
        with plain.page.expect_navigation():
            plain.page.get_by_role("link", name="Conversations").click()
        with plain.page.expect_navigation():
            plain.page.get_by_role("link", name="A matter").first.click()
        assert "Hello there" in self.log(plain)


@pytest.mark.scenario(24)
class TestWithoutSockets:
    @pytest.fixture
    def polling(self, visit: Visit, server: DemoServer) -> Iterator[Panel]:
        with Proxy(server.port) as proxy:
            proxy.refuses_sockets = True
            yield visit(server, url=proxy.url).panel()

    def test_answer_comes_by_polling(self, polling: Panel) -> None:
        polling.ask("[[script:report]]")

        answer = polling.wait_done()
        assert answer.text.strip().endswith(
            "The last paragraph says that the report ends here."
        )
        assert polling.asked() == ["[[script:report]]"]
        assert polling.repeated_ids() == []

    def test_approval_comes_by_polling(self, polling: Panel) -> None:
        polling.ask("[[script:approval]]")
        polling.wait_state("waiting-approval")
        polling.approve()

        assert polling.wait_done().parts[-1].text.strip() == "That is settled."
        assert polling.approval.count() == 0


class TestWithoutChannelLayer:
    """The layer loses every message: only the rows tell the page."""

    def test_everything_still_completes(
        self, visit: Visit, own_server: Callable[..., DemoServer]
    ) -> None:
        server = own_server(env={"TESTS_LAYER": "deaf"})
        panel = visit(server).panel()
        answer = panel.ask_and_wait("[[script:report]]")
        assert answer.text.strip().endswith("the report ends here.")
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        panel.approve()
        panel.wait_text("That is settled.")
        panel.wait_done(2)
        panel.ask("[[script:stream tokens=400 rate=20]]")
        panel.wait(lambda: len(panel.answers()) == 3, "the third answer")
        panel.wait_words(5)
        panel.stop()

        panel.wait_state("stopped")
        assert panel.repeated_ids() == []
