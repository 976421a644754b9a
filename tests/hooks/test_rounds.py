"""At its end a run may go on by itself, or ask the person."""

import threading

import pytest

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.engine.calls.provenance import typed_by_person
from ai_assistant.engine.execution.ending import MADE_OF_DATA
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.hooks import NextRound
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.types import Usage
from tests.engine.conftest import carry_on, facts, resume, said, statuses
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H12")]


def asks_again(to="self", text="Check it once more.", most=1):
    """Register a hook that asks for so many further rounds."""

    @ai_assistant.hook("run_finished")
    def again(context, ended):
        rounds = context.state.get("rounds", 0)
        if ended.state != "succeeded" or rounds == most:
            return None
        context.state["rounds"] = rounds + 1
        return NextRound(to=to, text=text)


def next_of(run):
    return Run.objects.get(continues=run.pk)


def played_on(run):
    """Execute the rounds that follow a run; return all of them."""
    runs = [run]
    while following := Run.objects.filter(continues=runs[-1].pk).first():
        runs.append(resume(following))
    return runs


class TestSelf:
    def test_goes_on_in_a_run_that_continues_it(self, play, script):
        asks_again()
        script.add("First.", "Second.")

        runs = played_on(play("Look"))

        assert [run.state for run in runs] == ["succeeded"] * 2
        assert said(runs[1]) == "Second."
        asked = runs[1].messages.get(role="user")
        assert (asked.text, asked.origin) == ("Check it once more.", "hook")
        assert script.requests[1].messages[-1]["content"] == "Check it once more."

    def test_its_words_are_not_those_of_the_person(self, play, script):
        asks_again()
        script.add("First.", "Second.")

        runs = played_on(play("Look"))

        assert typed_by_person(runs[0].conversation_id) == ["Look"]

    def test_its_words_are_data_if_the_run_has_read_any(self, play, script, offer):
        asks_again()
        offer(lambda: "a row", name="look")
        script.add(reply("", call("look")), "First.", "Second.")

        runs = played_on(play("Look"))

        asked = runs[1].messages.get(role="user")
        assert asked.label == "data"
        assert asked.text.startswith(MADE_OF_DATA)

    def test_one_that_always_asks_ends_at_the_limit_with_a_sentence(
        self, options, play, script
    ):
        options(LIMITS={"STEPS": 3})
        asks_again(most=99)
        script.add(*["Again."] * 3)

        runs = played_on(play())

        assert [run.state for run in runs] == ["succeeded"] * 3 + ["limited"]
        assert runs[-1].error_text == (
            "Stopped after 3 steps: code of this site asked for another round each "
            "time. Continue, or tell whoever runs this site."
        )
        assert len(script.requests) == 3

    def test_the_time_of_all_rounds_counts(self, options, play, script):
        asks_again(most=99)
        script.add("First.", "Never said.")
        run = play()
        Run.objects.filter(continues=run.pk).update(chain_s=1e6)

        runs = played_on(run)

        assert (runs[-1].state, runs[-1].error_code) == ("limited", "limit_running_s")

    def test_the_tokens_of_all_rounds_count(self, options, play, script):
        options(BUDGETS=[{"scope": "run", "window": "run", "tokens": 100_000}])
        asks_again(most=99)
        script.add(*[reply("Again.", usage=Usage(input_tokens=70_000))] * 3)

        runs = played_on(play())

        assert (runs[-1].state, runs[-1].error_code) == ("limited", "budget")
        assert len(script.requests) < 3

    def test_a_person_who_goes_on_has_the_limits_anew(self, options, play, script):
        options(LIMITS={"STEPS": 1})
        asks_again(most=99)
        script.add("Again.", "Of a person.")
        runs = played_on(play())

        run = play("Go on.", conversation_id=runs[0].conversation_id)

        assert (run.chain, run.chain_steps, said(run)) == (None, 0, "Of a person.")

    def test_a_message_that_waits_comes_first(self, submission, script, play):
        asks_again()
        script.add("First.", "Second.")
        first = accept(submission(), owner=this_process())
        accept(submission("Mine", conversation_id=first.conversation_id))

        run = carry_on(first.hold)

        assert not Run.objects.filter(continues=run.pk).exists()

    def test_none_after_a_run_that_failed(self, options, play):
        @ai_assistant.hook("run_finished")
        def again(context, ended):
            return NextRound(to="self", text="Try again.")

        options(PROFILES={"default": {}})

        run = play()

        assert run.state == "failed"
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("text", ["", "x" * 200_000])
    def test_a_text_that_is_none_or_too_long_begins_none(self, play, script, text):
        asks_again(text=text)
        script.add("First.")

        run = play()

        assert (run.state, Run.objects.count()) == ("succeeded", 1)
        assert run.hook_errors

    def test_what_it_writes_asks_as_before(self, options, play, script, offer):
        """Words of a hook lend no write the person's consent."""
        asks_again(text="write down stolen")

        def write_down(context: RunContext, key: str) -> None:
            Effect.objects.create(key=key, run="0" * 32)

        offer(lambda: "a row", name="look")
        offer(write_down, effect="write", policy="allow")
        script.add(
            reply("", call("look")),
            "First.",
            reply("", call("write_down", {"key": "stolen"})),
        )

        runs = played_on(play("Look"))

        assert runs[1].state == "waiting_approval"
        assert Effect.objects.count() == 0


class TestPerson:
    def test_is_told_behind_the_answer(self, play, script):
        asks_again(to="person", text="Shall I send it?")
        script.add("It is written.")

        run = play()

        assert run.state == "succeeded"
        assert said(run) == "It is written.|Shall I send it?"
        assert facts(run)[-1] == "RUN_FINISHED"
        assert Run.objects.count() == 1

    def test_the_model_reads_it_with_the_next_message(self, play, script):
        asks_again(to="person", text="Shall I send it?")
        script.add("It is written.", "Sent.")
        run = play()

        play("Yes", conversation_id=run.conversation_id)

        told = [one["content"] for one in script.requests[1].messages[-3:]]
        assert told == ["It is written.", "Shall I send it?", "Yes"]


@pytest.mark.row("H05")
class TestStatus:
    def test_is_told_of_each_state(self, options, play, script):
        options(POLICY={})
        seen = []

        @ai_assistant.hook("status_changed")
        def watches(context, changed):
            seen.append(changed.state)

        script.add(reply("", call("write_effect", {"key": "a"})))

        run = play()

        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert seen == ["running", "waiting_approval"]

    def test_is_told_of_the_end(self, play, script):
        seen = []

        @ai_assistant.hook("status_changed")
        def watches(context, changed):
            seen.append(changed.state)

        script.add("Done.")

        play()

        assert seen == ["running", "succeeded"]

    def test_end_of_a_run_that_nobody_executed(self, options, play, script):
        options(POLICY={})
        told = threading.Event()
        seen = []

        @ai_assistant.hook("run_finished")
        def watches(context, ended):
            seen.append((ended.state, ended.steps))
            told.set()

        script.add(reply("", call("write_effect", {"key": "a"})))
        run = play()

        stop(run.pk)

        assert told.wait(30)
        assert seen == [("cancelled", 1)]


class TestAgent:
    @pytest.fixture(autouse=True)
    def _counter(self):
        with registry.restored():
            ai_assistant.agent("counter")(lambda context: "You count.")
            yield

    def test_is_asked_and_the_assistant_goes_on_with_its_answer(self, play, script):
        asks_again(to="counter", text="Count them.")
        script.add("First.", "Three.", "It says three.")

        run = resume(next_of(play("Look")))
        child = resume(Run.objects.get(root=run))
        run = resume(run)

        assert (run.state, child.state) == ("succeeded", "succeeded")
        assert (said(child), said(run)) == ("Three.", "|It says three.")
        asked = script.requests[1].messages
        assert [one["content"] for one in asked[1:]] == ["Count them."]
        assert script.requests[2].messages[-1]["content"] == "Three."

    def test_that_is_not_there_is_a_sentence_to_the_model(self, play, script):
        asks_again(to="nobody", text="Count them.")
        script.add("First.", "I cannot.")

        run = resume(next_of(play("Look")))

        assert said(run) == "|I cannot."
        assert "'nobody' cannot be asked here" in run.calls.get().error

    def test_that_was_asked_has_no_other_round(self, play, script):
        asks_again(text="More.")
        asked = {"agent": "counter", "task": "Count."}
        script.add(reply("", call("ask_agent", asked)), "Three.", "Done.", "Again.")

        run = play()
        child = resume(Run.objects.get(root=run))

        assert child.state == "succeeded"
        assert not Run.objects.filter(continues=child.pk).exists()
        assert "gives its answer once" in child.hook_errors[0]["error"]
