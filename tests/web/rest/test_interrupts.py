import pytest

from ai_assistant.models import Interrupt
from tests.web.conftest import asked_a_question, asked_to_approve
from tests.web.rest.program import code


@pytest.fixture
def approval(people):
    return asked_to_approve(people["ada"])


@pytest.fixture
def question(people):
    return asked_a_question(people["ada"])


def answer(program, asked, **body):
    return program().post(
        f"interrupts/{asked.pk}/answer/", {"nonce": asked.nonce, **body}
    )


class TestRead:
    def test_approval(self, program, approval):
        told = program().get(f"interrupts/{approval.pk}/").json()

        assert (told["kind"], told["status"]) == ("approval", "open")
        assert (told["tool"], told["nonce"]) == ("needs_approval", approval.nonce)
        assert told["arguments"] == approval.call.arguments
        assert told["question"] is None

    def test_question(self, program, question):
        told = program().get(f"interrupts/{question.pk}/").json()["question"]

        assert (told["text"], told["kind"]) == ("Which colours?", "multi_select")
        assert [one["id"] for one in told["options"]] == ["r", "b"]

    def test_nonce_only_while_it_can_be_answered(self, program, approval):
        answer(program, approval, decision="approve")
        closed = program().get(f"interrupts/{approval.pk}/").json()
        Interrupt.objects.update(kind="browser", status="open")
        of_page = program().get(f"interrupts/{approval.pk}/").json()

        assert closed["nonce"] is of_page["nonce"] is None

    @pytest.mark.parametrize("scopes", [("read",), ("read", "run")])
    def test_no_nonce_without_the_scope_to_answer(self, program, approval, scopes):
        reader = program(scopes=scopes)
        one = reader.get(f"interrupts/{approval.pk}/")
        every = reader.get("interrupts/")
        run = reader.get(f"runs/{approval.run_id}/")
        events = reader.get(f"runs/{approval.run_id}/events/")

        assert one.json()["nonce"] is None
        assert [told["nonce"] for told in every.json()["results"]] == [None]
        assert {answer.status_code for answer in (one, every, run, events)} == {200}
        for answer in (one, every, run, events):
            assert approval.nonce not in answer.text

    def test_what_lies_behind_the_texts_is_not_told(self, program, approval):
        field = {"name": "a", "label": "A", "before": "1", "after": "•••"}
        hidden = {"attname": "a_id", "raw": "secret", "held": "digest"}
        one = {"kind": "change", "model": "a.b", "object_id": "1", "text": "One"}
        Interrupt.objects.update(
            proposal={
                "title": "Change one",
                "objects": [{**one, "fields": [{**field, **hidden}]}],
                "total": 1,
                "versions": {"a.b:1": "digest"},
                "exact": "print",
            }
        )

        response = program().get(f"interrupts/{approval.pk}/")

        told = response.json()["proposal"]
        assert told["objects"][0]["fields"] == [{**field, "looks_alike": False}]
        assert not {"secret", "digest", "print"} & set(response.text.split('"'))

    def test_list_by_filters(self, program, approval, question):
        def found(**filters):
            results = program().get("interrupts/", **filters).json()["results"]
            return {one["id"] for one in results}

        both = {str(approval.pk), str(question.pk)}
        assert found() == found(open="true") == both
        assert found(open="false") == set()
        assert (
            found(kind="question") == found(run=question.run_id) == {str(question.pk)}
        )


class TestAnswer:
    @pytest.mark.parametrize(
        ("decision", "status"), [("approve", "approved"), ("deny", "denied")]
    )
    def test_answer_of_an_approval(self, program, approval, decision, status):
        told = answer(program, approval, decision=decision).json()

        approval.refresh_from_db()
        assert told["status"] == approval.status == status
        assert approval.run.state == "queued"

    def test_reason_is_told_to_the_model(self, program, approval):
        answer(program, approval, decision="deny", reason="Not today.")

        approval.call.refresh_from_db()
        assert "Not today." in approval.call.result["error"]

    def test_options_of_a_question(self, program, question):
        answer(program, question, decision="answer", chosen=["r", "b"])

        question.refresh_from_db()
        assert (question.status, question.answer) == ("answered", ["r", "b"])

    def test_question_that_is_skipped(self, program, question):
        assert answer(program, question, decision="skip").json()["status"] == "declined"

    @pytest.mark.parametrize(
        ("body", "wanted"),
        [
            ({}, "invalid"),
            ({"decision": "edit"}, "invalid"),
            ({"decision": "approve", "edited": {}}, "invalid"),
            ({"decision": "approve", "reason": "x"}, "invalid"),
            ({"decision": "deny", "rows": ["1"]}, "invalid"),
            ({"decision": "approve", "rows": "1"}, "invalid"),
            ({"decision": "approve", "rows": ["1\x00"]}, "invalid"),
            ({"decision": "approve", "rows": ["1"]}, "bad_decision"),
            ({"decision": "answer", "answer": "x"}, "bad_decision"),
            ({"decision": "skip"}, "bad_decision"),
            ({"decision": "deny", "reason": "a\x00"}, "binary"),
        ],
    )
    def test_invalid_answer_leaves_the_interrupt_open(
        self, program, approval, body, wanted
    ):
        response = answer(program, approval, **body)

        assert (response.status_code, code(response)) == (400, wanted)
        approval.refresh_from_db()
        assert approval.status == "open"

    def test_answer_without_its_nonce(self, program, approval):
        response = answer(program, approval, nonce="x", decision="approve")

        assert (response.status_code, code(response)) == (404, "not_found")

    def test_first_one_counts(self, program, approval):
        answer(program, approval, decision="deny")
        response = answer(program, approval, decision="approve")

        assert (response.status_code, code(response)) == (409, "already_answered")

    def test_answer_of_other_arguments(self, program, approval):
        approval.call.arguments = {"text": "other"}
        approval.call.save()

        response = answer(program, approval, decision="approve")

        assert (response.status_code, code(response)) == (409, "stale")
