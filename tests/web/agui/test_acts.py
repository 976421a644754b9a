"""Undo, stop and another answer, by `forwardedProps.aia`."""

import json
from uuid import UUID, uuid4

import pytest

from tests.agui.client import Unanswered, approve
from tests.web.agui.site import hold, text
from tests.web.agui.test_changes import (  # noqa: F401 - a fixture
    changing,
    page,
    title_of,
    write,
)
from tests.web.agui.test_forwarded import custom, props
from tests.web.agui.test_refused import assert_problem

pytestmark = pytest.mark.row("L06")


@pytest.fixture
def changed(site, page):  # noqa: F811
    """A client whose run has changed the title of the page."""
    front = site.front()
    (wait,) = front.ask(changing(site, page)).interrupts
    front.answer(approve(wait))
    return front


def undo(front, **named):
    run = front.run
    try:
        return front.ask(forwardedProps=props(undo=named))
    finally:
        front.run = run  # the one that has changed something


def plan_of(front, **named):
    return custom(undo(front, **named))["aia.undo_plan"]


class TestUndo:
    def test_plan_says_what_it_would_do_and_does_nothing(self, site, changed, page):  # noqa: F811
        plan = plan_of(changed, run=changed.run)

        (row,) = plan["rows"]
        (field,) = row["fields"]
        assert (row["outcome"], plan["does_something"]) == ("restore", True)
        assert (field["now"], field["restored"]) == ("New title", "Old title")
        assert title_of(site, page) == "New title"
        assert len(site.runs(changed)) == 1

    @pytest.mark.parametrize("named", ["client", "site"])
    def test_done_as_planned_and_redone(self, site, changed, page, named):  # noqa: F811
        own = str(UUID(str(site.run(changed)["id"])))
        run = changed.run if named == "client" else own

        digest = plan_of(changed, run=run)["digest"]
        done = custom(undo(changed, run=run, digest=digest))["aia.undone"]

        assert done["undone"] == [f"wiki.page:{page}"]
        assert title_of(site, page) == "Old title"
        again = plan_of(changed, change=done["change"])["digest"]
        undo(changed, change=done["change"], digest=again)
        assert title_of(site, page) == "New title"

    def test_of_a_call(self, site, changed, page):  # noqa: F811
        (called,) = (
            one["id"]
            for message in changed.held.messages
            for one in message.get("toolCalls") or ()
        )

        undo(changed, call=called, digest=plan_of(changed, call=called)["digest"])

        assert title_of(site, page) == "Old title"

    def test_moved_meanwhile_is_told_with_the_new_plan(self, site, changed, page):  # noqa: F811
        digest = plan_of(changed, run=changed.run)["digest"]
        write(site, "UPDATE wiki_page SET title = ? WHERE id = ?", ("By hand", page))

        named = props(undo={"run": changed.run, "digest": digest})
        refused = changed.post(changed.input(forwardedProps=named))

        told = refused.json()
        assert (refused.status_code, told["code"]) == (409, "moved")
        (row,) = told["plan"]["rows"]
        assert (row["outcome"], row["can_overrule"]) == ("conflict", True)
        assert title_of(site, page) == "By hand"
        new = told["plan"]["digest"]
        undo(changed, run=changed.run, digest=new, overrule=[row["key"]])
        assert title_of(site, page) == "Old title"

    def test_rows_that_are_none_of_the_plan(self, site, changed, page):  # noqa: F811
        digest = plan_of(changed, run=changed.run)["digest"]

        with pytest.raises(Unanswered) as refused:
            undo(changed, run=changed.run, digest=digest, rows=[])

        assert_problem(refused.value.response, 409, "nothing")
        assert title_of(site, page) == "New title"

    @pytest.mark.parametrize(
        ("named", "code"),
        [
            ({}, "bad_input"),
            ({"run": "x", "call": "y"}, "bad_input"),
            ({"run": 1}, "bad_input"),
            ({"run": "x", "rows": "all"}, "bad_input"),
            ({"run": "x", "digests": "y"}, "bad_input"),
            (True, "bad_input"),
            ({"run": "x"}, "not_found"),
            ({"change": str(uuid4())}, "not_found"),
            ({"summary": str(uuid4())}, "not_found"),
        ],
    )
    def test_one_that_names_nothing(self, site, changed, named, code):
        refused = changed.post(changed.input(forwardedProps=props(undo=named)))

        assert_problem(refused, 404 if code == "not_found" else 400, code)

    def test_in_a_thread_that_is_none(self, site):
        front = site.front()

        refused = front.post(front.input(forwardedProps=props(undo={"run": "x"})))

        assert_problem(refused, 404, "not_found")

    def test_of_another_user(self, site, changed, page):  # noqa: F811
        own = str(UUID(str(site.run(changed)["id"])))
        other = site.front("editor")
        other.ask(site.script([text("Mine.")]))

        for named in ({"run": own}, {"run": changed.run}):
            refused = other.post(other.input(forwardedProps=props(undo=named)))
            assert_problem(refused, 404, "not_found")
        assert title_of(site, page) == "New title"

    def test_token_needs_the_scope_to_approve(self, site, changed, page):  # noqa: F811
        thread = site.conversation(changed)["id"]
        own = str(UUID(str(site.run(changed)["id"])))
        program = site.program("run", thread=thread)
        digest = plan_of(program, run=own)["digest"]

        named = props(undo={"run": own, "digest": digest})
        refused = program.post(program.input(forwardedProps=named))

        assert_problem(refused, 403, "scope")
        assert title_of(site, page) == "New title"

    def test_what_was_typed_meanwhile_is_not_read(self, site, changed):
        changed.ask("More.", forwardedProps=props(undo={"run": changed.run}))

        assert len(site.runs(changed)) == 1
        assert changed.held.messages[-1]["content"] == "More."


class TestSummary:
    @pytest.fixture
    def summed(self, site):
        """A thread with a summary, and its id."""
        front = site.front()
        front.ask(site.script([text("First.")]))
        run, summary = site.run(front), uuid4()
        part = {"type": "text", "text": "Short.", "label": "user", "count": 1}
        write(
            site,
            "INSERT INTO ai_assistant_message (id, conversation_id, run_id, position,"
            " role, origin, label, state, parts, sums_up_to, key, client_id,"
            " created_at) SELECT ?, conversation_id, run_id, 99, 'summary',"
            " 'app', label, 'complete', ?, position, ?, '', created_at FROM ai_assistant_message WHERE run_id = ? LIMIT 1",
            (summary.hex, json.dumps([part]), uuid4().hex, UUID(str(run["id"])).hex),
        )
        return front, summary

    def state(self, site, summary):
        (row,) = site.oracle.rows(
            "SELECT state FROM ai_assistant_message WHERE id = %s", summary.hex
        )
        return row["state"]

    def test_is_taken_back(self, site, summed):
        front, summary = summed

        done = undo(front, summary=str(summary))

        assert custom(done)["aia.undone"] == {"summary": str(summary)}
        assert self.state(site, summary) == "undone"

    def test_of_another_user(self, site, summed):
        _front, summary = summed
        other = site.front("editor")
        other.ask(site.script([text("Mine.")]))

        with pytest.raises(Unanswered) as refused:
            undo(other, summary=str(summary))

        assert_problem(refused.value.response, 404, "not_found")
        assert self.state(site, summary) == "complete"


class TestStop:
    def test_ends_a_run_that_is_kept(self, site):
        front, gate = site.front(), uuid4().hex
        marker = site.script([text("Half an "), hold(gate)])
        with front.open(marker, forwardedProps=props(keep=True)) as stream:
            stream.until_text("Half an ")
            other = front.fresh()
            told = other.ask(forwardedProps=props(stop=True))
            stream.rest()

        assert stream.outcome["type"] == "cancelled"
        own = str(UUID(str(site.run(front)["id"])))
        assert custom(told)["aia.stopping"] == {"run": own}
        assert site.run(front)["state"] == "cancelled"

    def test_where_nothing_works(self, site):
        front = site.front()
        front.ask(site.script([text("First.")]))

        refused = front.post(front.input(forwardedProps=props(stop=True)))

        assert_problem(refused, 409, "ended")


class TestAnotherAnswer:
    def test_to_the_last_question(self, site):
        front = site.front()
        front.ask(site.script([text("First.")], [text("Second.")]))

        other = front.fresh()
        again = other.ask(forwardedProps=props(regenerate=True))

        assert again.text() in ("First.", "Second.")
        first, second = site.runs(front)
        assert (first["after_id"], second["kind"]) == (second["after_id"], "version")
        assert second["channel"] == "agui"

    def test_to_an_earlier_question(self, site):
        front = site.front()
        front.ask(site.script([text("One.")]))
        question = front.held.messages[0]["id"]
        front.ask(site.script([text("Two.")]))

        again = front.fresh().ask(forwardedProps=props(regenerate=question))

        assert again.text() == "One."
        first, _second, third = site.runs(front)
        assert first["after_id"] == third["after_id"] is None

    def test_with_a_new_message_is_refused(self, site):
        front = site.front()
        front.ask(site.script([text("One.")]))

        refused = front.post(
            front.input("More.", forwardedProps=props(regenerate=True))
        )

        assert_problem(refused, 400, "bad_input")
        assert len(site.runs(front)) == 1

    @pytest.mark.parametrize("name", ["nothing", 7])
    def test_to_a_question_that_is_none(self, site, name):
        front = site.front()
        front.ask(site.script([text("One.")]))

        refused = front.post(front.input(forwardedProps=props(regenerate=name)))

        assert_problem(refused, 404, "not_found")
