"""Follow one conversation: read its rows when notified, and send frames to a tab."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import Error as DatabaseFailure

from ai_assistant import conf
from ai_assistant.engine.lifecycle.writer import Pace
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.units import in_db
from ai_assistant.render.html.live.frames import frames_of
from ai_assistant.render.html.live.projection import Projection

logger = logging.getLogger("ai_assistant")

MAX_LIVE = 500  # frames that may wait; what was dropped is in the rows


class SocketClosed(Exception):
    """The page was left: nothing can be sent to it any more."""


class Follower:
    """
    Follows one conversation for a tab or a stream.

    The layer may lose, repeat and delay, or be away: after a while a follower reads
    the rows in any case.
    """

    takes_events = False  # instead of a look at the rows

    def __init__(self) -> None:
        self.look = True
        self.looks_at_page = False  # what it shows was changed elsewhere, maybe
        self._live: list[dict[str, Any]] = []
        self._stored: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._begun = asyncio.Event()  # a text, of which nothing is shown yet

    @property
    def has_live(self) -> bool:
        """Whether live text has come."""
        return bool(self._live)

    def wake(self) -> None:
        """Look at the rows soon."""
        self.look = True
        self._news.set()

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message: live text, or that rows have changed."""
        kind, has_room = message["type"], len(self._live) < MAX_LIVE
        if kind == "aia.live" and has_room:
            self._live.append(message)
            if message.get("offset") == 0:
                self._begun.set()
            self._news.set()
        elif kind == "aia.live":
            self._news.set()
        elif self.takes_events and message.get("events"):
            if len(self._stored) < MAX_LIVE:
                self._stored.append(message)
            else:
                self.look = True
            self._news.set()
        elif kind == "aia.wake":
            self.wake()
        elif kind == notifications.PAGES:
            self.looks_at_page = True
            self._news.set()

    def take(self) -> list[dict[str, Any]]:
        """Hand out the live text that has come."""
        self._begun.clear()
        frames, self._live = self._live, []
        return frames

    def take_stored(self) -> list[dict[str, Any]]:
        """Hand out what has come with events that were stored in this process."""
        stored, self._stored = self._stored, []
        return stored

    async def wait(self, poll_s: float) -> None:
        """Wait for news; after `poll_s` seconds without any, the rows must be read."""
        try:
            async with asyncio.timeout(poll_s):
                await self._news.wait()
        except TimeoutError:
            self.look = True
        self._news.clear()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until a text begins: its first piece waits for nothing."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._begun.wait()


TICK_S = 0.1  # between two frames of growing text
IDLE_POLLS = 4  # a quiet conversation is looked at so many times more seldom
POOL_CHARS = 4000  # more text than this is rendered off the loop

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Pump:
    """One tab's flow of frames for one conversation."""

    def __init__(
        self, projection: Projection, send: Send, on_failure: Callable[[], None]
    ) -> None:
        self.projection = projection
        self._send = send
        self._on_failure = on_failure
        self.follower = Follower()
        self._pace = Pace(TICK_S)
        self._task: asyncio.Task[None] | None = None

    def start(self, run_id: UUID | None, seq: int) -> None:
        """Begin with what a page that shows event `seq` of `run_id` lacks."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run(run_id, seq))
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """End, and wait for it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None or isinstance(error, SocketClosed):
            return
        logger.error("a panel could not be kept up to date", exc_info=error)
        self._on_failure()

    async def _run(self, run_id: UUID | None, seq: int) -> None:
        await self._attach(run_id, seq)
        loop = asyncio.get_running_loop()
        told_at = 0.0
        while True:
            await self._wait()
            if self.follower.has_live and not self.follower.look:
                # The first text at once, then at a steady pace.
                pause_s = max(self._pace.pause_s, self.projection.texts.pause_s)
                await self._sleep_until(told_at + pause_s)
            has_text = self.follower.has_live
            try:
                ops = await self._collect()
            except DatabaseFailure:
                # What the page lacks now is unknown: redraw the run.
                await self._attach(self.projection.run_id, 0)
                continue
            if has_text:
                told_at = loop.time()  # what is drawn does not hold up the text
            await self._emit(ops)

    async def _sleep_until(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        if (left_s := due - loop.time()) > 0:
            await self.follower.pause(left_s)
            self._pace.came(loop.time() - due)

    async def _attach(self, run_id: UUID | None, seq: int) -> None:
        while True:
            self.follower.look = (
                False  # before the rows are read: a wake in between counts
            )
            try:
                ops = await in_db(self.projection.attach, run_id, seq)
            except DatabaseFailure as error:
                logger.warning("a panel waits for the database: %s", error)
                await asyncio.sleep(float(conf.get("POLL_S")))
            else:
                await self._emit(ops)
                return

    async def _wait(self) -> None:
        poll_s = float(conf.get("POLL_S"))
        if not (self.projection.is_active or self.projection.is_waiting):
            poll_s *= IDLE_POLLS
        elif self.projection.texts.is_behind:
            poll_s = conf.FLUSH_S
        await self.follower.wait(poll_s)

    async def _collect(self) -> list[list[Any]]:
        ops: list[list[Any]] = []
        frames = self.follower.take()
        if self.follower.look or not all(map(self.projection.knows, frames)):
            self.follower.look = False
            ops += await in_db(self.projection.catch_up)
            if self.projection.is_gone:
                self._on_failure()  # a new connection is told why there is nothing
        if self.follower.looks_at_page:
            self.follower.looks_at_page = False
            ops += await in_db(self.projection.stale_ops)
        for frame in frames:
            self.projection.live(frame)
        if self.projection.texts.waiting_chars > POOL_CHARS:
            ops += await in_db(self.projection.text_ops)
        else:
            ops += self.projection.text_ops()
        if self.projection.drafts.has_news:
            ops += await in_db(self.projection.draft_ops)
        return ops

    async def _emit(self, ops: list[list[Any]]) -> None:
        for frame in frames_of(ops, self.projection.seq, self.projection.run_id):
            await self._send(frame)
