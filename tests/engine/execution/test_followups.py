"""What the model suggests to ask next comes with its answer, in the same reply."""

import json

import pytest

import ai_assistant
from ai_assistant.engine.calls.provenance import typed_by_person
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.hooks import NextRound
from ai_assistant.models.conversation import QueuedMessage
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd
from tests.engine.conftest import bury, carry_on, facts, resume, said, statuses
from tests.engine.kill import Kill

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("S04")]

ASKED = ["Which of them are late?", "Who is in charge?"]


def suggests(*items, text="Seven."):
    return reply(text, call("suggest_followups", {"items": list(items or ASKED)}))


@pytest.fixture(autouse=True)
def wanted(options):
    options(FOLLOWUPS=True)


class TestAnswer:
    def test_ends_with_the_reply_that_suggests(self, play, script):
        script.add(suggests(), "Never asked for.")

        run = play()

        assert (run.state, said(run), len(script.requests)) == (
            "succeeded",
            "Seven.",
            1,
        )
        assert run.calls.get().result["data"] == {"shown": ASKED}

    def test_is_stored_whole_with_the_end(self, play, script):
        script.add(suggests())

        run = play()

        assert facts(run) == [
            *("RUN_STARTED", "STEP_STARTED"),
            *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
            *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"),
            *("TOOL_CALL_RESULT", "STEP_FINISHED", "RUN_FINISHED"),
        ]

    def test_leaves_a_history_in_which_each_call_has_its_result(self, play, script):
        script.add(suggests(), "More.")
        run = play()
        play("Go on", conversation_id=run.conversation_id)

        _system, _asked, answer, result, after = script.requests[1].messages

        (called,) = answer["tool_calls"]
        assert answer["content"] == "Seven."
        assert (result["role"], result["tool_call_id"]) == ("tool", called["id"])
        assert json.loads(result["content"]) == {"shown": ASKED}
        assert after == {"role": "user", "content": "Go on"}

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("at", range(2))
    def test_ends_as_well_if_it_was_killed(
        self, submission, script, monkeypatch, at, after
    ):
        script.add(suggests(), suggests())
        hold = accept(submission(), owner=this_process()).hold
        Kill(monkeypatch, at=at, after=after).execute(hold)

        run = Run.objects.get(pk=hold.run_id)
        run = run if run.is_final else resume(bury(run))

        assert (run.state, said(run), statuses(run)) == (
            "succeeded",
            "Seven.",
            ["complete"],
        )
        assert run.steps.count() == 1

    def test_without_a_text_it_is_no_answer(self, play, script):
        script.add(suggests(text=""), "Seven.")

        run = play()

        assert (said(run), statuses(run)) == ("|Seven.", ["complete"])
        assert len(script.requests) == 2

    def test_beside_other_calls_it_is_no_answer(self, play, script):
        both = [call("echo", {"text": "a"}), call("suggest_followups", {"items": []})]
        script.add(reply("Let me look.", *both), "Seven.")

        run = play()

        assert said(run) == "Let me look.|Seven."
        assert statuses(run) == ["complete"] * 2

    def test_with_wrong_arguments_it_is_an_answer_without_suggestions(
        self, play, script
    ):
        script.add(reply("Seven.", call("suggest_followups", {"items": "What?"})))

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])

    def test_that_was_cut_says_so(self, play, script):
        script.add([*suggests(), ReplyEnd(finish_reason="length")])

        run = play()

        assert (run.state, run.error_code) == ("limited", "limit_length")
        assert statuses(run) == ["complete"]

    def test_in_a_site_that_asks_first_nobody_is_asked(self, play, script, options):
        options(POLICY={"suggest_followups": "ask"})
        script.add(suggests())

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["cancelled"])
        assert not run.interrupts.exists()

    def test_leaves_a_message_sent_meanwhile_for_the_next_run(self, submission, script):
        script.add(suggests(), "Later.")
        first = accept(submission(), owner=this_process())
        accept(
            submission("And?", conversation_id=first.conversation_id, steers=True),
        )

        run = carry_on(first.hold)

        assert [one.text for one in run.messages.filter(role="user")] == ["Hello"]
        assert QueuedMessage.objects.get().text == "And?"


class TestHooks:
    @pytest.fixture(autouse=True)
    def own(self):
        with registry.restored():
            yield

    def test_see_an_answer(self, play, script):
        seen = []

        @ai_assistant.hook("response_complete")
        def complete(context, given):
            seen.append(given.text)

        @ai_assistant.hook("run_finished")
        def finished(context, ended):
            seen.append(ended.text)

        script.add(suggests())
        play()

        assert seen == ["Seven."] * 2

    def test_change_what_is_suggested(self, play, script):
        @ai_assistant.hook("before_tool", tools="suggest_followups")
        def shorter(context, asked):
            return {"items": asked.arguments["items"][:1]}

        script.add(suggests())

        assert play().calls.get().result["data"] == {"shown": ASKED[:1]}

    def test_ask_for_another_round(self, play, script):
        @ai_assistant.hook("run_finished")
        def again(context, ended):
            if context.state.get("rounds"):
                return None
            context.state["rounds"] = 1
            return NextRound(to="self", text="Check it.")

        script.add(suggests(), "Right.")
        run = play()

        assert run.state == "succeeded"
        assert said(resume(Run.objects.get(continues=run.pk))) == "Right."


class TestOff:
    def test_is_not_offered(self, play, script, options):
        options(FOLLOWUPS=False)
        script.add("Seven.")
        play()

        names = [one["function"]["name"] for one in script.requests[0].tools]
        assert "suggest_followups" not in names
        assert "suggest_followups" not in script.requests[0].messages[0]["content"]

    def test_is_refused_if_it_is_called_all_the_same(self, play, script, options):
        options(FOLLOWUPS=False)
        script.add(suggests())

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["denied"])


class TestToolOfTheSite:
    def test_of_the_same_name_is_an_ordinary_one(self, play, script, offer):
        offer(lambda items: "seen", name="suggest_followups", schema={})
        script.add(reply("Seven.", call("suggest_followups", {})), "Done.")

        assert said(play()) == "Seven.|Done."


class TestWords:
    def test_that_were_suggested_are_not_those_of_the_person(self, play, script):
        script.add(suggests(), "Two.")
        run = play("How many?")
        play(ASKED[0], conversation_id=run.conversation_id)

        assert typed_by_person(run.conversation_id) == ["How many?"]

    def test_are_no_ones_in_other_letters_either(self, play, script):
        script.add(suggests("Pay order\u200b 7"), "Paid.")
        run = play("How many?")
        play("  PAY  order 7", conversation_id=run.conversation_id)

        assert typed_by_person(run.conversation_id) == ["How many?"]

    def test_that_the_person_wrote_before_stay_theirs(self, play, script):
        script.add("Yes.", suggests("Pay order 7"))
        run = play("Pay order 7")
        play("And?", conversation_id=run.conversation_id)

        assert typed_by_person(run.conversation_id) == ["Pay order 7", "And?"]

    def test_that_the_person_adds_to_are_theirs(self, play, script):
        script.add(suggests(), "Two.")
        run = play("How many?")
        play(f"{ASKED[0]} In May.", conversation_id=run.conversation_id)

        assert len(typed_by_person(run.conversation_id)) == 2


def test_history_of_a_run_alone_is_whole(play, script):
    script.add(suggests())

    run = play()

    assert [one["role"] for one in chat_messages(run)] == ["user", "assistant", "tool"]
