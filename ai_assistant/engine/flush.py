"""One commit for the text of all runs of this process, a few times a second."""

import asyncio
import contextvars
import logging
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError

from ai_assistant import conf
from ai_assistant.engine.db import in_db, unit_once
from ai_assistant.engine.eventlog import append
from ai_assistant.engine.fence import Hold, RunLocked, pass_fence
from ai_assistant.events import Event
from ai_assistant.exceptions import LostLease

if TYPE_CHECKING:
    from ai_assistant.engine.writer import RunWriter

logger = logging.getLogger("ai_assistant")

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
        if writer.pending_chars >= conf.get("FLUSH_BYTES"):
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
                rest_s = max(float(conf.get("FLUSH_S")) - SPACING_S, 0)
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
        # Nobody is rung for: the live frames have told it, and panels look anyway.
        batches = [(writer.hold, writer.take()) for writer in writers]
        try:
            found = await in_db(_store, batches)
        except LostLease:
            # Perhaps stored, perhaps not: whoever takes the runs over can see.
            found = [LOST] * len(writers)
        except (DatabaseError, InterfaceError) as error:
            # The text is still here, and the next flush tries again.
            logger.warning("text could not be stored, will try again: %s", error)
            for writer, (_, batch) in zip(writers, batches, strict=True):
                writer.give_back(batch)
                self.want(writer)
            return
        for writer, (_, batch), end in zip(writers, batches, found, strict=True):
            if end == LOST:
                writer.lost.set()
            elif end == LOCKED:
                writer.give_back(batch)
                self.want(writer)


@unit_once
def _store(batches: list[Batch]) -> list[str]:
    """Store every batch; tell for each whether its run was lost meanwhile, or locked."""
    return [_stored(hold, batch) for hold, batch in batches]


def _stored(hold: Hold, batch: list[Event]) -> str:
    try:
        # The texts of all others must not wait for one run.
        first = pass_fence(hold, events=len(batch), waits=False)
    except LostLease:
        return LOST
    except RunLocked:
        return LOCKED
    append(hold.run_id, batch, first_seq=first, epoch=hold.epoch)
    return STORED
