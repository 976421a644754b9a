"""Write the events of a run as they come, many of them in one commit."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError

from ai_assistant import conf
from ai_assistant.engine.lifecycle.commits import Closing, Work, Write, write
from ai_assistant.engine.lifecycle.hooks import carried_on, work_asking
from ai_assistant.engine.loop import CallDraft
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.eventlog import (
    StoredEvent,
    append_events,
)
from ai_assistant.engine.storage.lease import (
    Hold,
    RunLocked,
    pass_fence,
)
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import (
    in_db,
    in_write_thread,
    is_lock_timeout,
    unit_once,
)
from ai_assistant.events import Event, ReasoningContent, StepStarted, TextContent
from ai_assistant.exceptions import LostLease
from ai_assistant.hooks.lending import HooksTakeLong
from ai_assistant.hooks.running import Asks

LATE_SHARE = 5  # a round that came 10 ms late adds 50 ms to the next pause
MOST_S = 0.5


class Pace:
    """The pause between two rounds of work that can as well be done in fewer."""

    def __init__(self, pause_s: float) -> None:
        self._least_s = pause_s
        self.pause_s = pause_s

    def came(self, late_s: float) -> None:
        """Take note of how late a round was."""
        wanted_s = self._least_s + LATE_SHARE * max(0.0, late_s)
        self.pause_s = min(MOST_S, wanted_s)


logger = logging.getLogger("ai_assistant")

FLUSH_BYTES = 2048
SPACING_S = 0.17  # between two commits, so that there are at most six a second

STORED, LOST, LOCKED = "stored", "lost", "locked"

Batch = tuple[Hold, list[Event]]


class Flusher:
    """Gathers the writers that have text waiting, and flushes them together."""

    def __init__(self) -> None:
        self._dirty: dict[RunWriter, None] = {}
        self._soon = asyncio.Event()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def want(self, writer: "RunWriter") -> None:
        """Flush `writer` with the next commit."""
        self._dirty[writer] = None
        self._wanted.set()
        if writer.pending_chars >= FLUSH_BYTES:
            self._soon.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._run(), context=contextvars.Context()
            )

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            await asyncio.sleep(SPACING_S)
            try:
                rest_s = max(conf.FLUSH_S - SPACING_S, 0)
                async with asyncio.timeout(rest_s):
                    await self._soon.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            self._soon.clear()
            await self._flush()

    async def _flush(self) -> None:
        writers = [writer for writer in self._dirty if writer.pending]
        self._dirty.clear()
        if not writers:
            return
        landed = asyncio.get_running_loop().create_future()
        for writer in writers:
            writer.in_flight = landed
        try:
            await self._land(writers)
        finally:
            landed.set_result(None)
            for writer in writers:
                writer.in_flight = None

    async def _land(self, writers: list["RunWriter"]) -> None:
        # No wake: the live frames have shown it, and panels poll anyway.
        batches = [(writer.hold, writer.take()) for writer in writers]
        try:
            found = await to_store(_store, batches)
        except LostLease:
            # Perhaps stored, perhaps not: whoever takes the runs over can see.
            found = [_Stored(LOST)] * len(writers)
        except (DatabaseError, InterfaceError) as error:
            # The text is still here, and the next flush tries again.
            logger.warning("text could not be stored, will try again: %s", error)
            for writer, (_, batch) in zip(writers, batches, strict=True):
                writer.give_back(batch)
                self.want(writer)
            return
        for writer, (_, batch), one in zip(writers, batches, found, strict=True):
            if one.end == LOST:
                writer.lost.set()
            elif one.end == LOCKED:
                writer.give_back(batch)
                self.want(writer)
            else:
                writer.tell_stored(one.events)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What became of a batch, and its events if they are stored."""

    end: str
    events: Sequence[StoredEvent] = ()


@unit_once
def _store(batches: list[Batch]) -> list[_Stored]:
    """Store every batch; return for each whether its run was lost or locked."""
    return [_stored(hold, batch) for hold, batch in batches]


def _stored(hold: Hold, batch: list[Event]) -> _Stored:
    try:
        # The texts of all others must not wait for one run.
        first = pass_fence(hold, events=len(batch), waits=False)
    except LostLease:
        return _Stored(LOST)
    except RunLocked:
        return _Stored(LOCKED)
    events = append_events(hold.run_id, batch, first_seq=first, epoch=hold.epoch)
    return _Stored(STORED, events)


LIVE_S = 0.08  # at most this often a live frame
LOCKED_S = 0.5  # between two attempts to commit for a run that is locked
DRAFT_S = 0.2  # at most this often one of calls that are being written

to_store = partial(in_db, stage=Stage.FINISH)
Runner = Callable[..., Awaitable[list[StoredEvent]]]


class RunWriter:
    """Writes for one run, as long as `hold` is good."""

    def __init__(self, hold: Hold, group: str, flusher: Flusher) -> None:
        self.hold = hold
        self.group = group
        self.since = time.monotonic()
        self.lost = asyncio.Event()
        self.pending: list[Event] = []
        self.pending_chars = 0
        self.step = 0
        self.in_flight: asyncio.Future[None] | None = None
        self._flusher = flusher
        self._deferred: list[Work] = []
        self._lock = asyncio.Lock()
        self._live: TextContent | ReasoningContent | None = None
        self._live_at = 0.0
        self._pace = Pace(LIVE_S)
        self._live_timer: asyncio.TimerHandle | None = None
        self._drafts: dict[int, CallDraft] = {}  # by position, not sent yet
        self._drafts_timer: asyncio.TimerHandle | None = None

    def running_s(self) -> float:
        """Return the seconds of this stretch up to now."""
        return time.monotonic() - self.since

    def note(self, fact: Event) -> None:
        """Store `fact` with the next commit."""
        if isinstance(fact, StepStarted):
            self.step = fact.index
        self.pending.append(fact)

    def defer(self, work: Work) -> None:
        """Do `work` with the next commit, which follows at once."""
        self._deferred.append(work)

    def text(self, fact: TextContent | ReasoningContent) -> None:
        """Store a piece of text with the next flush, and show it now."""
        last = self.pending[-1] if self.pending else None
        if _continues(last, fact):
            self.pending[-1] = _joined(last, fact)
        else:
            self.pending.append(fact)
        self.pending_chars += len(fact.delta)
        self._flusher.want(self)
        self._show(fact)

    def draft(self, draft: CallDraft) -> None:
        """Show a call that is being written, soon. It is never stored."""
        self._drafts[draft.position] = draft
        if self._drafts_timer is None:
            self._send_drafts()

    def _send_drafts(self) -> None:
        self._drafts_timer = None
        drafts, self._drafts = self._drafts, {}
        for draft in drafts.values():
            notifications.send(self.group, self._draft_frame(draft))
        if drafts:
            loop = asyncio.get_running_loop()
            self._drafts_timer = loop.call_later(DRAFT_S, self._send_drafts)

    def _draft_frame(self, draft: CallDraft) -> dict[str, Any]:
        return {
            "type": "aia.live",
            "run": str(self.hold.run_id),
            "epoch": self.hold.epoch,
            "step": self.step,
            "message": draft.message_id,
            "position": draft.position,
            "name": draft.name,
            "arguments": draft.arguments,
        }

    def take(self) -> list[Event]:
        """Hand out what waits, for a commit."""
        batch, self.pending, self.pending_chars = self.pending, [], 0
        return batch

    def give_back(self, batch: list[Event]) -> None:
        """Take back what could not be committed."""
        self.pending = batch + self.pending

    async def commit(
        self, work: Work | Closing | None = None, *, runner: Runner = to_store
    ) -> None:
        """
        Commit what waits and what `work` does, with the lease, in one transaction.

        `work` returns the events that it made. Raise LostLease if this process does
        not hold the run any more; then nothing was written.
        """
        works = [work] if work is not None else []
        self._tell(await self._stored(runner, works), works)

    async def commit_asking(self, asks: Asks[list[Work | Closing]]) -> None:
        """
        Do as `commit` does, with what `asks` returns: it asks hooks before.

        The thread that commits calls them. Meanwhile nothing is written, and nothing
        else is kept from being written if they take long.
        """
        found: list[Work | Closing] = []
        asking = work_asking(asks, Stage.FINISH)

        async def runner(
            write: Write, hold: Hold, batch: list[Event], works: list[Work | Closing]
        ) -> list[StoredEvent]:
            def then(own: list[Work | Closing]) -> list[StoredEvent]:
                found[:] = own
                return write(hold, batch, [*works, *own])

            return await carried_on(asking, then, Stage.FINISH)

        try:
            while True:
                try:
                    stored = await self._stored(runner, None)
                    break
                except HooksTakeLong:
                    if self.pending:  # text need not wait for them
                        self._flusher.want(self)
                    await asking.hooks_called()
        finally:
            asking.close()
        self._tell(stored, found)

    async def _stored(
        self, runner: Runner, works: list[Work | Closing] | None
    ) -> list[StoredEvent]:
        """Commit what waits and `works`; None: that of the runner itself."""
        stored: list[StoredEvent] = []
        async with self._lock:
            if self.in_flight is not None:
                await asyncio.wait([self.in_flight])
            if self.lost.is_set():
                raise LostLease(f"Run {self.hold.run_id} was taken over.")
            batch, every = self.take(), [*self._deferred, *(works or [])]
            if batch or every or works is None:
                stored = await self._write(self._landed(runner, batch, every), batch)
            self._deferred = []
        return stored

    def _tell(
        self, stored: Sequence[StoredEvent], works: Sequence[Work | Closing]
    ) -> None:
        told = [work.told for work in works if isinstance(work, Closing)]
        more = told[0] if told else {}
        notifications.tell(self.group, self.hold.run_id, stored, **more)

    async def _landed(
        self, runner: Runner, batch: list[Event], works: list[Work | Closing]
    ) -> list[StoredEvent]:
        """Commit, as soon as no other transaction holds the run's row."""
        while True:
            try:
                return await runner(write, self.hold, batch, works)
            except OperationalError as error:
                # Of a tool's own statement it is the tool's matter.
                is_ours = isinstance(error, RunLocked) or runner is not in_write_thread
                if not is_ours or not is_lock_timeout(error):
                    raise
            # By a piece of a background tool, say. The thread is others' meanwhile.
            await asyncio.sleep(LOCKED_S)
            if self.lost.is_set():
                raise LostLease(f"Run {self.hold.run_id} was taken over.")

    async def _write(
        self, commit: Coroutine[Any, Any, list[StoredEvent]], batch: list[Event]
    ) -> list[StoredEvent]:
        """Wait until a commit has finished, even if the run is being stopped."""
        task = asyncio.ensure_future(commit)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise
        finally:
            if task.done() and (task.cancelled() or task.exception() is not None):
                # Nothing was written: the next commit takes it along.
                self.give_back(batch)

    def tell_stored(self, events: Sequence[StoredEvent]) -> None:
        """Tell those who listen here the numbers of what they have seen live."""
        said = {"type": "aia.stored", "run": str(self.hold.run_id), "events": events}
        notifications.tell_here(self.group, said)

    def _show(self, fact: TextContent | ReasoningContent) -> None:
        if _continues(self._live, fact):
            self._live = _joined(self._live, fact)
        else:
            self._send_live()
            self._live = fact
        if not fact.offset or self._live_timer is None:
            self._send_live()  # the first piece of each text goes out at once
        if self._live_timer is None:
            loop = asyncio.get_running_loop()
            self._live_at = loop.time() + self._pace.pause_s
            self._live_timer = loop.call_at(self._live_at, self._live_due)

    def _live_due(self) -> None:
        self._pace.came(asyncio.get_running_loop().time() - self._live_at)
        self._live_timer = None
        self._send_live()

    def _send_live(self) -> None:
        fact, self._live = self._live, None
        if fact is None:
            return
        frame = {
            "type": "aia.live",
            "run": str(self.hold.run_id),
            "epoch": self.hold.epoch,
            "step": self.step,
            "message": fact.message_id,
            "reasoning": isinstance(fact, ReasoningContent),
            "offset": fact.offset,
            "text": fact.delta,
        }
        notifications.send(self.group, frame)


def _continues(last: Any, fact: TextContent | ReasoningContent) -> bool:
    return (
        type(last) is type(fact)
        and last.message_id == fact.message_id
        and last.offset + len(last.delta) == fact.offset
    )


def _joined(last: Any, fact: TextContent | ReasoningContent) -> Any:
    return replace(last, delta=last.delta + fact.delta)
