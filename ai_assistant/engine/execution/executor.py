"""
Executes runs in this process: one task a run, one watch over all of them.

Lives on the event loop of the web server or of `runworker`. Everything it knows
is also in the database, so it may be killed at any moment.
"""

import asyncio
import contextvars
import logging
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connections

from ai_assistant import conf
from ai_assistant.configuration.rows import refresh
from ai_assistant.engine.accounting.titles import give_title
from ai_assistant.engine.execution.dequeue import start_waiting
from ai_assistant.engine.execution.presence import say_every_s, say_present
from ai_assistant.engine.execution.resume import Outcome
from ai_assistant.engine.execution.runner import Loaded, execute
from ai_assistant.engine.execution.sweep import claim_runs, sweep_once
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.lease import Hold, renew_leases, this_process
from ai_assistant.engine.storage.listeners import home
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, unit, with_connections
from ai_assistant.models.run import STOPPING, Run
from ai_assistant.providers.base import OF_ROW, warm_up
from ai_assistant.request_context import of_no_request

logger = logging.getLogger("ai_assistant")

MOST_TITLES = 20  # that are asked for at once
DEAF_LEASES = 3  # a loop that was silent for so many leases loses its runs


class Executor:
    """The runs that this process holds."""

    def __init__(self) -> None:
        self.owner = this_process()
        self.flusher = Flusher()
        self._tasks: dict[UUID, asyncio.Task[Outcome]] = {}
        self._stopping: set[asyncio.Task[Outcome]] = set()
        self._titling: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._swept_at = time.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beat_at = time.monotonic()
        self._said_at = -math.inf

    def boot(self) -> None:
        """Start to watch, once. Call it on the event loop."""
        if self.is_alive:
            return
        self._loop = asyncio.get_running_loop()
        home.loop, home.wake = self._loop, self._wake.set
        self._watch = self._loop.create_task(
            self._watch_all(), context=contextvars.Context()
        )
        threading.Thread(
            target=self._heartbeat, name="aia-heartbeat", daemon=True
        ).start()

    @property
    def is_alive(self) -> bool:
        """Whether the watch runs."""
        return self._watch is not None and not self._watch.done()

    @property
    def has_room(self) -> bool:
        """Whether this process takes another run now."""
        return len(self._tasks) < int(conf.get("LIMITS", "RUNS_PER_PROCESS"))

    @property
    def unswept_s(self) -> float:
        """Seconds since this process last completed a sweep."""
        return time.monotonic() - self._swept_at

    def launch(self, hold: Hold, loaded: Loaded | None = None) -> None:
        """Execute a run that this process holds. Call it on the event loop."""
        task = asyncio.get_running_loop().create_task(
            execute(hold, self.flusher, loaded), context=of_no_request()
        )
        self._tasks[hold.run_id] = task
        task.add_done_callback(lambda done: self._ended(hold, done))

    def wake(self) -> None:
        """Look for queued runs now. Any thread may call."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake.set)

    def stop(self, run_id: UUID) -> None:
        """End a run whose stop flag is set, if this process executes it."""
        task = self._tasks.get(run_id)
        if task is not None and task not in self._stopping:
            self._stopping.add(task)
            task.cancel()

    def _ended(self, hold: Hold, task: asyncio.Task[Outcome]) -> None:
        was_full = not self.has_room
        if self._tasks.get(hold.run_id) is task:
            del self._tasks[hold.run_id]
            if task in self._stopping and task.cancelled():
                # Stopped before it could take note: the next attempt ends the run.
                self.launch(hold)
        self._stopping.discard(task)
        outcome = Outcome.OTHER
        if not task.cancelled() and (error := task.exception()):
            # The lease expires, and the next sweep continues from the rows.
            logger.error("run %s was dropped", hold.run_id, exc_info=error)
        elif not task.cancelled():
            outcome = task.result()
        if outcome != Outcome.OTHER and conf.get("TITLES"):
            self._give_title(hold.run_id)
        if was_full or outcome != Outcome.LAST:
            self._wake.set()  # what waits for the end, or for room, is looked for

    def _give_title(self, run_id: UUID) -> None:
        """Ask for a title beside; of too many at once some go without."""
        if len(self._titling) < MOST_TITLES:
            titling = asyncio.get_running_loop().create_task(
                give_title(run_id), context=of_no_request()
            )
            self._titling.add(titling)
            titling.add_done_callback(self._titling.discard)

    async def _watch_all(self) -> None:
        begun_at = 0.0
        self._swept_at = time.monotonic()
        await self._guarded(_load_library)
        while True:
            self._beat_at = time.monotonic()
            self._wake.clear()  # first: what wakes it from now on is looked for again
            is_free = self._sweeping is None or self._sweeping.done()
            if is_free and time.monotonic() - begun_at >= conf.sweep_s():
                begun_at = time.monotonic()
                # Beside: what is queued or stopped does not wait for it.
                self._sweeping = asyncio.create_task(self._guarded(self._sweep))
            await self._guarded(self._say_present)
            await self._guarded(self._look)
            await self._rest()

    async def _guarded(self, look: Callable[[], Awaitable[None]]) -> None:
        try:
            await look()
        except DatabaseError as error:
            logger.warning("the database does not answer: %s", error)
        except Exception:
            logger.exception("the watch over the runs failed, and goes on")

    async def _rest(self) -> None:
        poll_s = float(conf.get("POLL_S"))
        try:
            async with asyncio.timeout(poll_s / 2 if self._tasks else poll_s):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _say_present(self) -> None:
        if time.monotonic() - self._said_at >= say_every_s():
            await in_db(say_present, self.owner, stage=Stage.BESIDE)
            self._said_at = time.monotonic()

    async def _sweep(self) -> None:
        swept = await in_db(sweep_once, stage=Stage.BESIDE)
        self._swept_at = time.monotonic()
        for run_id, group in await in_db(_groups, swept.moved):
            notifications.ring(group, run_id)

    async def _look(self) -> None:
        found = await in_db(start_waiting, stage=Stage.ASK)
        started = [one.run_id for one in found]
        for run_id, group in await in_db(_groups, started) if started else ():
            notifications.ring(group, run_id)
        room = int(conf.get("LIMITS", "RUNS_PER_PROCESS")) - len(self._tasks)
        for hold in await in_db(claim_runs, self.owner, max(room, 0), stage=Stage.ASK):
            self._restart(hold)
        if self._tasks:
            for run_id in await in_db(_stopped, list(self._tasks)):
                self.stop(run_id)

    def _restart(self, hold: Hold) -> None:
        former = self._tasks.get(hold.run_id)
        if former is not None:
            # Our own lease ran out: the old task is a zombie of this process.
            former.cancel()
        self.launch(hold)

    def _heartbeat(self) -> None:
        """Renew the leases from a thread: the loop may be busy for a while."""
        try:
            while self.is_alive:
                time.sleep(conf.heartbeat_s())
                self._renew()
        finally:
            connections.close_all()  # of this thread

    def _renew(self) -> None:
        held = list(self._tasks)
        silent_s = time.monotonic() - self._beat_at
        if not held or silent_s > DEAF_LEASES * float(conf.get("LEASE_S")):
            return
        try:
            with_connections(unit(renew_leases), self.owner, held)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("leases could not be renewed: %s", error)


async def _load_library() -> None:
    """Begin to load what the default profile needs, if that is a row of the admin."""
    await in_db(refresh)
    if OF_ROW in conf.profiles().get(conf.DEFAULT, {}):
        warm_up(conf.profile())


def _stopped(run_ids: list[UUID]) -> list[UUID]:
    rows = Run.objects.filter(STOPPING, pk__in=run_ids)
    return list(rows.values_list("pk", flat=True))


def _groups(run_ids: list[UUID]) -> list[tuple[UUID, str]]:
    rows = Run.objects.filter(pk__in=run_ids)
    return [
        (run_id, notifications.group_name(user_id, conversation_id))
        for run_id, user_id, conversation_id in rows.values_list(
            "pk", "user_id", "conversation_id"
        )
    ]


_executors: dict[int, Executor] = {}  # by the process


def executor() -> Executor:
    """Return the executor of this process; a fork gets one of its own."""
    pid = os.getpid()
    if pid not in _executors:
        _executors.clear()
        _executors[pid] = Executor()
    return _executors[pid]
