"""A run is stored in few commits, and its text in a few a second."""

import asyncio
import time
from collections import Counter

import pytest
from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from ai_assistant import conf
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle import writer as flush_module
from ai_assistant.engine.lifecycle.writer import Flusher, RunWriter
from ai_assistant.engine.storage.lease import Hold, this_process
from ai_assistant.engine.storage.notifications import group_name
from ai_assistant.events import StepStarted, TextContent
from ai_assistant.exceptions import LostLease
from ai_assistant.models.event import RunEvent
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd, TextDelta
from tests.engine.conftest import said

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def commits(monkeypatch):
    """The moments at which something was committed, in any thread."""
    moments = []
    commit = BaseDatabaseWrapper.commit

    def counted(connection):
        moments.append(time.monotonic())
        return commit(connection)

    monkeypatch.setattr(BaseDatabaseWrapper, "commit", counted)
    execute_sql = CursorWrapper._execute

    def watched(cursor, sql, *arguments):
        writes = sql.lstrip().startswith(("INSERT", "UPDATE", "DELETE"))
        if writes and not cursor.db.in_atomic_block:
            moments.append(time.monotonic())
        return execute_sql(cursor, sql, *arguments)

    monkeypatch.setattr(CursorWrapper, "_execute", watched)
    return moments


@pytest.mark.row("D02")
class TestCommits:
    def test_commits_of_the_example(self, submission, function_model, commits):
        """3 steps, 2 tools, and 6 seconds of text played in one."""
        asked = []

        async def model(_request):
            asked.append(1)
            if len(asked) < 3:
                for chunk in reply("A.", call("echo", {"text": "a"})):
                    yield TextDelta(text=chunk) if isinstance(chunk, str) else chunk
                return
            for _ in range(120):
                yield TextDelta(text="word ")
                await asyncio.sleep(1 / 120)
            yield ReplyEnd(finish_reason="stop")

        function_model(model)
        hold = accept(submission(), owner=this_process()).hold
        begin = time.monotonic()
        asyncio.run(execute(hold, Flusher()))
        late_s = max(0.0, time.monotonic() - begin - 1.5)  # of a busy machine

        run = Run.objects.get()
        assert said(run) == "A.|A.|" + "word " * 120
        # Of the 40 that 6 s may take, 20 are for the other 5 s.
        assert len(commits) <= 20 + 4 * late_s

    def test_commits_at_most_six_a_second(
        self, submission, function_model, commits, monkeypatch
    ):
        monkeypatch.setattr(conf, "FLUSH_S", 0.0)
        monkeypatch.setattr(flush_module, "FLUSH_BYTES", 1)

        async def model(_request):
            for _ in range(100):
                yield TextDelta(text="word ")
                await asyncio.sleep(0.01)
            yield ReplyEnd(finish_reason="stop")

        function_model(model)
        hold = accept(submission(), owner=this_process()).hold
        before = len(commits)
        asyncio.run(execute(hold, Flusher()))

        spent_s = commits[-1] - commits[before]
        assert len(commits) - before <= 6 * (spent_s + 1)

    def test_commits_without_text(self, play, script, commits):
        script.add(reply("", call("echo", {"text": "a"})), "Yes.")

        play()

        # accept, reply, result, reply with the end
        assert len(commits) <= 5


@pytest.fixture
def hold(submission):
    return accept(submission(), owner=this_process()).hold


def writing(hold, flusher):
    return RunWriter(hold, group_name(1, Run.objects.get().conversation_id), flusher)


def piece(offset, delta, message_id="m"):
    return TextContent(message_id=message_id, offset=offset, delta=delta)


def logged():
    return [
        (event.type, event.payload.get("delta"))
        for event in RunEvent.objects.order_by("seq")
        if event.type == "TEXT_MESSAGE_CONTENT"
    ]


class TestFlusher:
    def test_pieces_become_one_event(self, hold):
        writer = None

        async def scenario():
            writer.text(piece(0, "a"))
            writer.text(piece(1, "b"))
            writer.text(piece(2, "c"))
            while writer.pending or writer.in_flight:
                await asyncio.sleep(0.01)

        writer = writing(hold, Flusher())
        asyncio.run(scenario())

        assert logged() == [("TEXT_MESSAGE_CONTENT", "abc")]

    def test_two_messages_stay_apart(self, hold):
        writer = writing(hold, Flusher())

        async def scenario():
            writer.text(piece(0, "a"))
            writer.text(piece(0, "b", "n"))
            await writer.commit()

        asyncio.run(scenario())

        assert [delta for _, delta in logged()] == ["a", "b"]

    def test_several_runs_share_a_commit(self, submission, commits):
        holds = [accept(submission(), owner=this_process()).hold for _ in range(5)]
        flusher = Flusher()
        writers = [RunWriter(hold, "g", flusher) for hold in holds]
        before = len(commits)

        async def scenario():
            for writer in writers:
                writer.text(piece(0, "a"))
            while any(writer.pending or writer.in_flight for writer in writers):
                await asyncio.sleep(0.01)

        asyncio.run(scenario())

        assert len(commits) - before == 1
        assert len(logged()) == 5

    def test_one_lost_run_does_not_harm_another(self, submission):
        holds = [accept(submission(), owner=this_process()).hold for _ in range(2)]
        Run.objects.filter(pk=holds[0].run_id).update(epoch=9)
        flusher = Flusher()
        lost, kept = [RunWriter(hold, "g", flusher) for hold in holds]

        async def scenario():
            lost.text(piece(0, "a"))
            kept.text(piece(0, "b"))
            while kept.pending or kept.in_flight or not lost.lost.is_set():
                await asyncio.sleep(0.01)
            with pytest.raises(LostLease):
                await lost.commit()

        asyncio.run(scenario())

        assert [delta for _, delta in logged()] == ["b"]
        assert not kept.lost.is_set()

    def test_text_is_kept_while_the_database_is_away(self, hold, monkeypatch):
        store, tries = flush_module._store, []

        def away(batches):
            tries.append(1)
            if len(tries) == 1:
                raise DatabaseError("disk full")
            return store(batches)

        monkeypatch.setattr(flush_module, "_store", away)
        writer = writing(hold, Flusher())

        async def scenario():
            writer.text(piece(0, "a"))
            while not tries:
                await asyncio.sleep(0.01)
            writer.text(piece(1, "b"))
            while writer.pending or writer.in_flight:
                await asyncio.sleep(0.01)

        asyncio.run(scenario())

        assert "".join(delta for _, delta in logged()) == "ab"

    def test_text_that_may_be_stored_is_left_to_the_next_owner(self, hold, monkeypatch):
        def unknown(_batches):
            raise LostLease("went away at a commit")

        monkeypatch.setattr(flush_module, "_store", unknown)
        writer = writing(hold, Flusher())

        async def scenario():
            writer.text(piece(0, "a"))
            await asyncio.wait_for(writer.lost.wait(), 20)

        asyncio.run(scenario())

        assert writer.pending == []

    def test_much_text_is_flushed_at_once(self, hold, monkeypatch):
        monkeypatch.setattr(conf, "FLUSH_S", 60.0)
        monkeypatch.setattr(flush_module, "FLUSH_BYTES", 10)
        monkeypatch.setattr(flush_module, "SPACING_S", 0.0)
        writer = writing(hold, Flusher())

        async def scenario():
            writer.text(piece(0, "x" * 10))
            while writer.pending or writer.in_flight:
                await asyncio.sleep(0.01)

        asyncio.run(scenario())

        assert len(logged()) == 1


class TestWriter:
    def test_writer_takes_the_text_along(self, hold):
        writer = writing(hold, Flusher())

        async def scenario():
            writer.note(StepStarted(index=0))
            writer.text(piece(0, "a"))
            await writer.commit()
            await writer.commit()

        asyncio.run(scenario())

        assert [event.type for event in RunEvent.objects.order_by("seq")] == [
            "RUN_STARTED",
            "STEP_STARTED",
            "TEXT_MESSAGE_CONTENT",
        ]

    def test_writer_gives_back_what_was_not_written(self, hold):
        writer = writing(hold, Flusher())

        def refuse():
            raise KeyError

        async def scenario():
            writer.text(piece(0, "a"))
            with pytest.raises(KeyError):
                await writer.commit(refuse)
            await writer.commit()

        asyncio.run(scenario())

        assert [delta for _, delta in logged()] == ["a"]

    def test_writer_finishes_a_commit_that_is_cancelled(self, hold):
        writer = writing(hold, Flusher())
        began = []

        def slow():
            began.append(1)
            time.sleep(0.1)
            return [StepStarted(index=0)]

        async def scenario():
            task = asyncio.create_task(writer.commit(slow))
            while not began:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(scenario())

        assert Counter(RunEvent.objects.values_list("type", flat=True)) == {
            "RUN_STARTED": 1,
            "STEP_STARTED": 1,
        }

    def test_writer_of_a_zombie_raises(self, hold):
        zombie = Hold(run_id=hold.run_id, owner=hold.owner, epoch=0)

        async def scenario():
            writer = RunWriter(zombie, "g", Flusher())
            writer.note(StepStarted(index=0))
            with pytest.raises(LostLease):
                await writer.commit()

        asyncio.run(scenario())

        assert RunEvent.objects.count() == 1
