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
    @pytest.mark.row("M01", "M06")
    def test_designer_adds_a_question_once_approved_and_takes_it_back_whole(
        self,
        tab: Panel,
        oracle: Oracle,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("a published one is left alone"):
            self.published_is_left_alone(tab, oracle, model)
        tab.new_conversation()
        draft = oracle.rows(DRAFTS, "draft")[0]
        asked = "Do you sleep well in the mountains?"
        wish = adds(model, "add-question", draft["section_id"], asked)
        tab.goto(page_of(draft["questionnaire_id"]))
        with subtests.test("a question is added once it was approved"):
            tab.ask(wish)
            tab.wait_state("waiting-approval")
            assert oracle.rows(ASKED, asked) == []
            tab.approve()
            tab.wait_done()
            assert tab.card("add_question").get_attribute("data-status") == "complete"
            [made] = oracle.rows(ASKED, asked)
            assert made["section_id"] == draft["section_id"]

        with subtests.test("the whole questionnaire goes back, and forth"):
            self.goes_back_and_forth(tab, oracle, asked)
        tab.goto(f"/admin/questionnaires/section/{draft['section_id']}/change/")
        with subtests.test("it is on its page"):
            values = tab.page.locator("input[name$=-text]").evaluate_all(
                "inputs => inputs.map((input) => input.value)"
            )
            assert asked in values

    def published_is_left_alone(
        self, tab: Panel, oracle: Oracle, model: ModelServerProcess
    ) -> None:
        closed = oracle.rows(DRAFTS, "published")[0]
        asked = "Is this one closed?"
        wish = adds(model, "add-to-published", closed["section_id"], asked)
        tab.goto(page_of(closed["questionnaire_id"]))
        tab.ask(wish)
        tab.wait(
            lambda: tab.approval.count() or "settled" in tab.log.inner_text(),
            "a question or a refusal",
        )
        if tab.approval.count():  # a yes does not help either
            tab.approve()
        answer = tab.wait_done()
        [status] = [part.status for part in answer.parts if part.kind == "tool"]
        assert status in ("failed", "denied")
        assert oracle.rows(ASKED, asked) == []

    def goes_back_and_forth(self, tab: Panel, oracle: Oracle, asked: str) -> None:
        tab.page.locator(".aia-changes [data-aia-undo]").last.click()
        plan = tab.page.locator("#aia-pinned .aia-undo-plan")
        expect(plan.locator(".aia-undo-row")).to_have_count(1)
        expect(plan).to_contain_text("All that belongs to it")
        expect(plan).to_contain_text(asked)
        plan.locator("[data-aia-undo-apply]").click()
        expect(plan).to_have_count(0)
        assert oracle.rows(ASKED, asked) == []
        tab.page.locator("[data-aia-redo]").last.click()
        plan.locator("[data-aia-undo-apply]").click()
        expect(plan).to_have_count(0)
        assert oracle.rows(ASKED, asked)

    @pytest.mark.row("K01")
    def test_form_is_not_saved_while_the_assistant_works(
        self,
        tab: Panel,
        visit: Visit,
        server: DemoServer,
        oracle: Oracle,
        model: ModelServerProcess,
    ) -> None:
        draft = oracle.rows(DRAFTS, "draft")[1]
        hold = {"op": "hold", "name": "designing"}
        model.script("designing", [[text("I look at it."), hold, text(" It is fine.")]])
        tab.goto(page_of(draft["questionnaire_id"]))
        tab.ask("[[script:designing]]")
        tab.wait_words(3)

        page = visit(server, "editor").tab()
        page.goto(f"/admin/questionnaires/section/{draft['section_id']}/change/")
        form = page.page
        expect(form.locator(".messagelist")).to_contain_text(AT_WORK)
        form.fill("#id_title", "What I have written")
        form.locator("#content [name=_save]").click()
        expect(form.locator(".errornote")).to_contain_text(AT_WORK)
        assert title_of(oracle, draft["section_id"]) != "What I have written"
        model.release("designing")
        tab.wait_done()
        form.get_by_role("button", name="Save again").click()
        expect(form.locator(".messagelist")).to_contain_text("changed successfully")
        assert title_of(oracle, draft["section_id"]) == "What I have written"


def title_of(oracle: Oracle, section: int) -> str:
    (row,) = oracle.rows(
        "SELECT title FROM questionnaires_section WHERE id = %s", section
    )
    return str(row["title"])


class TestDiscover:
    @pytest.mark.row("T23")
    def test_query_of_the_assistant_shows_on_its_page_alone(
        self, tab: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        tab.goto(EXPLORER)
        with subtests.test("it is only set"):
            self.query_is_only_set(tab, model)
        with subtests.test("it is carried out"):
            self.query_is_carried_out(tab, model)
        tab.goto()
        with subtests.test("there is no such tool on other pages"):
            given = [call("execute_query", {"query": "x"})]
            model.script("query-elsewhere", [given, [text("It was not there.")]])
            answer = tab.ask_and_wait("[[script:query-elsewhere]]")
            [status] = [part.status for part in answer.parts if part.kind == "tool"]
            assert status in ("failed", "denied")

    def query_is_carried_out(self, tab: Panel, model: ModelServerProcess) -> None:
        query = "level:error service:mailer"
        given = [call("execute_query", {"query": query})]
        model.script("query", [given, [text("These are the errors.")]])
        tab.ask_and_wait("[[script:query]]")
        field = tab.page.locator("#discover-query")
        tab.wait(lambda: field.input_value() == query, "the query in the explorer")
        services = tab.page.locator("#discover tbody td:nth-child(3)").all_inner_texts()
        assert set(services) == {"mailer"}

    def query_is_only_set(self, tab: Panel, model: ModelServerProcess) -> None:
        given = call("execute_query", {"query": "level:warning", "auto_execute": False})
        model.script("set-query", [[given], [text("It is set.")]])
        tab.ask_and_wait("[[script:set-query]]")
        tab.page.locator("#discover-set").wait_for()
        assert tab.page.locator("#discover-query").input_value() == "level:warning"
        tab.page.locator("#discover [type=submit]").click()
        tab.page.locator("#discover-total").wait_for()
        levels = tab.page.locator("#discover tbody td:nth-child(2)").all_inner_texts()
        assert set(levels) == {"warning"}
