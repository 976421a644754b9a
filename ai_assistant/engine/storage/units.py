"""
The engine's way to the database: a small thread pool of its own.

The engine never touches the ORM on the event loop, and never borrows a thread
of the host. A unit is one short transaction, retried whole when the database
says "locked".

On PostgreSQL a unit waits for a row that another transaction holds, but not for long,
and only some of the threads of a pool wait at a time: the others are there for
everybody else. A transaction that does nothing for long, as of a process that hangs, is
ended by the server, so that its rows are free. Both hold until the transaction ends.
"""

import asyncio
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import ParamSpec, Self, TypeVar

from django.db import (
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.utils.translation import gettext as _

from ai_assistant.engine.storage.pool import Stage, StagedPool, at_work
from ai_assistant.exceptions import LostLease, Refused
from ai_assistant.hooks.threads import close_all
from ai_assistant.request_context import (
    as_here,
    keep_last_context,
    of_no_request,
)
from ai_assistant.safety.audit import write_at_end
from ai_assistant.safety.site_code import value_or

logger = logging.getLogger("ai_assistant")

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 4  # of a unit: once, and three times again
IDLE_S = 1.0  # after which a server connection is tried before it is trusted
LOCK_TIMEOUT = "55P03"
IDLE_TIMEOUT = "25P03"  # of a transaction that did nothing for too long
DISK_FULL = "53100"
TRANSIENT = ("40001", "40P01", LOCK_TIMEOUT)  # serialization, deadlock, lock timeout

FIRST_WAIT_S = 0.2  # for a row that another transaction holds, by any thread
LOCK_WAIT_S = 2.0  # by one of those that may wait
WAITERS = 2  # of the threads of a pool
IDLE_LIMIT = "idle_in_transaction_session_timeout"
IDLE_LIMIT_S = 10.0  # of a transaction in which no code of a tool runs

_thread = threading.local()


def _beginning() -> Callable[[], None]:
    """Return how a thread of a pool begins: only some of them wait for locked rows."""
    waiters = threading.BoundedSemaphore(WAITERS)

    def begin() -> None:
        _thread.waiters = waiters
        keep_last_context()

    return begin


_pool: StagedPool | Executor = StagedPool(4, "aia-db", _beginning(), close_all)
_tools = ThreadPoolExecutor(max_workers=16, thread_name_prefix="aia-tool")
# Of its own: a write must not wait behind reads that hang.
_writes = ThreadPoolExecutor(
    max_workers=4, thread_name_prefix="aia-write", initializer=_beginning()
)


async def in_db(
    work: Callable[..., T], *args: object, stage: Stage = Stage.FOLLOW
) -> T:
    """Run `work(*args)` in the engine's pool and return what it returns."""
    loop, pool = asyncio.get_running_loop(), lane(stage)
    return await loop.run_in_executor(pool, with_connections, as_here(work), *args)


def lane(stage: Stage) -> Executor:
    """Return the pool for one stage."""
    # In the tests of a site the thread of the test stands in the place of the pool.
    return _pool.lanes[stage] if isinstance(_pool, StagedPool) else _pool


async def in_tool_thread(work: Callable[..., T], *args: object) -> T:
    """Run a sync tool in the tool pool: a slow one does not block the engine."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_tools, with_connections, as_here(work), *args)


async def in_write_thread(work: Callable[..., T], *args: object) -> T:
    """Run the write phase of a tool, which is short."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_writes, with_connections, as_here(work), *args)


def beside(work: Callable[..., object], *args: object) -> None:
    """Have `work(*args)` done by a thread for tools; nobody waits, and nobody fails."""

    def safely() -> None:
        value_or(None, lambda: work(*args), "work beside a run failed")

    _tools.submit(with_connections, of_no_request().run, safely)


def with_connections(work: Callable[..., T], *args: object) -> T:
    """Run `work` in this thread with connections that are worth trusting."""
    _drop_stale()
    try:
        with at_work():
            return work(*args)
    finally:
        _thread.used_at = time.monotonic()
        for each in connections.all(initialized_only=True):
            if each.errors_occurred and not each.in_atomic_block:
                each.close_if_unusable_or_obsolete()


def _drop_stale() -> None:
    idle_s = time.monotonic() - getattr(_thread, "used_at", 0.0)
    for each in connections.all(initialized_only=True):
        # SQLite's connections cost a file handle and never go stale.
        if each.vendor == "sqlite" or idle_s <= IDLE_S:
            continue
        if not each.is_usable():
            each.close()


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
        with _Patience() as patience:
            for attempt in range(1, ATTEMPTS + 1):
                results: list[T] = []
                committed: list[bool] = []
                try:
                    with _transaction(patience.wait_s):
                        # The first of the hooks: those of the site come after it.
                        transaction.on_commit(lambda: committed.append(True))  # noqa: B023
                        results.append(work(*args, **kwargs))
                    return results[0]
                except Exception as error:
                    if committed:
                        logger.exception("a hook of the site failed after a commit")
                        return results[0]
                    if once and results and _is_away(error):
                        raise LostLease(
                            "The database went away at a commit."
                        ) from error
                    if not patience.goes_on(attempt, error):
                        raise
        raise AssertionError

    return run


class _Patience:
    """The retries of a unit, and how long it waits for a locked row."""

    def __init__(self) -> None:
        self.wait_s = FIRST_WAIT_S
        self._waiters: threading.BoundedSemaphore | None = None  # this thread is one

    def goes_on(self, attempt: int, error: Exception) -> bool:
        """Return whether the unit is retried after `error`, and get ready for it."""
        if attempt == ATTEMPTS or not is_transient(error):
            return False
        if is_lock_timeout(error):
            return self._waits_longer()
        _recover(attempt)
        return True

    def _waits_longer(self) -> bool:
        if self.wait_s == LOCK_WAIT_S or getattr(_thread, "is_impatient", False):
            return False
        waiters = getattr(_thread, "waiters", None)  # None: a thread of its own
        if waiters is not None and not waiters.acquire(blocking=False):
            return False
        self._waiters, self.wait_s = waiters, LOCK_WAIT_S
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_rest: object) -> None:
        if self._waiters is not None:
            self._waiters.release()


@contextmanager
def _transaction(wait_s: float) -> Iterator[None]:
    # What is begun within a transaction of the host has the limits of the host.
    is_own = not connection.in_atomic_block
    limits = {"lock_timeout": in_ms(wait_s), IDLE_LIMIT: in_ms(IDLE_LIMIT_S)}
    try:
        with transaction.atomic(), write_at_end():
            if is_own:
                _thread.of_site = set_local(limits)
            yield
    finally:
        if is_own:
            _thread.of_site = {}


def limits_for_tool(idle_s: float) -> dict[str, str]:
    """
    Return the limits for code of a tool, as settings of PostgreSQL.

    It waits for rows as the site says, and may do nothing in between for `idle_s`.
    """
    return {**getattr(_thread, "of_site", {}), IDLE_LIMIT: in_ms(idle_s)}


def in_ms(seconds: float) -> str:
    """Return a time as a setting of PostgreSQL."""
    return f"{max(1, int(seconds * 1000))}ms"


def set_local(limits: Mapping[str, str]) -> dict[str, str]:
    """
    Set settings of PostgreSQL until the transaction ends; return them as they were.

    In one statement. Another database has none of them.
    """
    if connection.vendor != "postgresql" or not limits:
        return {}
    own = ", ".join(["current_setting(%s) AS own_{}"] * len(limits))
    own = own.format(*range(len(limits)))
    new = ", ".join(["set_config(%s, %s, true)"] * len(limits))
    columns = ", ".join(f"own_{number}" for number in range(len(limits)))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH own AS MATERIALIZED (SELECT {own}) SELECT {columns}, {new} FROM own",
            [*limits, *(part for limit in limits.items() for part in limit)],
        )
        return dict(zip(limits, map(str, cursor.fetchone()), strict=False))


@contextmanager
def impatient() -> Iterator[None]:
    """Let no unit in the block wait for longer than a moment for a locked row."""
    before = getattr(_thread, "is_impatient", False)
    _thread.is_impatient = True
    try:
        yield
    finally:
        _thread.is_impatient = before


def unless_locked(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what `work` returns, or None at once if a row it needs is locked."""
    try:
        with impatient():
            return work(*args, **kwargs)
    except OperationalError as error:
        if not is_lock_timeout(error):
            raise
        return None


def retry_when_locked(work: Callable[[], T]) -> T:
    """
    Return what `work` returns, after as many attempts as find a row locked.

    For a thread of its own, which nothing else needs.
    """
    while True:
        try:
            return work()
        except OperationalError as error:
            if not is_lock_timeout(error):
                raise


def enter_unit(stack: ExitStack, begin: Callable[[], object]) -> None:
    """
    Open a transaction on `stack`, and do `begin` in it.

    Both are repeated while the database is busy, and for as long as a row is locked;
    what follows cannot be.
    """
    attempt = 0
    while True:
        try:
            with ExitStack() as opened:
                opened.enter_context(_transaction(LOCK_WAIT_S))
                begin()
                stack.push(opened.pop_all())
        except (DatabaseError, InterfaceError) as error:
            if is_lock_timeout(error):
                continue
            attempt += 1
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
    """Return whether the same transaction may well succeed the next time."""
    if _is_ended(error):
        return True
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    name = getattr(error.__cause__, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    return _is_away(error) or _sqlstate(error) in TRANSIENT


def is_disk_full(error: BaseException) -> bool:
    """Return whether a write failed because the disk is full."""
    name = getattr(error.__cause__, "sqlite_errorname", None)
    return name == "SQLITE_FULL" or _sqlstate(error) == DISK_FULL


@contextmanager
def refusing() -> Iterator[None]:
    """Raise Refused where a row is locked by others, or the disk is full."""
    try:
        yield
    except OperationalError as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        raise refused from error


def refusal_of(error: BaseException) -> Refused | None:
    """Return the refusal if a request could not be stored; None for other errors."""
    if is_disk_full(error):
        return _disk_full()
    return _locked() if is_lock_timeout(error) else None


def _locked() -> Refused:
    return Refused(
        "locked", _("The assistant is saving something. Try again in a moment.")
    )


def _disk_full() -> Refused:
    return Refused(
        "disk_full",
        _(
            "Nothing could be saved: the server's disk is full. "
            "Tell whoever runs this site."
        ),
    )


def _is_away(error: BaseException) -> bool:
    """
    Return whether the connection is lost; the error has no state, or one of these.

    Also if the server has ended it, because the transaction was idle for too long.
    """
    if _is_ended(error):
        return True
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if hasattr(error.__cause__, "sqlite_errorname"):
        return False
    state = _sqlstate(error)
    return not state or state.startswith(("08", "57P"))


def _is_ended(error: BaseException) -> bool:
    """Return whether the server ended a transaction that was idle for too long."""
    return isinstance(error, InternalError) and _sqlstate(error) == IDLE_TIMEOUT


def is_lock_timeout(error: BaseException) -> bool:
    """Return whether a row stayed locked by another transaction."""
    return isinstance(error, OperationalError) and _sqlstate(error) == LOCK_TIMEOUT


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
    except (DatabaseError, InterfaceError) as error:
        if _is_away(error):
            raise LostLease("The database went away.") from error
        raise


def _recover(attempt: int) -> None:
    for each in connections.all(initialized_only=True):
        if not each.in_atomic_block:
            each.close_if_unusable_or_obsolete()
    time.sleep(random.uniform(0.02, 0.1) * 2**attempt)  # noqa: S311 - jitter
