"""
The engine's way to the database: a small thread pool of its own.

The engine never touches the ORM on the event loop, and never borrows a thread
of the host. A unit is one short transaction, retried whole when the database
says "locked".
"""

import asyncio
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connections, transaction

from ai_assistant.ambient import as_here
from ai_assistant.exceptions import LostLease
from ai_assistant.safety.audit import gathered

logger = logging.getLogger("ai_assistant")

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 4  # of a unit: once, and three times again
IDLE_S = 1.0  # after which a server connection is tried before it is trusted
TRANSIENT = ("40001", "40P01", "55P03")  # serialization, deadlock, lock timeout

_pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="aia-db")
_tools = ThreadPoolExecutor(max_workers=16, thread_name_prefix="aia-tool")
# Of its own: a write must not stand in line behind reads that hang.
_writes = ThreadPoolExecutor(max_workers=4, thread_name_prefix="aia-write")
_thread = threading.local()


async def in_db(work: Callable[..., T], *args: object) -> T:
    """Run `work(*args)` in the engine's pool and return what it returns."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, with_connections, as_here(work), *args)


async def in_tool_thread(work: Callable[..., T], *args: object) -> T:
    """Run a sync tool where a slow one cannot hold up the engine."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_tools, with_connections, as_here(work), *args)


async def in_write_thread(work: Callable[..., T], *args: object) -> T:
    """Run the write phase of a tool, which is short."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_writes, with_connections, as_here(work), *args)


def with_connections(work: Callable[..., T], *args: object) -> T:
    """Run `work` in this thread with connections that are worth trusting."""
    _drop_stale()
    try:
        return work(*args)
    finally:
        _thread.used_at = time.monotonic()
        for connection in connections.all(initialized_only=True):
            if connection.errors_occurred and not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()


def _drop_stale() -> None:
    idle_s = time.monotonic() - getattr(_thread, "used_at", 0.0)
    for connection in connections.all(initialized_only=True):
        # SQLite's connections cost a file handle and never go stale.
        if connection.vendor == "sqlite" or idle_s <= IDLE_S:
            continue
        if not connection.is_usable():
            connection.close()


def unit(work: Callable[P, T]) -> Callable[P, T]:
    """Make `work` one transaction, repeated whole while the database is busy."""
    return _repeated(work, once=False)


def unit_once(work: Callable[P, T]) -> Callable[P, T]:
    """
    Make `work` a unit that is never repeated when it may be committed already.

    A connection that is lost at COMMIT leaves that open: LostLease is raised, and
    whoever takes the run over reads from the rows what has become of it.
    """
    return _repeated(work, once=True)


def _repeated(work: Callable[P, T], *, once: bool) -> Callable[P, T]:
    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            results: list[T] = []
            committed: list[bool] = []
            try:
                with transaction.atomic(), gathered():
                    # The first of the hooks: those of the site come after it.
                    transaction.on_commit(lambda: committed.append(True))  # noqa: B023
                    results.append(work(*args, **kwargs))
                return results[0]
            except Exception as error:
                if committed:
                    logger.exception("a hook of the site failed after a commit")
                    return results[0]
                if once and results and _is_away(error):
                    raise LostLease("The database went away at a commit.") from error
                if attempt == ATTEMPTS or not is_transient(error):
                    raise
                _recover(attempt)
        raise AssertionError

    return run


def enter_unit(stack: ExitStack, begin: Callable[[], object]) -> None:
    """
    Open a transaction on `stack`, and do `begin` in it.

    Both are repeated while the database is busy; what follows cannot be.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with ExitStack() as opened:
                opened.enter_context(transaction.atomic())
                opened.enter_context(gathered())
                begin()
                stack.push(opened.pop_all())
        except (OperationalError, InterfaceError) as error:
            if attempt == ATTEMPTS or not is_transient(error):
                raise
            _recover(attempt)
        else:
            return


def read_again(work: Callable[[], T]) -> T:
    """
    Return what `work` reads, outside any transaction.

    Repeated while the database is busy or away, like a unit.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if attempt == ATTEMPTS or not is_transient(error):
                raise
            _recover(attempt)
    raise AssertionError


def is_transient(error: BaseException) -> bool:
    """Tell whether the same transaction may well succeed the next time."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    name = getattr(error.__cause__, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    return _is_away(error) or _sqlstate(error) in TRANSIENT


def _is_away(error: BaseException) -> bool:
    """Tell whether the connection is lost; such an error has no state, or these."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if hasattr(error.__cause__, "sqlite_errorname"):
        return False
    state = _sqlstate(error)
    return not state or state.startswith(("08", "57P"))


def _sqlstate(error: BaseException) -> str:
    return str(getattr(error.__cause__, "sqlstate", None) or "")


@contextmanager
def lost_when_away() -> Iterator[None]:
    """
    Raise LostLease where the database has gone away.

    A commit may have landed or not: the next attempt reads that from the rows.
    """
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        if _is_away(error):
            raise LostLease("The database went away.") from error
        raise


def _recover(attempt: int) -> None:
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
    time.sleep(random.uniform(0.02, 0.1) * 2**attempt)  # noqa: S311 - jitter
