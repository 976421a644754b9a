"""Many conversations, a session that ends, and the parts of an answer."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"
GREETING = "Hello there, how can this help you?"


class TestConversation:
    @pytest.mark.smoke
    def test_list_opens_an_old_one(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The first matter {HELLO}")
        first = panel.conversation
        assert panel.title().startswith("The first matter")
        panel.new_conversation()
        assert panel.asked() == []
        panel.ask_and_wait(f"The second matter {HELLO}")
        second = panel.conversation
        assert second != first
        names = panel.list_conversations()
        assert names[0].startswith("The second matter")
        assert names[1].startswith("The first matter")
        panel.open_conversation(first)

        assert panel.asked() == [f"The first matter {HELLO}"]
        assert panel.answer().text.strip() == GREETING
        panel.goto(f"/assistant/?conversation={second}")
        assert panel.asked() == [f"The second matter {HELLO}"]

    def test_one_goes_on_and_one_waits_while_another_is_open(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("it goes on"):
            self.goes_on(panel, model)
        panel.new_conversation()
        with subtests.test("what it has used is up to date while it waits"):
            self.usage_is_up_to_date(panel)
        with subtests.test("the list of another tab says that it waits"):
            self.list_says_that_it_waits(panel, regular.tab())

    def goes_on(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:held-report]]")
        panel.wait_text("found")
        first = panel.conversation
        panel.new_conversation()
        model.release("found")
        panel.ask_and_wait(HELLO)
        assert len(panel.answers()) == 1
        panel.open_conversation(first)
        panel.wait_done()
        assert panel.answer().text.strip().endswith("the report ends here.")

    def usage_is_up_to_date(self, panel: Panel) -> None:
        used = panel.page.locator("#aia-usage")  # in the fold of the settings

        def said() -> str:
            return (used.text_content() or "").strip()

        panel.ask_and_wait(HELLO)
        panel.wait(lambda: said() != "", "what the answer has used")
        before = said()
        assert before.startswith("This conversation: ")
        panel.ask("[[script:rename]]")
        panel.wait_state("waiting-approval")
        panel.wait(lambda: said() != before, "what the proposal has used")

    def list_says_that_it_waits(self, here: Panel, elsewhere: Panel) -> None:
        elsewhere.goto()
        assert (here.page.locator("#aia-usage").text_content() or "").strip() == (
            elsewhere.page.locator("#aia-usage").text_content() or ""
        ).strip()
        elsewhere.new_conversation()
        elsewhere.list_conversations()
        entry = elsewhere.root.locator(
            f'a[data-aia-conversation="{here.conversation}"]'
        )
        assert "Waiting for you" in entry.inner_text()
        elsewhere.open_conversation(here.conversation)
        elsewhere.deny()
        elsewhere.wait_done(2)
        elsewhere.list_conversations()
        elsewhere.wait(lambda: "Waiting" not in entry.inner_text(), "it is settled")


class TestParts:
    @pytest.mark.row("Z03", "L13", "L16", "L18")
    def test_reasoning_and_card_fold_and_progress_goes_on_on_another_page(
        self,
        panel: Panel,
        model: ModelServerProcess,
        server: DemoServer,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("reasoning folds away when the answer begins"):
            self.reasoning_folds_away(panel, model)
        panel.new_conversation()
        with subtests.test("a card holds arguments and result"):
            self.card_holds_arguments_and_result(panel)
        panel.new_conversation()
        with subtests.test("progress goes on on another page"):
            self.progress_goes_on(panel, server)

    def reasoning_folds_away(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:think]]")
        fold = panel.log.locator(".aia-reasoning")
        fold.wait_for()
        assert fold.get_attribute("open") is not None
        model.release("thought")
        panel.wait_done()
        assert fold.get_attribute("open") is None
        assert "Thought" in fold.inner_text()
        fold.locator("summary").click()
        assert "Weighing one thing against another" in fold.inner_text()

    def card_holds_arguments_and_result(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:think-and-call]]")
        fold = panel.log.locator(".aia-reasoning")
        assert fold.get_attribute("open") is None  # it folds before a call too
        card = panel.card("echo")
        assert card.get_attribute("data-status") == "complete"
        assert not card.get_by_text("Asked for").is_visible()
        card.locator("summary").click()
        assert '"text": "a look"' in card.inner_text()
        assert "Result" in card.inner_text()

    def progress_goes_on(self, panel: Panel, server: DemoServer) -> None:
        panel.ask("[[script:held-progress]]")
        card = panel.card("held_task")
        for piece in (1, 2, 3):
            card.get_by_text(f"{piece} of 3").wait_for()
            shown = card.locator("progress").get_attribute("value")
            assert float(shown or 0) == pytest.approx(piece / 3, abs=0.001)
            if piece == 2:
                panel.click_to("Sections")
                card.locator("progress").wait_for()
            server.let(f"progress-{piece}")

        answer = panel.wait_done()
        assert answer.parts[-1].text.strip() == "The long task is done."
        statuses = [part.status for part in answer.parts if part.kind == "tool"]
        assert statuses == ["complete"]


class TestSignOut:
    @pytest.mark.scenario(26)
    @pytest.mark.scenario(33)
    def test_sign_out_keeps_draft_and_approval_for_the_same_person_alone(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask("A secret [[script:approval]]")
        panel.wait_state("waiting-approval")
        conversation = panel.conversation
        panel.type("my precious words")
        other = visitor.tab()
        sign_out(other)
        other.page.close()
        with subtests.test("it is noticed without sending, and the draft stays"):
            panel.wait_state("signed-out")
            assert panel.input.input_value() == "my precious words"

        with subtests.test("what is sent nevertheless stays, and can be written on"):
            panel.page.locator("#aia-send").click()
            panel.root.get_by_text("You are signed out.").first.wait_for()
            panel.input.press("End")
            panel.input.press_sequentially(" and more")
            wait_draft(panel, "my precious words and more")

        panel.page.get_by_role("link", name="Sign in again").first.click()
        sign_in_here(panel, "admin")
        with subtests.test("after signing in again all is there"):
            assert panel.conversation == conversation
            panel.approval.wait_for()
            assert panel.state == "waiting-approval"
            wait_draft(panel, "my precious words and more")
            panel.approve()
            answer = panel.wait_done()
            assert answer.parts[-1].text.strip() == "That is settled."
            assert len(panel.asked()) == 1

        with subtests.test("nothing is left to the next person"):
            sign_out(panel)
            panel.goto("/admin/login/?next=/admin/")
            sign_in_here(panel, "editor")
            panel.open()
            assert panel.asked() == []
            assert panel.input.input_value() == ""


def wait_draft(panel: Panel, text: str) -> None:
    panel.wait(lambda: panel.input.input_value() == text, f"the draft {text!r}")


def sign_in_here(panel: Panel, name: str) -> None:
    panel.page.fill("#id_username", name)
    panel.page.fill("#id_password", name)
    panel.page.click("[type=submit]")
    panel.page.wait_for_url("**/admin/")
    panel.ready()


def sign_out(tab: Panel) -> None:
    tab.goto("/admin/questionnaires/")
    tab.page.locator("#logout-form button").click()
    tab.page.wait_for_url("**/logout/")
