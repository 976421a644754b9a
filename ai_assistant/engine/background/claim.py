"""The lease of a background call: who works on it, and whether it still may."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from ai_assistant import conf
from ai_assistant.engine.db import unit
from ai_assistant.engine.eventlog import append
from ai_assistant.engine.fence import (
    db_id,
    now_sql,
    pass_by_state,
    renew_behind_lock,
    unlocked,
)
from ai_assistant.engine.owner import this_process
from ai_assistant.engine.records import call_moved
from ai_assistant.exceptions import LostLease
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import WAITING, RunState

TABLE = "ai_assistant_toolcall"
WISHES = "ai_assistant_stoprequest"  # of people who want a run to stop
GOING_ON = (RunState.QUEUED, RunState.RUNNING, *WAITING)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallHold:
    """The right to work on a background call."""

    call_id: UUID
    run_id: UUID
    owner: str
    epoch: int


@unit
def claim(call_id: UUID) -> CallHold | None:
    """
    Take a pending background call; None if there is nothing to take.

    A message that is delivered twice finds the call taken the second time.
    """
    call = ToolCall.objects.filter(pk=call_id, background=True).first()
    if call is None or not call.is_open:
        return None
    try:
        pass_by_state(call.run_id, GOING_ON)
    except LostLease:
        return None
    owner = this_process()
    statement = (
        f"UPDATE {TABLE} SET owner = %s, epoch = epoch + 1, "  # noqa: S608 - constant
        f"lease_until = {now_sql()} + %s, status = 'executing' "
        "WHERE id = %s AND status = 'pending' AND (approved = %s OR asks = %s)"
    )
    arguments = [owner, conf.get("LEASE_S"), db_id(call_id), True, False]
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        if not cursor.rowcount:
            return None
    first = pass_by_state(call.run_id, GOING_ON, events=1)
    fact = call_moved(call, CallStatus.EXECUTING)
    append(call.run_id, [fact], first_seq=first, epoch=0)
    if call.started_at is None:
        ToolCall.objects.filter(pk=call_id).update(started_at=Now())
    call.refresh_from_db(fields=["epoch"])
    return CallHold(call_id=call_id, run_id=call.run_id, owner=owner, epoch=call.epoch)


def pass_call_fence(hold: CallHold, *, events: int = 0) -> int:
    """
    Take the run's lock and prove that the call is still ours.

    Call it first in a transaction; return the first event number. Raise
    LostLease if the run has ended, was stopped, or another works on the call.
    """
    first = pass_by_state(hold.run_id, GOING_ON, events=events)
    if not _renew(hold, "id = %s"):
        raise _lost(hold)
    return first


@unit
def renew(hold: CallHold) -> None:
    """
    Renew the lease of a call that is quiet. Raise LostLease if it is lost.

    A row that is locked is passed by: a piece of the tool holds it for as long as it
    takes, and renews the lease at its end.
    """
    _renew(hold, unlocked(TABLE, "%s"))
    still = ToolCall.objects.filter(
        pk=hold.call_id,
        owner=hold.owner,
        epoch=hold.epoch,
        status=CallStatus.EXECUTING,
        run__state__in=GOING_ON,
        run__stop_request=None,
    )
    if not still.exists():
        raise _lost(hold)


def renew_behind_piece(hold: CallHold) -> None:
    """Renew what could not be renewed during a piece. Call it at its end."""
    _renew(hold, "id = %s")
    renew_behind_lock(hold.run_id)


def _renew(hold: CallHold, which: str) -> bool:
    statement = (
        f"UPDATE {TABLE} SET lease_until = {now_sql()} + %s "  # noqa: S608 - constant
        f"WHERE {which} AND owner = %s AND epoch = %s AND status = 'executing' "
        f"AND NOT EXISTS (SELECT 1 FROM {WISHES} WHERE run_id = %s)"
    )
    lease_s, run_id = conf.get("LEASE_S"), db_id(hold.run_id)
    arguments = [lease_s, db_id(hold.call_id), hold.owner, hold.epoch, run_id]
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return bool(cursor.rowcount)


def _lost(hold: CallHold) -> LostLease:
    return LostLease(f"Call {hold.call_id} is no longer worked on by us.")
