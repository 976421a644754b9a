"""
A run goes on from its last durable point, wherever its process was killed.

A kill is played by cancelling the task that executes the run, before or after
each of its commits, and by giving its row to a process that is dead.
"""

import asyncio
from contextlib import suppress

import pytest

from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import claim_runs
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models.event import RunEvent
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd, TextDelta
from tests.engine.conftest import bury, facts, resume, said, statuses
from tests.engine.kill import Kill
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = RunEvent.objects.filter(type="TEXT_MESSAGE_CONTENT")


def begin(submission):
    return accept(submission(), owner=this_process()).hold


def resumed(hold):
    run = Run.objects.get(pk=hold.run_id)
    return run if run.is_final else resume(bury(run))


async def model(request):
    """Look, write, write, and say so, whatever was said before."""
    results = [m for m in request.messages if m["role"] == "tool"]
    if not results:
        return reply("First.", call("echo", {"text": "a"}), call("echo", {"text": "b"}))
    if len(results) == 2:
        writes = [call("write_effect", {"key": key}) for key in "cd"]
        return reply("Then.", *writes)
    return reply("Done.")


class TestKilledAnywhere:
    @pytest.mark.row("L05")
    @pytest.mark.row("D12")
    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("at", range(8))
    def test_killed_anywhere_ends_as_if_nothing_had_happened(
        self, submission, function_model, monkeypatch, at, after
    ):
        function_model(model)
        hold = begin(submission)
        kill = Kill(monkeypatch, at=at, after=after)

        kill.execute(hold)

        run = resumed(hold)
        assert run.state == "succeeded"
        assert said(run) == "First.|Then.|Done."
        assert statuses(run) == ["complete"] * 4
        assert [effect.key for effect in Effect.objects.all()] == ["c", "d"]
        assert list(run.steps.values_list("index", flat=True)) == [0, 1, 2]

    def test_all_commits_were_tried(self, submission, function_model, monkeypatch):
        function_model(model)
        hold = begin(submission)
        kill = Kill(monkeypatch, at=99, after=False)

        kill.execute(hold)

        assert kill.seen <= 8

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("at", range(4))
    def test_killed_twice(self, submission, function_model, monkeypatch, at, after):
        function_model(model)
        hold = begin(submission)
        for place in (at, at):
            with monkeypatch.context() as patch:
                kill = Kill(patch, at=place, after=after)
                kill.execute(hold)
            run = Run.objects.get(pk=hold.run_id)
            if not run.is_final:
                (hold,) = claim_runs(this_process(), 1) if bury(run) else ()

        asyncio.run(execute(hold, Flusher()))

        run = Run.objects.get(pk=hold.run_id)
        assert run.state == "succeeded"
        assert [effect.key for effect in Effect.objects.all()] == ["c", "d"]


class TestKilledWhileStreaming:
    @pytest.fixture
    def cut(self, submission, function_model):
        """Kill a run in the middle of its text; return it, and its first message."""
        spoke = asyncio.Event

        def play():
            asked = []

            async def talk(_request):
                asked.append(1)
                if len(asked) > 1:
                    yield TextDelta(text="Another answer.")
                    yield ReplyEnd(finish_reason="stop")
                    return
                while not await in_db(TEXTS.exists):
                    yield TextDelta(text="half ")
                    await asyncio.sleep(0.01)
                reached.set()
                await asyncio.sleep(20)

            function_model(talk)
            hold = begin(submission)
            reached = None

            async def scenario():
                nonlocal reached
                reached = spoke()
                task = asyncio.create_task(execute(hold, Flusher()))
                await reached.wait()
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

            asyncio.run(scenario())
            return bury(Run.objects.get(pk=hold.run_id))

        return play

    def test_partial_answer_is_replaced(self, cut):
        run = cut()
        begun = run.events.filter(type="TEXT_MESSAGE_START").get()

        run = resume(run)

        assert (run.state, said(run)) == ("succeeded", "Another answer.")
        told = facts(run)
        assert told.index("aia.resumed") < told.index("aia.replaced")
        replaced = run.events.get(payload__name="aia.replaced").payload["value"]
        assert replaced == {"message_id": begun.payload["message_id"]}

    def test_partial_answer_of_a_stopped_run_is_kept(self, cut):
        run = cut()
        Run.objects.update(stop_requested=True)

        run = resume(run)

        assert run.state == "cancelled"
        assert said(run).startswith("half ")
        assert "aia.replaced" not in facts(run)

    def test_killed_while_streaming_is_given_up_after_five_times(self, cut):
        run = cut()
        Run.objects.update(attempts=5)

        run = resume(run)

        assert (run.state, run.error_code) == ("failed", "interrupted")
        assert "interrupted 6 times" in run.error_text


class TestDurablePoints:
    def test_reply_is_not_asked_for_again(self, submission, script, monkeypatch):
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
        hold = begin(submission)
        kill = Kill(monkeypatch, at=0, after=True)
        kill.execute(hold)

        run = resumed(hold)

        assert run.state == "succeeded"
        assert len(script.requests) == 2

    def test_attempts_count_until_the_next_reply(self, submission, script, monkeypatch):
        script.add(
            reply("", call("echo", {"text": "a"})),
            reply("", call("echo", {"text": "b"})),
        )
        script.add("Done.")
        hold = begin(submission)
        kill = Kill(monkeypatch, at=1, after=True)
        kill.execute(hold)

        run = resumed(hold)

        assert (run.attempts, run.state) == (0, "succeeded")
        resumed_fact = run.events.get(payload__name="aia.resumed")
        assert resumed_fact.payload["value"] == {"attempt": 1}

    @pytest.mark.parametrize(
        "said",
        [
            {"external": True},
            {"effect_of": lambda _: "write", "external_of": lambda _: True},
        ],
        ids=["the tool", "this call of it"],
    )
    def test_external_call_that_was_cut_off_is_unknown(
        self, submission, script, offer, monkeypatch, said
    ):
        done = []
        offer(
            lambda: done.append(1), name="mail", effect="write", policy="allow", **said
        )
        script.add(reply("", call("mail")))
        hold = begin(submission)
        kill = Kill(monkeypatch, at=2, after=False)  # the record of what was done
        kill.execute(hold)
        assert done == [1]

        run = resumed(hold)

        assert done == [1]
        assert (run.state, statuses(run)) == ("needs_review", ["unknown"])
        assert "Mail" in run.error_text

    def test_call_shown_as_working_is_carried_out_again(
        self, submission, script, monkeypatch
    ):
        from ai_assistant.models.call import ToolCall

        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
        hold = begin(submission)
        Kill(monkeypatch, at=1, after=False).execute(hold)
        ToolCall.objects.update(status="executing")

        run = resumed(hold)

        assert statuses(run) == ["complete"]
        assert Effect.objects.count() == 1

    def test_too_many_calls_are_not_carried_out(
        self, submission, script, options, monkeypatch
    ):
        options(LIMITS={"CALLS_PER_STEP": 2})
        script.add(reply("", *[call("write_effect", {"key": "a"})] * 3))
        hold = begin(submission)
        Kill(monkeypatch, at=0, after=True).execute(hold)

        run = resumed(hold)

        assert (run.state, run.error_code) == ("limited", "limit_calls")
        assert Effect.objects.count() == 0

    def test_waiting_run_survives(self, play, script, options):
        from ai_assistant.engine.interrupts.answers import answer

        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
        run = play()
        answer(given(run, "approve"))

        run = resume(run)

        assert (run.state, run.attempts) == ("succeeded", 0)
        assert "aia.resumed" not in facts(run)
