"""A tool asks, and a message may be the answer."""

import pytest
from django.utils.translation import gettext_lazy

from ai_assistant import Ask, RunContext
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import facts, resume, statuses
from tests.engine.interrupts.conftest import asker_tool
from tests.engine.people import at_once, given, refusal
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


class TestQuestion:
    @pytest.fixture
    def asked(self, play, script, offer):
        offer(
            asker_tool(options=("red", gettext_lazy("blue"))),
            effect="write",
            policy="allow",
        )
        script.add(reply("", call("asker")), "Nice.")
        return play()

    @pytest.mark.row("Q01")
    def test_question_waits_and_writes_nothing(self, asked):
        assert (asked.state, statuses(asked)) == ("waiting_answer", ["waiting"])
        assert Effect.objects.count() == 0
        question = asked.interrupts.get()
        assert question.question == "Which colour?"
        assert [option["id"] for option in question.options] == ["red", "blue"]
        assert (asked.owner, question.question_kind) == ("", "select")

    @pytest.mark.row("Q02")
    def test_answer_calls_the_tool_again(self, asked, script):
        answer(given(asked, text=" green "))

        run = resume(asked)

        assert (run.state, run.calls.get().result["data"]) == ("succeeded", "green")
        assert [effect.key for effect in Effect.objects.all()] == ["green"]
        assert script.requests[1].messages[-1]["content"] == "green"

    def test_empty_answer(self, asked):
        assert refusal(answer, given(asked, text="  ")) == "empty"

    def test_question_is_answered_once(self, asked):
        first = given(asked, text="red")
        answer(first)

        assert refusal(answer, first) == "already_answered"

    @pytest.mark.row("Q03")
    def test_question_of_ten_answers_at_once_one_wins(self, asked):
        words = ("red", "blue") * 5
        answers = [given(asked, text=word) for word in words]

        found = at_once(*[lambda one=one: answer(one) for one in answers])

        assert found.count("already_answered") == 9
        [won] = [
            word
            for word, one in zip(words, found, strict=True)
            if one.__class__ is not str
        ]
        assert resume(asked).calls.get().result["data"] == won

    def test_two_questions_of_one_tool(self, play, script, offer):
        def curious(context: RunContext) -> list[str]:
            for key in ("first", "second"):
                if key not in context.answers:
                    raise Ask(f"{key}?", key=key)
            return [context.answers["first"], context.answers["second"]]

        offer(curious)
        script.add(reply("", call("curious")), "Thanks.")
        run = play()
        answer(given(run, text="1"))
        run = resume(run)
        assert run.state == "waiting_answer"
        answer(given(run, text="2"))

        assert resume(run).calls.get().result["data"] == ["1", "2"]

    def test_question_after_an_approval(self, asks, play, script, offer):
        offer(asker_tool(), effect="write")
        script.add(reply("", call("asker")), "Nice.")
        run = play()
        answer(given(run, "approve"))
        run = resume(run)
        assert run.state == "waiting_answer"
        answer(given(run, text="red"))

        run = resume(run)

        assert (run.state, run.interrupts.count()) == ("succeeded", 2)

    def test_approval_comes_first_in_the_state(self, asks, play, script, offer):
        offer(asker_tool(), effect="read")
        script.add(reply("", call("asker"), call("write_effect", {"key": "a"})))

        assert play().state == "waiting_approval"


class TestMessageWhileWaiting:
    def test_message_while_waiting_denies_an_approval_with_its_text(
        self, waiting, submission, script
    ):
        sent = submission("No, rename b", conversation_id=waiting.conversation_id)

        accepted = accept(sent)

        assert (accepted.run_id, accepted.woken) == (waiting.pk, True)
        run = resume(waiting)
        assert (run.state, statuses(run)) == ("succeeded", ["denied"])
        chat = script.requests[1].messages
        assert [message["role"] for message in chat[-2:]] == ["tool", "user"]
        assert "No, rename b" in chat[-2]["content"]
        assert chat[-1]["content"] == "No, rename b"
        assert "aia.message" in facts(run)

    def test_answers_a_question(self, play, script, offer, submission):
        offer(asker_tool())
        script.add(reply("", call("asker")), "Nice.")
        run = play()

        accept(submission("blue", conversation_id=run.conversation_id))

        assert resume(run).calls.get().result["data"] == "blue"

    def test_message_while_waiting_that_is_no_answer_is_what_was_said_instead(
        self, play, script, offer, submission
    ):
        offer(asker_tool(kind="confirm"))
        script.add(reply("", call("asker")), "I see.")
        run = play()

        accept(submission("Not yet", conversation_id=run.conversation_id))

        run = resume(run)
        assert statuses(run) == ["cancelled"]
        assert run.interrupts.get().status == "declined"
        assert "wrote instead: “Not yet”" in script.requests[1].messages[-2]["content"]

    def test_twice_is_once(self, waiting, submission):
        sent = submission("No", conversation_id=waiting.conversation_id)
        accept(sent)

        repeated = accept(sent)

        assert (repeated.run_id, repeated.is_new) == (waiting.pk, False)
        assert not repeated.woken
        assert waiting.messages.filter(role="user").count() == 2

    def test_ten_at_once_are_one(self, waiting, submission):
        sent = submission("No", conversation_id=waiting.conversation_id)

        found = at_once(*[lambda: accept(sent)] * 10)

        assert sum(one.woken for one in found) == 1
        assert resume(waiting).state == "succeeded"

    def test_message_while_waiting_denies_all_open_approvals(
        self, asks, play, script, submission
    ):
        script.add(
            reply("", *[call("write_effect", {"key": key}) for key in "ab"]), "I see."
        )
        run = play()

        accept(submission("No", conversation_id=run.conversation_id))

        assert statuses(resume(run)) == ["denied", "denied"]

    def test_message_while_waiting_waits_while_a_task_works(
        self, play, script, submission, offer
    ):
        offer(lambda: 1, name="long", background=True)
        script.add(reply("", call("long")))
        run = play()
        assert run.state == "waiting_task"

        sent = submission("Hurry", conversation_id=run.conversation_id)
        assert accept(sent).queued
        assert run.messages.filter(role="user").count() == 1
