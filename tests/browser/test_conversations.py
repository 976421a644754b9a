"""Many conversations, several people, and the parts of an answer."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor, sign_in
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"
GREETING = "Hello there, how can this help you?"


class TestConversation:
    @pytest.mark.smoke
    def test_list_opens_an_old_one(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The first matter {HELLO}")
        first = panel.conversation
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
        panel.page.reload()
        assert panel.asked() == [f"The first matter {HELLO}"]

    def test_title_is_told_at_once(self, panel: Panel) -> None:
        panel.ask_and_wait(f"A matter with a name {HELLO}")

        assert panel.title().startswith("A matter with a name")

    def test_conversation_goes_on_while_another_is_open(self, panel: Panel) -> None:
        panel.ask("[[script:report]]")
        panel.wait_words(10)
        first = panel.conversation
        panel.new_conversation()
        panel.ask_and_wait(HELLO)
        assert len(panel.answers()) == 1
        panel.open_conversation(first)

        panel.wait_done()
        assert panel.answer().text.strip().endswith("the report ends here.")

    def test_conversation_of_another_person_is_not_shown(
        self, visit: Visit, server: DemoServer
    ) -> None:
        mine = visit(server).panel()
        mine.ask_and_wait(f"A secret {HELLO}")
        other = visit(server, "editor").tab()
        answers = [
            other.page.request.get(
                f"{server.url}{path}?conversation={mine.conversation}"
            )
            for path in ("/assistant/", "/assistant/panel/", "/assistant/frames/")
        ]

        assert all("A secret" not in answer.text() for answer in answers)
        assert all(answer.status in (200, 404) for answer in answers)

    def test_what_it_has_used_is_up_to_date_while_it_waits(self, panel: Panel) -> None:
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
        shown = said()
        panel.page.reload()
        assert said() == shown

    def test_list_says_elsewhere_that_it_waits(
        self, visit: Visit, server: DemoServer
    ) -> None:
        here = visit(server).panel()
        here.ask("[[script:rename]]")
        here.wait_state("waiting-approval")
        elsewhere = visit(server).panel()

        elsewhere.list_conversations()
        entry = elsewhere.root.locator(
            f'a[data-aia-conversation="{here.conversation}"]'
        )
        assert "Waiting for you" in entry.inner_text()
        elsewhere.open_conversation(here.conversation)
        elsewhere.deny()
        elsewhere.wait_done()
        elsewhere.list_conversations()
        elsewhere.wait(lambda: "Waits" not in entry.inner_text(), "it is settled")

    def test_full_page_shows_it(self, panel: Panel) -> None:
        panel.ask_and_wait(HELLO)
        panel.goto(f"/assistant/?conversation={panel.conversation}")

        assert panel.asked() == [HELLO]
        assert panel.ask_and_wait(HELLO).text.strip() == GREETING


class TestReasoning:
    @pytest.mark.row("Z03")
    def test_folds_away_when_the_answer_begins(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
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

    def test_folds_away_before_a_call(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:think-and-call]]")
        fold = panel.log.locator(".aia-reasoning")

        assert fold.get_attribute("open") is None
        assert "Thought" in fold.inner_text()

    def test_reasoning_stays_as_the_person_left_it(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask("[[script:think]]")
        fold = panel.log.locator(".aia-reasoning")
        fold.locator("summary").click()  # shut, while it grows
        fold.locator("summary").click()  # and open again

        model.release("thought")
        panel.wait_done()
        assert fold.get_attribute("open") is not None


class TestCard:
    @pytest.mark.row("L13")
    @pytest.mark.row("L16")
    @pytest.mark.row("L18")
    def test_card_is_folded_and_holds_arguments_and_result(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:think-and-call]]")
        card = panel.card("echo")
        assert card.get_attribute("data-status") == "complete"
        assert not card.get_by_text("Asked for").is_visible()
        card.locator("summary").click()

        assert '"text": "a look"' in card.inner_text()
        assert "Result" in card.inner_text()


class TestProgress:
    def test_long_task_shows_how_far_it_is(
        self, panel: Panel, server: DemoServer
    ) -> None:
        panel.ask("[[script:held-progress]]")
        bar = panel.card("held_task").locator("progress")

        for piece in (1, 2, 3):
            shown = panel.card("held_task").get_by_text(f"{piece} of 3")
            shown.wait_for()
            assert float(bar.get_attribute("value") or 0) == pytest.approx(
                piece / 3, abs=0.001
            )
            server.let(f"progress-{piece}")

        answer = panel.wait_done()
        assert answer.parts[-1].text.strip() == "The long task is done."

    def test_task_goes_on_on_another_page(
        self, panel: Panel, server: DemoServer
    ) -> None:
        panel.ask("[[script:held-elsewhere]]")
        panel.card("held_task").locator("progress").wait_for()
        panel.click_to("Sections")
        panel.card("held_task").locator("progress").wait_for()
        server.let("elsewhere-1")

        answer = panel.wait_done()
        assert [part.status for part in answer.parts if part.kind == "tool"] == [
            "complete"
        ]


class TestViewer:
    @pytest.fixture
    def viewer(self, visit: Visit, server: DemoServer) -> Panel:
        return visit(server, "viewer").panel("/admin/questionnaires/section/")

    def test_viewer_may_ask(self, viewer: Panel) -> None:
        assert viewer.ask_and_wait(HELLO).text.strip() == GREETING

    @pytest.mark.scenario(32)
    def test_viewer_changes_nothing_through_the_assistant(
        self, viewer: Panel, oracle: Oracle
    ) -> None:
        before = oracle.rows("SELECT title FROM questionnaires_section ORDER BY id")
        viewer.ask("[[script:rename]]")
        viewer.wait_state("idle", "waiting-approval")
        if viewer.state == "waiting-approval":
            viewer.approve()

        viewer.wait_done()
        assert viewer.card("rename_section").get_attribute("data-status") in (
            "failed",
            "denied",
        )
        after = oracle.rows("SELECT title FROM questionnaires_section ORDER BY id")
        assert after == before


class TestSignOut:
    def test_sign_out_in_another_tab_keeps_the_draft(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        sign_out(visitor.tab())
        panel.ask("my precious words")

        panel.wait_state("signed-out")
        assert "You are signed out." in panel.root.inner_text()
        wait_draft(panel, "my precious words")
        panel.page.get_by_role("link", name="Sign in again").click()
        panel.page.fill("#id_username", "admin")
        panel.page.fill("#id_password", "admin")
        panel.page.click("[type=submit]")
        panel.page.wait_for_url("**/admin/")
        assert panel.asked() == [HELLO]
        wait_draft(panel, "my precious words")

    @pytest.mark.scenario(26)
    def test_sign_out_keeps_what_waits_for_a_decision(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        conversation = panel.conversation
        sign_out(panel)
        sign_in(panel.page, server.url, "admin")
        panel.open()
        panel.approval.wait_for()
        assert panel.conversation == conversation
        assert panel.state == "waiting-approval"
        panel.approve()

        answer = panel.wait_done()
        assert answer.parts[-1].text.strip() == "That is settled."
        assert panel.approval.count() == 0

    def test_sign_out_is_noticed_without_sending(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.type("my precious words")
        sign_out(visitor.tab())

        panel.wait_state("signed-out")
        assert panel.input.input_value() == "my precious words"

    def test_sign_out_leaves_nothing_to_the_next_person(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask_and_wait(f"A secret {HELLO}")
        panel.type("a secret draft")
        sign_out(panel)
        panel.goto("/admin/login/?next=/admin/")
        panel.page.fill("#id_username", "editor")
        panel.page.fill("#id_password", "editor")
        panel.page.click("[type=submit]")
        panel.page.wait_for_url("**/admin/")
        panel.open()

        assert panel.asked() == []
        assert panel.input.input_value() == ""


def wait_draft(panel: Panel, text: str) -> None:
    panel.wait(lambda: panel.input.input_value() == text, "the draft")


def sign_out(tab: Panel) -> None:
    tab.goto("/admin/questionnaires/")
    tab.page.locator("#logout-form button").click()
    tab.page.wait_for_url("**/logout/")
