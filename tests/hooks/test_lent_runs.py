"""Runs go on, and text is stored, while hooks keep the threads of the pool."""

import asyncio
import threading
from contextlib import suppress

import pytest

import ai_assistant
from ai_assistant import conf
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle import writer as writer_module
from ai_assistant.engine.lifecycle.commits import write
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.lifecycle.writer import Flusher, RunWriter
from ai_assistant.engine.storage import units
from ai_assistant.engine.storage.lease import RunLocked, this_process
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db
from ai_assistant.events import TextContent
from ai_assistant.hooks import lending
from ai_assistant.hooks.passes import Asking
from ai_assistant.models.event import RunEvent
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types.hook import POINTS
from tests.engine.conftest import statuses
from tests.hooks.lent import ASKED, SHORT_S, WAIT_S, context, hook, threads_at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("H15"),
    pytest.mark.usefixtures("lent_soon"),
]


class TestRuns:
    @pytest.mark.parametrize("point", POINTS)
    def test_one_that_hangs_ends_no_run(self, point, play, script, hanging, offer):
        offer(lambda: "a row", name="look")
        ai_assistant.hook(point, name=f"hangs-{point}", timeout_s=SHORT_S)(hanging)
        # With time for its update.
        script.add(reply("", call("look")), ["Done", 0.3, "."])

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert {one["hook"] for one in run.hook_errors} == {f"hangs-{point}"}
        assert len(threads_at_once()) == units._pool.most

    def test_a_guard_that_hangs_ends_it_with_a_sentence(self, play, script, hanging):
        ai_assistant.hook(
            "before_model_request", name="office", guard=True, timeout_s=SHORT_S
        )(hanging)
        script.add("Never said.")

        run = play()

        assert run.state == "failed"
        assert run.error_text == (
            "The check “office” of this site failed, so this is not done."
        )
        assert len(threads_at_once()) == units._pool.most

    @pytest.mark.parametrize("point", ["before_model_request", "after_tool"])
    def test_it_can_be_stopped_while_one_hangs(
        self, point, script, submission, offer, hanging
    ):
        offer(lambda: "a row", name="look")
        begun = threading.Event()

        def hangs(context, value):
            if point == "before_model_request" and value.step == 0:
                return  # that one is asked before the run begins
            begun.set()
            hanging(context, value)

        ai_assistant.hook(point, name=f"stopped-at-{point}", timeout_s=WAIT_S)(hangs)
        script.add(reply("", call("look")), "Done.")
        hold = accept(submission(), owner=this_process()).hold

        async def scenario():
            run = asyncio.create_task(execute(hold, Flusher()))
            await asyncio.to_thread(begun.wait, WAIT_S)
            await in_db(stop, hold.run_id)
            run.cancel()
            with suppress(asyncio.CancelledError):
                await run

        asyncio.run(scenario())

        run = Run.objects.get(pk=hold.run_id)
        assert (run.state, run.error_code) == ("cancelled", "stopped")
        assert len(threads_at_once()) == units._pool.most

    @pytest.mark.parametrize("point", ["before_tool", "after_tool", "run_finished"])
    def test_others_are_stored_while_hooks_take_long(
        self, point, script, submission, offer, user
    ):
        """As many as the pool has threads: and it is still there for everybody else."""
        offer(lambda: "a row", name="look")
        meet, over = threading.Semaphore(0), threading.Event()

        def long(context, value):
            meet.release()
            over.wait(WAIT_S)

        ai_assistant.hook(point, name=f"long-{point}", timeout_s=WAIT_S)(long)
        many = units._pool.most + 1
        script.add(*[reply("", call("look"))] * many, *["Done."] * many)
        holds = [
            accept(submission(f"Message {number}"), owner=this_process()).hold
            for number in range(many)
        ]

        async def side_by_side():
            flusher = Flusher()
            runs = [asyncio.create_task(execute(hold, flusher)) for hold in holds]
            for _ in holds:
                await asyncio.to_thread(meet.acquire, timeout=WAIT_S)
            found = await in_db(Run.objects.count, stage=Stage.BESIDE)
            over.set()
            await asyncio.gather(*runs)
            return found

        assert asyncio.run(side_by_side()) == many
        assert {run.state for run in Run.objects.all()} == {"succeeded"}


class LockTimeout(Exception):
    """What PostgreSQL raises where a row stays locked."""

    sqlstate = "55P03"


class TestCommits:
    @pytest.fixture
    def writer(self, submission):
        hold = accept(submission(), owner=this_process()).hold
        return RunWriter(hold, "group", Flusher())

    def texts(self):
        rows = RunEvent.objects.order_by("seq")
        return [row.payload["delta"] for row in rows if "delta" in row.payload]

    def asks(self, *hooks):
        """Ask hooks, and have a piece of text stored behind them."""
        yield [(hooks, Asking(value=ASKED, context=context))]
        return [lambda: [TextContent(message_id="n", offset=0, delta="behind")]]

    def test_text_is_stored_while_hooks_take_long(self, writer, monkeypatch):
        # Until after the moment for text, which finds none: the commit has it.
        monkeypatch.setattr(lending, "LONG_S", 2 * conf.FLUSH_S)
        over, found = threading.Event(), []

        def long(context, asked):
            over.wait(WAIT_S)

        async def scenario():
            writer.text(TextContent(message_id="m", offset=0, delta="before"))
            own = self.asks(hook(long, timeout_s=WAIT_S))
            commit = asyncio.create_task(writer.commit_asking(own))
            async with asyncio.timeout(WAIT_S / 2):
                while not found:
                    found[:] = await in_db(self.texts)
                    await asyncio.sleep(0.01)
            over.set()
            await commit

        asyncio.run(scenario())

        assert found == ["before"]
        assert self.texts() == ["before", "behind"]

    def test_hooks_are_asked_once_where_the_run_is_locked(self, writer, monkeypatch):
        asked, tried = [], []

        def locked_once(*args):
            tried.append(1)
            if len(tried) == 1:
                raise RunLocked from LockTimeout()
            return write(*args)

        monkeypatch.setattr(writer_module, "write", locked_once)
        monkeypatch.setattr(writer_module, "LOCKED_S", 0)
        own = self.asks(hook(lambda context, value: asked.append(1)))

        asyncio.run(writer.commit_asking(own))

        assert (len(asked), len(tried)) == (1, 2)
        assert self.texts() == ["behind"]
