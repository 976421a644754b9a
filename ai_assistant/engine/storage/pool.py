"""A pool of threads that does later stages of a run before earlier ones; what each holds."""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

T = TypeVar("T")
DEFAULT_CACHE = (-2000,)  # of a connection to SQLite, in KB
CACHE_KB = 256
SPILL_PAGES = 500  # of a transaction, before it locks all readers out to write them

_thread = threading.local()


class Stage(Enum):
    """
    How far a piece of work stands back, in seconds: finish first, then begin.

    Of many answers at once some end then, instead of all crawling along. Since it is
    a time, nothing waits for ever.
    """

    FINISH = 0.0  # what is said, and the end
    FOLLOW = 0.1  # what a run under way needs, and who looks on
    LOAD = 0.4  # a run that was accepted
    ACCEPT = 0.6  # a message
    ASK = 1.0  # a request: who calls, and for what
    BESIDE = 2.0  # what nobody waits for


class StagedPool:
    """
    At most so many threads, and what waits for them.

    `begin` is done in each, and `end` in one that was lent.
    """

    def __init__(
        self,
        threads: int,
        name: str,
        begin: Callable[[], object],
        end: Callable[[], object] = lambda: None,
    ) -> None:
        self.most = threads
        self._name = name
        self._begin = begin
        self._end = end
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []
        self._numbers = itertools.count()  # in the same moment the first comes first
        self._changed = threading.Condition()
        self._threads = self._idle = 0
        self._lent: set[int] = set()  # threads that end with the work they do
        self.lanes = {stage: Lane(self, stage) for stage in Stage}

    def submit(self, stage: Stage, work: Callable[[], T]) -> "Future[T]":
        """Have `work` done in a thread."""
        future: Future[T] = Future()
        due = time.monotonic() + stage.value
        with self._changed:
            heapq.heappush(self._waiting, (due, next(self._numbers), future, work))
            self._begin_one_if_wanted()
            self._changed.notify()
        return future

    def lend(self, thread: int) -> None:
        """Let one of the threads, which is at work, be another's; it ends with that."""
        with self._changed:
            if thread not in self._lent:
                self._lent.add(thread)
                self._threads -= 1
                self._begin_one_if_wanted()

    def _begin_one_if_wanted(self) -> None:
        if len(self._waiting) > self._idle and self._threads < self.most:
            self._threads += 1
            name = f"{self._name}_{self._threads}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        self._begin()
        own = threading.get_ident()
        while own not in self._lent:
            self._do(*self._next())
        try:
            self._end()
        finally:
            with self._changed:
                self._lent.discard(own)

    def _next(self) -> tuple[Future[Any], Callable[[], Any]]:
        with self._changed:
            self._idle += 1
            while not self._waiting:
                self._changed.wait()
            self._idle -= 1
            _due, _number, future, work = heapq.heappop(self._waiting)
            return future, work

    @staticmethod
    def _do(future: Future[Any], work: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
            future.set_exception(error)
        else:
            future.set_result(result)


class Lane(Executor):
    """The pool for one stage, as an event loop takes it."""

    def __init__(self, pool: StagedPool, stage: Stage) -> None:
        self._pool = pool
        self._stage = stage

    def submit(
        self, work: Callable[..., T], /, *args: Any, **kwargs: Any
    ) -> "Future[T]":
        return self._pool.submit(self._stage, lambda: work(*args, **kwargs))

    def lend(self, thread: int) -> None:
        """Do so with a thread of the pool."""
        self._pool.lend(thread)


# --- what a thread holds ---


@contextmanager
def at_work() -> Iterator[None]:
    """Let the connections that this thread opens meanwhile be the engine's own."""
    _thread.is_at_work = True
    try:
        yield
    finally:
        _thread.is_at_work = False


@receiver(connection_created)
def keep_few_pages(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    """
    Let SQLite keep 256 KB of pages for a thread of the engine in place of 2 MB.

    Each commit of another thread empties them: more of them take memory and save
    nothing. A size of the site's own choice stays.
    """
    if connection.vendor != "sqlite" or not getattr(_thread, "is_at_work", False):
        return
    opened: Any = connection.connection
    if opened.execute("PRAGMA cache_size").fetchone() == DEFAULT_CACHE:
        opened.execute(f"PRAGMA cache_size = {-CACHE_KB}")
        opened.execute(f"PRAGMA cache_spill = {SPILL_PAGES}")  # as before
