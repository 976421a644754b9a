"""
Limit how many threads the code of the site may block when it hangs.

A thread cannot be stopped. So a caller stops waiting after a timeout, and code that is
known to hang is not started again before it has returned.
"""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import connections

from ai_assistant.request_context import as_here

AT_ONCE = 4  # calls that somebody waits for; those that were given up do not count
HANGING = 2  # calls of one key after which a further one is not begun
LOOK_S = 0.02  # how often a caller on an event loop looks for room

T = TypeVar("T")


class CodeTimedOut(Exception):
    """The code has not returned in time. It may continue in its thread."""


class BulkheadFull(Exception):
    """The code was not called: too many earlier calls have not returned yet."""


@contextmanager
def thread_of_site_code() -> Iterator[None]:
    """Leave the connections of this thread as a request leaves them."""
    try:
        yield
    finally:
        leave_connections()


def leave_connections() -> None:
    """Close the connections of this thread that a request would close at its end."""
    for connection in connections.all(initialized_only=True):
        # In a test this is the thread of the test, in the middle of a transaction.
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


class Bulkhead:
    """
    The active calls of each key, and which of them were given up.

    One key costs at most AT_ONCE threads, however many ask for it.
    """

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        # For each key what is at work, and whether it was given up.
        self._calls: dict[str, dict[Future[Any], bool]] = defaultdict(dict)

    def hangs(self, key: str) -> bool:
        """Return whether a call of that key was given up and has not returned yet."""
        with self._lock:
            return any(self._calls.get(key, {}).values())

    def ask(
        self, pool: Executor, key: str, work: Callable[[], T], *, timeout_s: float
    ) -> T:
        """
        Return what `work` returns, or raise what it raises.

        Raise CodeTimedOut after `timeout_s` in all, and BulkheadFull at once.
        """
        until = time.monotonic() + timeout_s
        with self._lock:
            self._check(key)
        if timeout_s <= 0 or not self._room.acquire(timeout=timeout_s):
            raise CodeTimedOut(key)
        try:
            call = self._begin(pool, key, work)
            return self._waited_for(call, key, until - time.monotonic())
        finally:
            self._room.release()

    async def aask(
        self, pool: Executor, key: str, work: Callable[[], T], *, timeout_s: float
    ) -> T:
        """Do as `ask` does, for a caller on an event loop: no thread waits."""
        until = time.monotonic() + timeout_s
        with self._lock:
            self._check(key)
        while timeout_s <= 0 or not self._room.acquire(blocking=False):
            if time.monotonic() >= until:
                raise CodeTimedOut(key)
            await asyncio.sleep(LOOK_S)
        try:
            call = self._begin(pool, key, work)
            return await self._awaited(call, key, until - time.monotonic())
        finally:
            self._room.release()

    def _check(self, key: str) -> None:
        calls = self._calls.get(key, {})
        if len(calls) >= HANGING and any(calls.values()):
            raise BulkheadFull(key)

    def _begin(self, pool: Executor, key: str, work: Callable[[], T]) -> Future[T]:
        with self._lock:
            # Again, and with no other in between: it may have been given up while
            # there was no room.
            self._check(key)
            call = pool.submit(as_here(work))
            self._calls[key][call] = False
        call.add_done_callback(lambda future: self._ended(key, future))
        return call

    def _waited_for(self, call: Future[T], key: str, left_s: float) -> T:
        try:
            return call.result(timeout=max(0.0, left_s))
        except TimeoutError:
            # The code itself may have raised one.
            if call.done() and not call.cancelled():
                return call.result()
        self._give_up(call, key)
        raise CodeTimedOut(key)

    async def _awaited(self, call: Future[T], key: str, left_s: float) -> T:
        waiting = asyncio.wrap_future(call)
        try:
            await asyncio.wait([waiting], timeout=max(0.0, left_s))
            if waiting.done():
                return waiting.result()
        finally:  # whoever asked may have left: what hangs then counts as well
            if not waiting.done():
                self._give_up(call, key)
                waiting.cancel()  # what it may raise later is ignored
        raise CodeTimedOut(key)

    def _give_up(self, call: Future[Any], key: str) -> None:
        call.cancel()
        with self._lock:
            if call in self._calls.get(key, {}):
                self._calls[key][call] = True

    def _ended(self, key: str, call: Future[T]) -> None:
        with self._lock:
            self._calls[key].pop(call, None)
            if not self._calls[key]:
                del self._calls[key]
