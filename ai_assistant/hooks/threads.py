"""The threads that call hooks, each with an event loop for the async ones."""

import asyncio
import atexit
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import CoroutineType
from typing import Any

from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from ai_assistant.request_context import keep_last_context
from ai_assistant.safety.bulkhead import leave_connections

logger = logging.getLogger("ai_assistant")

_own = threading.local()
_loops: list[asyncio.AbstractEventLoop] = []


class HookThreads:
    """
    As many threads as there is work for, and at most so many.

    To hand work over to one of an executor takes longer than most hooks. And nobody
    waits for a hook that hangs, a process that ends neither.
    """

    def __init__(self, most: int, name: str) -> None:
        self.most = most
        self._name = name
        self._waiting: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0  # threads without work; below zero: work that waits for one

    def submit(self, work: Callable[[], object]) -> None:
        """Have `work` done in a thread."""
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._threads < self.most:
                self._threads += 1
                self._free += 1
                name = f"{self._name}_{self._threads}"
                threading.Thread(target=self._run, name=name, daemon=True).start()
        self._waiting.put(work)

    def _run(self) -> None:
        keep_last_context()
        _own.is_for_hooks = True  # in the tests of a site, that of a test calls them
        while True:
            try:
                self._waiting.get()()
            except BaseException:  # the thread is for others, too
                logger.exception("a thread for hooks failed")
            with self._lock:
                self._free += 1


def returned(found: Any, timeout_s: float) -> Any:
    """Return what a hook has returned; an async one is awaited, within its time."""
    if not isinstance(found, CoroutineType):
        return found
    return _loop_here().run_until_complete(_in_time(found, timeout_s))


def clear_up() -> None:
    """Let go of what hooks have left behind in this thread."""
    try:
        if loop := getattr(_own, "loop", None):
            _end_tasks(loop)
    finally:  # a task may exit, as code of the site may raise anything
        if getattr(_own, "has_connected", False):
            if getattr(_own, "is_for_hooks", False):
                _drop_open()
            leave_connections()


class Connections:
    """
    The connections of a thread, put aside while it calls hooks.

    These have others, as in a thread of their own: whatever they leave open, or set, is
    not for the thread's work.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._aside: dict[str, BaseDatabaseWrapper] = {}

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let this thread have the connections of its hooks."""
        self._aside = _taken_out()
        kept: dict[str, BaseDatabaseWrapper] = getattr(_own, "connections", {})
        _put_in(kept)
        _own.has_connected, _own.is_for_hooks = bool(kept), True
        try:
            yield
        finally:
            _own.is_for_hooks = False
            _own.connections = _taken_out()
            _put_in(self._taken())

    def close(self) -> None:
        """Close those that are put aside, from another thread: they are not put back."""
        for connection in self._taken().values():
            connection.inc_thread_sharing()
            connection.close()

    def _taken(self) -> dict[str, BaseDatabaseWrapper]:
        with self._lock:
            taken, self._aside = self._aside, {}
            return taken


def close_all() -> None:
    """Close what this thread has, which ends: connections, its own and of hooks; a loop."""
    kept: dict[str, BaseDatabaseWrapper] = getattr(_own, "connections", {})
    for connection in [*connections.all(initialized_only=True), *kept.values()]:
        with suppress(DatabaseError):  # it is lost anyway
            connection.close()
    kept.clear()
    if (loop := getattr(_own, "loop", None)) is not None:
        del _own.loop
        _loops.remove(loop)
        loop.close()


def _taken_out() -> dict[str, BaseDatabaseWrapper]:
    found = {one.alias: one for one in connections.all(initialized_only=True)}
    for alias in found:
        del connections[alias]
    return found


def _drop_open() -> None:
    """Drop connections of hooks that are in a transaction: nobody would end it."""
    for connection in connections.all(initialized_only=True):
        is_manual = connection.autocommit != connection.settings_dict["AUTOCOMMIT"]
        if connection.in_atomic_block or (connection.connection and is_manual):
            with suppress(DatabaseError):
                connection.close()
            del connections[connection.alias]


def _put_in(found: dict[str, BaseDatabaseWrapper]) -> None:
    for alias, connection in found.items():
        connections[alias] = connection


def _note_connection(**_kwargs: object) -> None:
    """Remember that this thread has a connection: to ask for one takes long."""
    _own.has_connected = True


connection_created.connect(_note_connection, dispatch_uid="ai_assistant.hooks")


def _loop_here() -> asyncio.AbstractEventLoop:
    """Return the event loop of this thread: to make one takes longer than most hooks."""
    loop: asyncio.AbstractEventLoop | None = getattr(_own, "loop", None)
    if loop is None:
        loop = _own.loop = asyncio.new_event_loop()
        _loops.append(loop)
    return loop


@atexit.register
def _close_loops() -> None:
    for loop in _loops:
        if not loop.is_running():
            loop.close()


async def _in_time(found: Any, timeout_s: float) -> Any:
    async with asyncio.timeout(timeout_s):
        return await found


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what async hooks have begun and not awaited: nothing goes on behind a run."""
    if not (tasks := asyncio.all_tasks(loop)):
        return
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.wait(tasks, timeout=1.0))
