"""The lease: who holds a run, and the right to write for it."""

import os
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection

from ai_assistant import conf
from ai_assistant.engine.storage.units import is_lock_timeout
from ai_assistant.exceptions import LostLease
from ai_assistant.models.clock import database_now, now_sql
from ai_assistant.models.run import UNFINISHED, Run, RunState

__all__ = [
    "TABLE",
    "UNKNOWN",
    "Hold",
    "RunLocked",
    "claim_lease",
    "database_now",
    "db_id",
    "is_gone",
    "now_sql",
    "pass_by_state",
    "pass_fence",
    "renew_behind_lock",
    "renew_leases",
    "this_process",
    "unlocked",
]

UNKNOWN = "-"


def this_process() -> str:
    """Return the owner string of the running process."""
    return _describe(os.getpid())


@lru_cache(maxsize=4)
def _describe(pid: int) -> str:
    return "|".join(
        (socket.gethostname(), _namespace(), _boot(), str(pid), _started(pid) or "0")
    )


def is_gone(owner: str) -> bool:
    """
    Return whether the process named `owner` has certainly ended.

    False where that cannot be known: another host, another pid namespace, another
    boot, which may be that of a machine with the same name. There the lease ends.
    """
    parts = owner.split("|")
    if len(parts) != 5:
        return True
    host, namespace, boot, pid, started = parts
    here = (socket.gethostname(), _namespace(), _boot())
    return (host, namespace, boot) == here and _started(int(pid)) != started


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return UNKNOWN


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return UNKNOWN


def _started(pid: int) -> str:
    """Return when `pid` started, or an empty string if it is dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self").exists() else _without_proc(pid)
    # The command in parentheses may hold spaces; the fields follow it.
    fields = stat.rpartition(")")[2].split()
    is_dead = fields[0] in "ZX"
    return "" if is_dead else fields[19]


def _without_proc(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0"


TABLE = "ai_assistant_run"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """The right to write for a run: it is `running`, by this owner and epoch."""

    run_id: UUID
    owner: str
    epoch: int


class RunLocked(OperationalError):
    """Another transaction holds the run's row, and did not let go of it in time."""


def pass_fence(hold: Hold, *, events: int = 0, waits: bool = True) -> int:
    """
    Take the run's lock and `events` numbers; return the first of them.

    Call it first in a transaction. Raise LostLease if this process does not hold the
    run, RunLocked if its row stays locked, or is locked now and `waits` is False.
    """
    which = "id = %s" if waits else unlocked(TABLE, "%s")
    statement = (
        f"UPDATE {TABLE} SET next_seq = next_seq + %s, "
        f"lease_until = {now_sql()} + %s WHERE {which} "
        "AND owner = %s AND epoch = %s AND state = 'running'"
    )
    lease_s = conf.get("LEASE_S")
    arguments = [events, lease_s, db_id(hold.run_id), hold.owner, hold.epoch]
    after = _numbered(statement, arguments, hold.run_id)
    if after is not None:
        return after - events
    held = Run.objects.filter(pk=hold.run_id, state=RunState.RUNNING)
    if not waits and held.filter(owner=hold.owner, epoch=hold.epoch).exists():
        raise RunLocked(f"Run {hold.run_id} is written for just now.")
    raise LostLease(f"Run {hold.run_id} is no longer held by {hold.owner!r}.")


def pass_by_state(
    run_id: UUID,
    states: tuple[str, ...] = UNFINISHED,
    *,
    events: int = 0,
    waits: bool = True,
) -> int:
    """
    Take the lock of a run that no process holds, or that only gets a note added.

    For what people and tasks do to a run: stop, approve, finish a task. Return
    the first event number. Raise LostLease if its state is not in `states`, and,
    unless it `waits`, if its row is locked now; RunLocked if it stays locked.
    """
    marks = ", ".join(["%s"] * len(states))
    which = "id = %s" if waits else unlocked(TABLE, "%s")
    statement = (
        f"UPDATE {TABLE} SET next_seq = next_seq + %s "
        f"WHERE {which} AND state IN ({marks})"
    )
    after = _numbered(statement, [events, db_id(run_id), *states], run_id)
    if after is None:
        raise LostLease(f"Run {run_id} is not in a state of {states}.")
    return after - events


def claim_lease(run_id: UUID, owner: str, *, gone_owner: str = "") -> Hold | None:
    """
    Claim a queued run, or one whose owner is gone; None if another was faster.

    `gone_owner` is an owner that is known to be dead, so that its lease need not
    expire.
    """
    statement = (
        f"UPDATE {TABLE} SET owner = %s, epoch = epoch + 1, "
        "attempts = attempts + CASE WHEN state = 'running' THEN 1 ELSE 0 END, "
        f"state = 'running', lease_until = {now_sql()} + %s "
        f"WHERE {unlocked(TABLE, '%s')} AND (state = 'queued' OR (state = 'running' "
        f"AND (lease_until < {now_sql()} OR owner = %s)))"
    )
    arguments = [owner, conf.get("LEASE_S"), db_id(run_id), gone_owner]
    if _update(statement, arguments) == 0:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT epoch FROM {TABLE} WHERE id = %s",
            [db_id(run_id)],
        )
        return Hold(run_id=run_id, owner=owner, epoch=cursor.fetchone()[0])


def renew_leases(owner: str, run_ids: list[UUID]) -> None:
    """Renew the leases of `run_ids`, as far as `owner` still holds them."""
    marks = ", ".join(["%s"] * len(run_ids))
    statement = (
        f"UPDATE {TABLE} SET lease_until = {now_sql()} + %s "
        f"WHERE owner = %s AND state = '{RunState.RUNNING}' AND {unlocked(TABLE, marks)}"
    )
    _update(statement, [conf.get("LEASE_S"), owner, *map(db_id, run_ids)])


def renew_behind_lock(run_id: UUID) -> None:
    """
    Renew the lease of a run that could not be renewed meanwhile.

    Call it with the run's lock taken, at the end of what has held it for long: its
    owner has passed it by. On SQLite that goes for every run.
    """
    statement = (
        f"UPDATE {TABLE} SET lease_until = {now_sql()} + %s "
        f"WHERE state = '{RunState.RUNNING}'"
    )
    arguments = [conf.get("LEASE_S")]
    if connection.features.has_select_for_update_skip_locked:
        statement, arguments = f"{statement} AND id = %s", [*arguments, db_id(run_id)]
    _update(statement, arguments)


def unlocked(table: str, marks: str, *, key: str = "id") -> str:
    """
    Return the condition for the rows that no other transaction has locked now.

    A tool may hold a row for seconds, and renews its lease at the end of that.
    """
    if not connection.features.has_select_for_update_skip_locked:
        return f"{key} IN ({marks})"
    rows = f"SELECT {key} FROM {table} WHERE {key} IN ({marks})"
    return f"{key} IN ({rows} FOR UPDATE SKIP LOCKED)"


def db_id(value: UUID) -> str:
    """Return a UUID as the database holds it."""
    return str(value) if connection.features.has_native_uuid_field else value.hex


def _numbered(statement: str, arguments: list[Any], run_id: UUID) -> int | None:
    """Advance the numbers of a run; return the next one, None if no row was met."""
    if not connection.features.can_return_columns_from_insert:  # an old SQLite
        return _next_seq(run_id) if _update(statement, arguments) else None
    with connection.cursor() as cursor:
        try:
            cursor.execute(f"{statement} RETURNING next_seq", arguments)
        except OperationalError as error:
            if not is_lock_timeout(error):
                raise
            raise RunLocked(f"Run {run_id} is locked.") from error.__cause__
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _next_seq(run_id: UUID) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT next_seq FROM {TABLE} WHERE id = %s",
            [db_id(run_id)],
        )
        return int(cursor.fetchone()[0])


def _update(statement: str, arguments: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return int(cursor.rowcount)
