"""A run can be stopped in each of its states, and stays stopped."""

import asyncio
import threading
from contextlib import suppress

import pytest

from ai_assistant import Ask, RunContext
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.lifecycle.stop import stop, stop_session
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models.run import Run, RunState
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from ai_assistant.types import TextDelta
from tests.engine.conftest import bury, facts, resume, said, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stopped(submission):
    """Execute a run, and stop it as its executor does when `ready` is set."""

    def play(ready):
        hold = accept(submission(), owner=this_process()).hold

        async def scenario():
            task = asyncio.create_task(execute(hold, Flusher()))
            await asyncio.to_thread(ready.wait, 20)
            await in_db(stop, hold.run_id)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        asyncio.run(scenario())
        return Run.objects.get(pk=hold.run_id)

    return play


class TestWithoutAnOwner:
    def test_queued(self, submission):
        run_id = accept(submission()).run_id

        assert stop(run_id).ended

        run = Run.objects.get(pk=run_id)
        assert (run.state, run.error_code) == ("cancelled", "stopped")

    @pytest.mark.parametrize("kind", ["approval", "answer", "task"])
    def test_waiting(self, play, script, offer, options, kind):
        options(POLICY={})

        def asks(context: RunContext) -> None:
            raise Ask("Well?")

        if kind == "task":
            offer(lambda: 1, name="tool", background=True)
        else:
            offer(asks, name="tool", effect="write" if kind == "approval" else "read")
        script.add(reply("", call("tool")))
        run = play()
        assert run.state == f"waiting_{kind}"

        assert stop(run.pk).ended

        run.refresh_from_db()
        one = run.calls.get()
        assert run.state == "cancelled"
        assert (one.status, one.reason) == ("cancelled", "stopped")
        assert run.interrupts.get().status == "cancelled"

    def test_second_stop_finds_the_run_ended(self, submission):
        run_id = accept(submission()).run_id
        stop(run_id)

        assert stop(run_id).ended

    def test_without_an_owner_after_the_end(self, play, script):
        script.add("Hello.")
        run = play()

        assert stop(run.pk).ended

        run.refresh_from_db()
        assert (run.state, run.stop_requested) == ("succeeded", False)


class TestWhileRunning:
    def test_while_running_is_a_flag(self, submission):
        hold = accept(submission(), owner=this_process()).hold

        assert not stop(hold.run_id).ended
        assert not stop(hold.run_id).ended

        run = Run.objects.get(pk=hold.run_id)
        assert (run.state, run.stop_requested) == ("running", True)
        assert facts(run) == ["RUN_STARTED", "aia.stopping"]

    def test_streaming_keeps_what_was_said(self, stopped, function_model):
        spoke = threading.Event()
        closed = threading.Event()

        async def endless(_request):
            try:
                while True:
                    yield TextDelta(text="word ")
                    spoke.set()
                    await asyncio.sleep(0.01)
            finally:
                closed.set()

        function_model(endless)

        run = stopped(spoke)

        assert closed.is_set()
        assert (run.state, run.error_code) == ("cancelled", "stopped")
        message = run.messages.get(role="assistant")
        assert message.text.startswith("word ")
        assert message.state == "interrupted"

    def test_while_running_before_the_first_token(self, stopped, function_model):
        asked = threading.Event()

        async def silent(_request):
            asked.set()
            await asyncio.sleep(20)

        function_model(silent)

        run = stopped(asked)

        assert (run.state, said(run)) == ("cancelled", "")

    def test_during_a_read(self, stopped, script, offer):
        begun, end = threading.Event(), threading.Event()

        def read() -> None:
            begun.set()
            end.wait(20)

        offer(read)
        script.add(reply("", call("read"), call("read")))

        run = stopped(begun)
        end.set()

        assert (run.state, statuses(run)) == ("cancelled", ["cancelled"] * 2)

    def test_during_a_write(self, stopped, script, offer):
        begun = threading.Event()

        def slow(context: RunContext, key: str) -> str:
            Effect.objects.create(key=key, run=context.run_id)
            begun.set()
            # The stop comes now; it has to wait for the lock that is held here.
            return key

        offer(slow, effect="write", policy="allow")
        script.add(reply("", call("slow", {"key": "a"}), call("slow", {"key": "b"})))
        script.add([20.0, "If both were written before the stop was stored."])

        run = stopped(begun)

        assert run.state == "cancelled"
        done = statuses(run).count("complete")
        assert Effect.objects.count() == done

    def test_during_an_external_effect(self, stopped, script, offer):
        begun = threading.Event()

        async def mail() -> None:
            begun.set()
            await asyncio.sleep(20)

        offer(mail, effect="write", external=True, policy="allow")
        script.add(reply("", call("mail")))

        run = stopped(begun)

        assert (run.state, statuses(run)) == ("needs_review", ["unknown"])

    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_swallowed_by_a_tool(self, stopped, script, offer, effect):
        begun = threading.Event()

        async def stubborn() -> str:
            begun.set()
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(20)
            return "I am still here."

        offer(stubborn, effect=effect, external=effect == "write", policy="allow")
        script.add(reply("", call("stubborn")), "More.")

        run = stopped(begun)

        assert run.state == "cancelled"
        assert len(script.requests) == 1

    def test_while_running_before_it_begins(self, submission, script):
        hold = accept(submission(), owner=this_process()).hold
        stop(hold.run_id)

        asyncio.run(execute(hold, Flusher()))

        run = Run.objects.get(pk=hold.run_id)
        assert (run.state, script.requests) == ("cancelled", [])


class TestDeadOwner:
    def test_next_owner_ends_it(self, submission, script):
        hold = accept(submission(), owner=this_process()).hold
        stop(hold.run_id)

        run = resume(bury(Run.objects.get(pk=hold.run_id)))

        assert (run.state, script.requests) == ("cancelled", [])


class TestRaceWithAWait:
    def test_run_is_not_parked(self, play, script, offer, options):
        options(POLICY={"write_effect": "ask"})

        def press_stop(context: RunContext) -> None:
            stop(context.run_id)

        offer(press_stop)
        script.add(reply("", call("write_effect", {"key": "a"}), call("press_stop")))

        run = play()

        assert (run.state, run.error_code) == ("cancelled", "stopped")
        assert statuses(run) == ["cancelled", "complete"]

    def test_parked_after_all(self, play, script, options):
        options(POLICY={"write_effect": "ask"})
        script.add(reply("", call("write_effect", {"key": "a"})))
        run = play()
        Run.objects.update(
            stop_requested=True, error_code="signed_out", error_text="S."
        )

        assert sweep_once().moved == [run.pk]

        run.refresh_from_db()
        assert (run.state, run.error_code) == ("cancelled", "signed_out")
        assert run.error_text == "S."


class TestStopSession:
    ENDING = Ending(state=RunState.CANCELLED, code="signed_out", text="You signed out.")

    def test_stop_session_stops_what_works(self, submission):
        mine = accept(submission(stamp=SessionStamp(session_digest="mine"))).run_id
        other = accept(submission(stamp=SessionStamp(session_digest="other"))).run_id

        stop_session("mine", self.ENDING)

        run = Run.objects.get(pk=mine)
        assert (run.state, run.error_code) == ("cancelled", "signed_out")
        assert run.error_text == "You signed out."
        assert Run.objects.get(pk=other).state == "queued"

    def test_reason_outlives_the_owner(self, submission):
        stamp = SessionStamp(session_digest="mine")
        hold = accept(submission(stamp=stamp), owner=this_process()).hold
        stop_session("mine", self.ENDING)

        asyncio.run(execute(hold, Flusher()))

        run = Run.objects.get()
        assert (run.state, run.error_text) == ("cancelled", "You signed out.")

    def test_stop_session_leaves_what_waits_for_the_person(self, play, script, options):
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})))
        run = play(stamp=SessionStamp(session_digest="mine"))

        assert stop_session("mine", self.ENDING) == []

        run.refresh_from_db()
        assert run.state == "waiting_approval"

    def test_stop_session_stops_a_task(self, play, script, given_out):
        script.add(reply("", call("background_steps", {"n": 1})))
        run = play(stamp=SessionStamp(session_digest="mine"))

        stop_session("mine", self.ENDING)

        run.refresh_from_db()
        assert run.state == "cancelled"
        assert perform(given_out[0]) is None
        assert Effect.objects.count() == 0
