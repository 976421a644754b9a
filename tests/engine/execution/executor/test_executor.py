"""The runs of a process: taken, executed, stopped, and left to others in time."""

import asyncio
import threading

import pytest
from django.db import DatabaseError

from ai_assistant import conf
from ai_assistant.engine import service
from ai_assistant.engine.execution import executor as module
from ai_assistant.engine.execution.executor import Executor, executor
from ai_assistant.engine.execution.resume import Outcome
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import Refused
from ai_assistant.models import Profile
from ai_assistant.models.run import Run
from ai_assistant.testing import reply
from ai_assistant.types import ReplyEnd
from tests.engine.conftest import dead_owner, said
from tests.engine.execution.executor.conftest import booted, get_run, is_final, until

pytestmark = pytest.mark.django_db(transaction=True)


class TestTaking:
    def test_queued_runs(self, submission, script):
        script.add(*[reply("Hello.")] * 3)
        run_ids = [accept(submission()).run_id for _ in range(3)]

        async def scenario():
            async with booted():
                for run_id in run_ids:
                    await until(is_final, run_id)

        asyncio.run(scenario())

    def test_runs_of_the_dead(self, submission, script):
        script.add(reply("Hello."))
        accepted = accept(submission(), owner=dead_owner())

        async def scenario():
            async with booted():
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert get_run().epoch == 2

    def test_own_run_whose_lease_ran_out(self, submission, endless, script, options):
        """The former task is a zombie of the same process, and is ended."""

        async def scenario():
            async with booted() as own:
                accepted = await service.send(submission())
                await asyncio.to_thread(endless.wait, 20)
                former = own._tasks[accepted.run_id]
                while not former.done():
                    # Each flush of its text renews it.
                    await in_db(
                        lambda: Run.objects.filter(epoch=1).update(lease_until=0)
                    )
                    own.wake()
                    await asyncio.sleep(0.01)
                assert own._tasks[accepted.run_id] is not former
                await service.stop(get_user_id(submission), accepted.run_id)
                await until(is_final, accepted.run_id)

        def get_user_id(make):
            return make().user_id

        asyncio.run(scenario())

        assert (get_run().state, get_run().epoch) == ("cancelled", 2)


class TestStopping:
    def test_stopping_ends_a_run_at_once(self, submission, endless, user):
        async def scenario():
            async with booted():
                accepted = await service.send(submission())
                await asyncio.to_thread(endless.wait, 20)
                await service.stop(user.pk, accepted.run_id)
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        run = get_run()
        assert run.state == "cancelled"
        assert said(run).startswith("word ")

    def test_flag_of_another_process(self, submission, endless, options):
        options(POLL_S=0.05)

        async def scenario():
            async with booted():
                accepted = await service.send(submission())
                await asyncio.to_thread(endless.wait, 20)
                await in_db(stop, accepted.run_id)
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert get_run().state == "cancelled"

    def test_stopping_before_the_first_step(self, submission, endless, user):
        async def scenario():
            async with booted():
                for _ in range(5):
                    accepted = await service.send(submission())
                    await service.stop(user.pk, accepted.run_id)
                    await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert set(Run.objects.values_list("state", flat=True)) == {"cancelled"}

    def test_stopping_of_another_user(self, submission, staff):
        run_id = accept(submission()).run_id

        with pytest.raises(Refused) as refused:
            asyncio.run(service.stop(staff.pk, run_id))

        assert refused.value.code == "not_found"
        assert get_run().state == "queued"


class TestWatch:
    @pytest.mark.parametrize("error", [DatabaseError("away"), KeyError("odd")])
    def test_watch_outlives_errors(
        self, submission, script, monkeypatch, options, error
    ):
        options(POLL_S=0.02)
        script.add(reply("Hello."))
        sweep, tries = module.sweep_once, []

        def fails_once():
            tries.append(1)
            if len(tries) == 1:
                raise error
            return sweep()

        monkeypatch.setattr(module, "sweep_once", fails_once)
        run_id = accept(submission()).run_id

        async def scenario():
            async with booted() as own:
                await until(is_final, run_id)
                assert own.is_alive

        asyncio.run(scenario())

    def test_watch_reads_the_profiles_of_the_admin_before_any_message(self):
        Profile.objects.create(name="stored", model="openai/x")

        async def scenario():
            async with booted():
                await until(lambda: "stored" in conf.profiles())

        asyncio.run(scenario())

    def test_watch_is_booted_once(self):
        async def scenario():
            async with booted() as own:
                first = own._watch
                own.boot()
                assert own._watch is first

        asyncio.run(scenario())

    def test_worker_process_of_the_web_does_not_watch(self, options):
        options(EXECUTOR="worker")

        async def scenario():
            service.boot()
            assert not executor().is_alive

        asyncio.run(scenario())

    def test_dropped_run_is_logged(self, submission, monkeypatch, caplog):
        async def broken(*_run):
            raise DatabaseError("away")

        monkeypatch.setattr(module, "execute", broken)

        async def scenario():
            async with booted() as own:
                own.launch((await in_db(accept_here)).hold)
                while own._tasks:
                    await asyncio.sleep(0.01)

        def accept_here():
            return accept(submission(), owner=this_process())

        asyncio.run(scenario())

        assert "was dropped" in caplog.text
        assert get_run().state == "running"


class TestHeartbeat:
    def test_heartbeat_renews_the_lease_of_a_silent_run(
        self, submission, function_model, monkeypatch
    ):
        # Often, and not a short lease: on a busy machine that runs out.
        monkeypatch.setattr("ai_assistant.conf.heartbeat_s", lambda: 0.05)
        asked = threading.Event()

        async def silent(_request):
            asked.set()
            await asyncio.sleep(20)
            yield ReplyEnd(finish_reason="stop")

        function_model(silent)

        async def scenario():
            async with booted() as own:
                accepted = await service.send(submission())
                await asyncio.to_thread(asked.wait, 20)
                first = (await in_db(get_run)).lease_until
                while (await in_db(get_run)).lease_until == first:
                    await asyncio.sleep(0.02)
                assert accepted.run_id in own._tasks
                assert (await in_db(get_run)).epoch == 1

        asyncio.run(scenario())

    def test_a_deaf_loop_loses_its_runs(self, submission, options):
        options(LEASE_S=1.0)
        own = Executor()
        hold = accept(submission(), owner=own.owner).hold
        own._tasks[hold.run_id] = None
        Run.objects.update(lease_until=0)

        own._beat_at -= 100
        own._renew()
        assert get_run().lease_until == 0

        own._beat_at += 100
        own._renew()
        assert get_run().lease_until > 0

    def test_heartbeat_survives_a_database_that_is_away(
        self, submission, monkeypatch, caplog
    ):
        own = Executor()
        own._tasks[accept(submission(), owner=own.owner).run_id] = None

        def away(*_):
            raise DatabaseError("away")

        monkeypatch.setattr(module, "renew_leases", away)

        own._renew()

        assert "could not be renewed" in caplog.text


class TestExecutorOfTheProcess:
    def test_process_has_one_executor(self):
        assert executor() is executor()

    def test_executor_of_the_process_of_a_fork_is_another(self, monkeypatch):
        first = executor()
        monkeypatch.setattr(module.os, "getpid", lambda: -1)

        assert executor() is not first


class TestEnd:
    """Who waits for the end of a run, or for its room, is looked for; else nobody is."""

    @pytest.mark.parametrize(
        ("outcome", "room", "looks"),
        [
            (Outcome.LAST, 50, False),
            (Outcome.LAST, 1, True),
            (Outcome.SUCCEEDED, 50, True),
            (Outcome.OTHER, 50, True),
        ],
    )
    def test_end_wakes_the_watch_only_for_somebody(
        self, submission, monkeypatch, options, outcome, room, looks
    ):
        async def ended(*_run):
            return outcome

        monkeypatch.setattr(module, "execute", ended)
        options(LIMITS={"RUNS_PER_PROCESS": room})
        hold = accept(submission(), owner=this_process()).hold

        async def scenario():
            own = executor()
            own.launch(hold)
            while own._tasks:
                await asyncio.sleep(0)
            return own._wake.is_set()

        assert asyncio.run(scenario()) is looks

    @pytest.mark.parametrize("waits", [False, True])
    def test_message_that_waits_is_seen_in_the_transaction_of_the_end(
        self, submission, script, waits
    ):
        script.add("Yes.")
        accepted = accept(submission(), owner=this_process())
        if waits:
            accept(submission(conversation_id=accepted.conversation_id))

        outcome = asyncio.run(execute(accepted.hold, Flusher()))

        assert outcome == (Outcome.SUCCEEDED if waits else Outcome.LAST)
