"""What waits for a row that another transaction holds, and what does not."""

import asyncio
import threading
import time
from datetime import timedelta
from functools import partial
from importlib import import_module

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from ai_assistant import RunContext
from ai_assistant.engine import service
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.calls.write_limit import within_limit
from ai_assistant.engine.execution.sweep import claim_runs, overdue_s, sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.lifecycle.stop import stop, stop_session
from ai_assistant.engine.lifecycle.writer import Flusher, RunWriter
from ai_assistant.engine.storage import units
from ai_assistant.engine.storage.lease import (
    RunLocked,
    database_now,
    pass_by_state,
    this_process,
)
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.events import TextContent
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import BackgroundCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import UNFINISHED, Run, StopRequest
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on, statuses
from tests.engine.people import at_once, locked
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

of_postgres = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="of PostgreSQL only"
)
LIMITS = ("lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout")
ENDING = Ending(state="cancelled", code="signed_out", text="Signed out.")


@unit
def note(run):
    """Do what every unit of a run begins with."""
    pass_by_state(run.pk, UNFINISHED)


@unit
def limits():
    return shown()


def shown():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT " + ", ".join(f"current_setting('{name}')" for name in LIMITS)
        )
        return cursor.fetchone()


@pytest.fixture(autouse=True, scope="module")
def _no_connection_is_left():
    """The test database can be removed only when nobody uses it."""
    yield
    lane = units._pool.lanes[Stage.FINISH]
    pools = [(one, one._max_workers) for one in (units._writes, units._tools)]
    for pool, threads in [(lane, units._pool.most), *pools]:
        together = threading.Barrier(threads)

        def close(together=together):
            together.wait(30)
            connections.close_all()

        for closed in [pool.submit(close) for _ in range(threads)]:
            closed.result()


@pytest.fixture
def short(monkeypatch):
    """Let nobody wait for long."""
    monkeypatch.setattr(units, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(units, "LOCK_WAIT_S", 0.05)


@pytest.fixture
def queued(submission):
    return Run.objects.get(pk=accept(submission()).run_id)


@pytest.fixture
def asked(play, script, options):
    """A run that waits for an approval."""
    options(POLICY={})
    script.add(reply("", call("write_effect", {"key": "a"})), "I see.")
    return play()


@of_postgres
class TestLimits:
    def test_limits_of_a_unit(self):
        before = shown()

        assert limits() == ("200ms", "10s", before[2])
        assert shown() == before

    def test_limits_are_the_hosts_in_a_transaction_of_the_host(self):
        with transaction.atomic():
            before = shown()

            assert limits() == before

    def test_limits_of_a_tool_are_the_sites_and_its_own(self, options):
        options(TIMEOUTS={"WRITE_S": 7})
        found = []

        @unit
        def write():
            with within_limit():
                found.append(shown())
            found.append(shown())

        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '33s'")
        write()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")

        assert found == [("33s", "7s", "7s"), ("200ms", "10s", "0")]


@of_postgres
@pytest.mark.usefixtures("short")
class TestUnit:
    def test_unit_does_not_wait_for_ever(self, queued):
        with locked(queued), pytest.raises(RunLocked):
            note(queued)

    def test_unit_waits_for_a_moment(self, queued, monkeypatch):
        monkeypatch.setattr(units, "LOCK_WAIT_S", 60)

        with locked(queued) as let_go:
            threading.Timer(0.3, let_go).start()
            note(queued)

    def test_unit_that_waits_leaves_threads_to_others(self, queued, monkeypatch):
        monkeypatch.setattr(units, "LOCK_WAIT_S", 60)

        async def main(let_go):
            waiting = [asyncio.ensure_future(in_db(note, queued)) for _ in range(4)]
            while sum(one.done() for one in waiting) < 4 - units.WAITERS:
                await asyncio.sleep(0.01)
            answered = await in_db(lambda: 1)
            let_go()
            ends = await asyncio.gather(*waiting, return_exceptions=True)
            return answered, ends

        with locked(queued) as let_go:
            answered, ends = asyncio.run(main(let_go))

        assert answered == 1
        assert [type(end) for end in ends].count(RunLocked) == 4 - units.WAITERS

    def test_unit_of_a_process_that_hangs_is_ended(self, queued, monkeypatch):
        monkeypatch.setattr(units, "IDLE_LIMIT_S", 0.1)
        tries = []

        @unit
        def hangs():
            tries.append(1)
            pass_by_state(queued.pk, UNFINISHED)
            if len(tries) == 1:
                monkeypatch.setattr(units, "IDLE_LIMIT_S", 10.0)  # of the second try
                time.sleep(0.5)
            Run.objects.count()

        hangs()

        assert len(tries) == 2


@of_postgres
@pytest.mark.usefixtures("short")
class TestPeople:
    def test_answer_is_refused_as_locked(self, asked):
        interrupt = asked.interrupts.get()
        given = Answer(
            user_id=asked.user_id,
            interrupt_id=interrupt.pk,
            nonce=interrupt.nonce,
            decision="deny",
        )

        with locked(asked), pytest.raises(Refused) as refused:
            asyncio.run(service.answer(given))

        assert refused.value.code == "locked"
        assert asked.interrupts.get().status == "open"

    def test_stop_is_noted_and_takes_place_later(self, asked):
        with locked(asked):
            assert not stop(asked.pk).ended
            assert Run.objects.get().is_stopping
            assert sweep_once().moved == []

        assert sweep_once().moved == [asked.pk]
        assert Run.objects.get().state == "cancelled"
        assert not StopRequest.objects.exists()

    def test_sign_out_waits_for_none(self, asked):
        Run.objects.update(session_digest="s")

        with locked(asked):
            assert [one.ended for one in stop_session("s", ENDING)] == [False]

        sweep_once()
        assert Run.objects.get().error_code == "signed_out"


@of_postgres
@pytest.mark.usefixtures("short")
class TestSweep:
    def test_sweep_passes_by_what_is_locked(self, play, script, options):
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})))
        held = play()
        script.add(reply("", call("write_effect", {"key": "b"})))
        late = play()
        Interrupt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        with locked(held):
            assert sweep_once().moved == [late.pk]
        assert sweep_once().moved == [held.pk]

    def test_what_is_locked_takes_no_room(self, submission):
        first, second = (
            Run.objects.get(pk=accept(submission()).run_id) for _ in range(2)
        )

        with locked(first):
            (hold,) = claim_runs(this_process(), 1)

        assert hold.run_id == second.pk
        stop(first.pk)
        carry_on(hold)

    def test_sweep_goes_on_after_a_part_that_fails(self, monkeypatch, asked, caplog):
        sweep = import_module("ai_assistant.engine.execution.sweep")
        monkeypatch.setattr(sweep, "_expire_waits", lambda _swept: 1 / 0)
        StopRequest.objects.create(run=asked, code="stopped")

        assert sweep_once().moved == [asked.pk]
        assert "a part of the sweep failed" in caplog.text


@of_postgres
@pytest.mark.usefixtures("short")
class TestHolder:
    @pytest.fixture
    def holds(self, submission):
        for _ in range(2):
            accept(submission())
        return claim_runs(this_process(), 2)

    def test_commits_when_the_row_is_free(self, holds, monkeypatch):
        monkeypatch.setattr("ai_assistant.engine.lifecycle.writer.LOCKED_S", 0.01)
        own, other = holds

        async def main(let_go):
            writer = RunWriter(own, "group", Flusher())
            landing = asyncio.ensure_future(writer.commit(list))
            await asyncio.wait([landing], timeout=0.5)
            is_waiting = not landing.done()
            let_go()
            await landing
            return is_waiting

        with locked(Run.objects.get(pk=own.run_id)) as let_go:
            assert asyncio.run(main(let_go))
        carry_on(own)
        carry_on(other)

    def test_text_of_others_is_stored(self, holds):
        flush = import_module("ai_assistant.engine.lifecycle.writer")
        facts = [TextContent(message_id="m", delta="Hello", offset=0)]
        own, other = holds

        with locked(Run.objects.get(pk=own.run_id)):
            found = flush._store([(own, facts), (other, facts)])

        assert [one.end for one in found] == [flush.LOCKED, flush.STORED]
        (landed,) = flush._store([(own, facts)])
        assert landed.end == flush.STORED


@of_postgres
class TestTool:
    def test_write_that_hangs_is_told_and_not_repeated(
        self, play, script, offer, options
    ):
        options(TIMEOUTS={"WRITE_S": 0.2})
        begun = []

        def hangs(context: RunContext) -> None:
            begun.append(1)
            Effect.objects.create(key="a", run=context.run_id)
            time.sleep(1)
            Effect.objects.create(key="b", run=context.run_id)

        offer(hangs, effect="write", policy="allow")
        script.add(reply("", call("hangs")), "Done.")

        run = play()

        assert (run.state, statuses(run), begun) == ("succeeded", ["failed"], [1])
        assert "was undone" in run.calls.get().result["error"]
        assert not Effect.objects.exists()

    def test_piece_that_hangs_is_lost(self, play, script, offer, options, given_out):
        options(TIMEOUTS={"PIECE_S": 0.2})

        def hangs(context: RunContext) -> None:
            with context.transaction():
                Effect.objects.create(key="a", run=context.run_id)
                time.sleep(1)

        offer(hangs, effect="write", background=True, policy="allow")
        script.add(reply("", call("hangs")))
        run = play()

        assert perform(given_out.pop()) is None
        assert statuses(run) == ["executing"]
        assert not Effect.objects.exists()
        stop(run.pk)

    def test_pieces_of_one_run_wait_for_each_other(
        self, play, script, offer, given_out, short
    ):
        def piece(context: RunContext, key: str) -> None:
            with context.transaction():
                Effect.objects.create(key=key, run=context.run_id)
                time.sleep(0.4)

        offer(piece, effect="write", background=True, policy="allow")
        asked = [call("piece", {"key": key}) for key in "abc"]
        script.add(reply("", *asked), "Done.")
        run = play()
        calls = [given_out.pop() for _ in asked]
        at_once(*[partial(perform, call_id) for call_id in calls])

        assert statuses(run) == ["complete"] * 3
        assert Effect.objects.count() == 3
        stop(run.pk)


class TestOverdue:
    """What health tells of leases that are over."""

    @pytest.mark.parametrize(("late_s", "told"), [(1, 0), (1000, 1)])
    def test_run_that_nobody_takes(self, queued, late_s, told):
        until = database_now() - late_s
        Run.objects.update(state="running", owner="other", lease_until=until)

        assert len(overdue_s()) == told

        Run.objects.update(state="queued", owner="")

    def test_long_tool(self, play, script):
        script.add(reply("", call("background_steps", {"n": 1})))
        run = play()
        run.calls.update(status="executing")
        BackgroundCall.objects.update(owner="other", lease_until=1)

        assert len(overdue_s()) == 1

        stop(run.pk)


class TestWish:
    """The wish to stop, before the run has noted it; on every database."""

    @pytest.fixture
    def wished(self, asked):
        StopRequest.objects.create(run=asked, code="signed_out", text="Signed out.")
        return asked

    def test_wish_ends_a_run_that_nobody_holds(self, wished):
        assert sweep_once().moved == [wished.pk]

        run = Run.objects.get()
        assert (run.state, run.error_code, run.error_text) == (
            "cancelled",
            "signed_out",
            "Signed out.",
        )
        assert not StopRequest.objects.exists()

    def test_wish_ends_one_that_is_taken_up(self, wished):
        Run.objects.update(state="queued")
        (hold,) = claim_runs(this_process(), 1)

        run = carry_on(hold)

        assert (run.state, run.error_code) == ("cancelled", "signed_out")
        assert not StopRequest.objects.exists()

    def test_wish_is_forgotten_with_a_run_that_has_ended(self, wished):
        Run.objects.update(state="succeeded")

        sweep_once()

        assert not StopRequest.objects.exists()
        Run.objects.update(state="queued")
        stop(wished.pk)

    def test_wish_is_seen_by_the_next_piece(self, play, script, offer, given_out):
        def pieces(context: RunContext) -> None:
            for key in "ab":
                with context.transaction():
                    Effect.objects.create(key=key, run=context.run_id)
                StopRequest.objects.get_or_create(run_id=context.run_id, code="stopped")

        offer(pieces, effect="write", background=True, policy="allow")
        script.add(reply("", call("pieces")))
        run = play()

        assert perform(given_out.pop()) is None
        assert list(Effect.objects.values_list("key", flat=True)) == ["a"]
        sweep_once()
        assert statuses(run) == ["cancelled"]

    def test_wish_is_seen_by_a_write(self, play, script, offer):
        def prepare(context: RunContext) -> None:
            StopRequest.objects.create(run_id=context.run_id, code="stopped")

        def write(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)

        offer(write, effect="write", policy="allow", prepare=prepare)
        script.add(reply("", call("write")))

        assert play().state == "cancelled"
        assert not Effect.objects.exists()

    def test_wish_of_a_run_that_has_ended_is_none(self, play, script):
        script.add("Done.")

        assert stop(play().pk).ended
        assert not StopRequest.objects.exists()


@of_postgres
def test_other_errors_are_no_lock():
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '50ms'")
        with pytest.raises(OperationalError) as raised:
            cursor.execute("SELECT pg_sleep(60)")
        cursor.execute("RESET statement_timeout")

    assert not units.is_lock_timeout(raised.value)
