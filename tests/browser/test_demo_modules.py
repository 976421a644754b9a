"""The modules of the demo, as people use them: the designer, and a view's own tool."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
EXPLORER = "/admin/discover/logline/explore/"
DRAFT = """
SELECT questionnaire_id, MIN(id) AS section_id FROM questionnaires_section
WHERE questionnaire_id = (
  SELECT MIN(id) FROM questionnaires_questionnaire WHERE status = %s
) GROUP BY questionnaire_id
"""
DRAFTS = """
SELECT questionnaire_id, MIN(id) AS section_id FROM questionnaires_section
WHERE questionnaire_id IN (
  SELECT id FROM questionnaires_questionnaire WHERE status = %s
) GROUP BY questionnaire_id ORDER BY questionnaire_id
"""
AT_WORK = "The assistant is working on this questionnaire for admin."
ASKED = "SELECT * FROM questionnaires_question WHERE text = %s"


def page_of(questionnaire: int) -> str:
    return f"/admin/questionnaires/questionnaire/{questionnaire}/change/"


def adds(model: ModelServerProcess, name: str, section: int, asked: str) -> str:
    arguments = {
        "section_id": section,
        "question_type_id": "yes-no",
        "question_text": asked,
    }
    model.script(name, [[call("add_question", arguments)], [text("That is settled.")]])
    return f"[[script:{name}]]"


class TestDesigner:
    @pytest.mark.row("M06")
    def test_designer_adds_a_question_once_approved(
        self, panel: Panel, oracle: Oracle, model: ModelServerProcess
    ) -> None:
        [draft] = oracle.rows(DRAFT, "draft")
        asked = "Do you sleep well in the mountains?"
        wish = adds(model, "add-question", draft["section_id"], asked)
        panel.goto(page_of(draft["questionnaire_id"]))
        panel.open()

        panel.ask(wish)
        panel.wait_state("waiting-approval")
        assert oracle.rows(ASKED, asked) == []
        panel.approve()
        panel.wait_done()

        assert panel.card("add_question").get_attribute("data-status") == "complete"
        [made] = oracle.rows(ASKED, asked)
        assert made["section_id"] == draft["section_id"]
        panel.goto(f"/admin/questionnaires/section/{draft['section_id']}/change/")
        values = panel.page.locator("input[name$=-text]").evaluate_all(
            "inputs => inputs.map((input) => input.value)"
        )
        assert asked in values

    @pytest.mark.row("M06")
    def test_published_is_left_alone(
        self, panel: Panel, oracle: Oracle, model: ModelServerProcess
    ) -> None:
        [closed] = oracle.rows(DRAFT, "published")
        asked = "Is this one closed?"
        wish = adds(model, "add-to-published", closed["section_id"], asked)
        panel.goto(page_of(closed["questionnaire_id"]))
        panel.open()

        panel.ask(wish)
        panel.wait(
            lambda: panel.approval.count() or "settled" in panel.log.inner_text(),
            "a question or a refusal",
        )
        if panel.approval.count():  # a yes does not help either
            panel.approve()
        answer = panel.wait_done()

        [status] = [part.status for part in answer.parts if part.kind == "tool"]
        assert status in ("failed", "denied")
        assert oracle.rows(ASKED, asked) == []

    @pytest.mark.row("K01")
    def test_form_is_not_saved_while_the_assistant_works(
        self,
        panel: Panel,
        visit: Visit,
        server: DemoServer,
        oracle: Oracle,
        model: ModelServerProcess,
    ) -> None:
        draft = oracle.rows(DRAFTS, "draft")[1]
        hold = {"op": "hold", "name": "designing"}
        model.script("designing", [[text("I look at it."), hold, text(" It is fine.")]])
        panel.goto(page_of(draft["questionnaire_id"]))
        panel.open()
        panel.ask("[[script:designing]]")
        panel.wait_words(3)

        page = visit(server, "editor").tab()
        page.goto(f"/admin/questionnaires/section/{draft['section_id']}/change/")
        form = page.page
        expect(form.locator(".messagelist")).to_contain_text(AT_WORK)
        form.fill("#id_title", "What I have written")
        form.locator("#content [name=_save]").click()
        expect(form.locator(".errornote")).to_contain_text(AT_WORK)
        assert title_of(oracle, draft["section_id"]) != "What I have written"
        model.release("designing")
        panel.wait_done()
        form.get_by_role("button", name="Save again").click()
        expect(form.locator(".messagelist")).to_contain_text("changed successfully")
        assert title_of(oracle, draft["section_id"]) == "What I have written"

    @pytest.mark.row("M01")
    def test_whole_questionnaire_goes_back(
        self, panel: Panel, oracle: Oracle, model: ModelServerProcess
    ) -> None:
        draft = oracle.rows(DRAFTS, "draft")[2]
        asked = "Do you sleep well at the sea?"
        wish = adds(model, "add-then-undo", draft["section_id"], asked)
        panel.goto(page_of(draft["questionnaire_id"]))
        panel.open()
        panel.ask(wish)
        panel.wait_state("waiting-approval")
        panel.approve()
        panel.wait_done()
        assert oracle.rows(ASKED, asked)

        panel.page.locator(".aia-changes [data-aia-undo]").last.click()
        plan = panel.page.locator("#aia-pinned .aia-undo-plan")
        expect(plan.locator(".aia-undo-row")).to_have_count(1)
        expect(plan).to_contain_text("All that belongs to it")
        expect(plan).to_contain_text(asked)
        plan.locator("[data-aia-undo-apply]").click()

        expect(plan).to_have_count(0)
        assert oracle.rows(ASKED, asked) == []
        panel.page.locator("[data-aia-redo]").last.click()
        plan.locator("[data-aia-undo-apply]").click()
        expect(plan).to_have_count(0)
        assert oracle.rows(ASKED, asked)


def title_of(oracle: Oracle, section: int) -> str:
    (row,) = oracle.rows(
        "SELECT title FROM questionnaires_section WHERE id = %s", section
    )
    return str(row["title"])


class TestDiscover:
    @pytest.mark.row("T23")
    def test_query_of_the_assistant_shows_on_the_page(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        model.script(
            "query",
            [
                [call("execute_query", {"query": "level:error service:mailer"})],
                [text("These are the errors.")],
            ],
        )
        panel = visit(server, "viewer").panel(EXPLORER)

        panel.ask_and_wait("[[script:query]]")

        page = panel.page
        panel.wait(
            lambda: (
                page.locator("#discover-query").input_value()
                == "level:error service:mailer"
            ),
            "the query in the explorer",
        )
        services = page.locator("#discover tbody td:nth-child(3)").all_inner_texts()
        assert set(services) == {"mailer"}

    @pytest.mark.row("T23")
    def test_query_is_only_set(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        arguments = {"query": "level:warning", "auto_execute": False}
        model.script(
            "set-query", [[call("execute_query", arguments)], [text("It is set.")]]
        )
        panel = visit(server, "editor").panel(EXPLORER)

        panel.ask_and_wait("[[script:set-query]]")

        panel.page.locator("#discover-set").wait_for()
        assert panel.page.locator("#discover-query").input_value() == "level:warning"
        panel.page.locator("#discover [type=submit]").click()
        panel.page.locator("#discover-total").wait_for()
        levels = panel.page.locator("#discover tbody td:nth-child(2)")
        assert set(levels.all_inner_texts()) == {"warning"}

    def test_tool_is_not_there_on_other_pages(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        model.script(
            "query-elsewhere",
            [[call("execute_query", {"query": "x"})], [text("It was not there.")]],
        )

        answer = panel.ask_and_wait("[[script:query-elsewhere]]")

        [status] = [part.status for part in answer.parts if part.kind == "tool"]
        assert status in ("failed", "denied")
