"""Find stalled runs and calls, and bring them back into the queue."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet

from ai_assistant import conf
from ai_assistant.engine.accounting.daily import sum_days
from ai_assistant.engine.calls import background
from ai_assistant.engine.calls.background.send import is_due, resend_after_s
from ai_assistant.engine.intake.conversations import purge_deleted
from ai_assistant.engine.interrupts.answers import expire
from ai_assistant.engine.interrupts.base import late_interrupts, settle_wait
from ai_assistant.engine.interrupts.results import (
    call_moved,
    outcome_unknown,
    record_result,
)
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.engine.lifecycle.object_lock import let_go_of_left
from ai_assistant.engine.lifecycle.stop import heed
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import (
    Hold,
    claim_lease,
    database_now,
    is_gone,
    pass_by_state,
)
from ai_assistant.engine.storage.units import unit, unless_locked
from ai_assistant.events import Event
from ai_assistant.exceptions import LostLease, Refused
from ai_assistant.models.call import BackgroundCall, CallStatus, ToolCall
from ai_assistant.models.run import UNFINISHED, WAITING, Run, RunState, StopRequest
from ai_assistant.registry import registry
from ai_assistant.safety.audit import seal_all, seal_entries
from ai_assistant.safety.budgets.ledger import settle_left_behind

logger = logging.getLogger("ai_assistant")

SWEPT_AT_ONCE = 100


@dataclass(kw_only=True, slots=True)
class Swept:
    """The result of a sweep: ids of changed runs, whose pages are to be notified."""

    moved: list[UUID] = field(default_factory=list)


def sweep_once() -> Swept:
    """Do everything that needs no event loop. Safe from any process, any time."""
    swept = Swept()
    for part in _parts(swept):
        try:
            unless_locked(part)
        except (OperationalError, InterfaceError):
            raise  # of the database, which is away for all of them
        except Exception:
            logger.exception("a part of the sweep failed, and is left for the next one")
    return swept


def _parts(swept: Swept) -> list[Callable[[], object]]:
    """Return what a sweep does; none of it waits for a run that is locked."""
    return [
        partial(_expire_waits, swept),
        partial(_end_stopped, swept),
        partial(_take_back_calls, swept),
        unit(let_go_of_left),
        give_out_calls,
        unit(settle_left_behind),
        purge_deleted,
        partial(
            seal_all, unit(seal_entries)
        ),  # who freezes in it does not keep the log
        sum_days,
    ]


def claim_runs(owner: str, room: int) -> list[Hold]:
    """Take up to `room` runs that are queued, or whose owner is gone."""
    holds: list[Hold] = []
    for run_id, gone_owner in _claimable(owner):
        if len(holds) >= room:
            break
        # One that is locked takes the room of no other.
        hold = unit(claim_lease)(run_id, owner, gone_owner=gone_owner)
        if hold is not None:
            holds.append(hold)
    return holds


def _claimable(owner: str) -> list[tuple[UUID, str]]:
    """Return runs to take, each with its owner if that is surely gone."""
    now = database_now()
    found: list[tuple[UUID, str]] = []
    rows = Run.objects.filter(state__in=(RunState.QUEUED, RunState.RUNNING))
    columns = rows.order_by("created_at").values_list(
        "pk", "state", "owner", "lease_until"
    )
    for run_id, state, held_by, lease_until in columns:
        if state == RunState.QUEUED:
            found.append((run_id, ""))
        elif held_by != owner and is_gone(held_by):
            found.append((run_id, held_by))
        elif lease_until < now:
            found.append((run_id, ""))
    return found


def _expire_waits(swept: Swept) -> None:
    for interrupt_id in late_interrupts().values_list("pk", flat=True)[:SWEPT_AT_ONCE]:
        with suppress(Refused):
            swept.moved.append(expire(interrupt_id).run_id)


def _end_stopped(swept: Swept) -> None:
    """End stopped runs that no process holds, and pass the request on to the others."""
    # Two statements: for one with OR, PostgreSQL reads all runs that there ever were.
    states = (RunState.QUEUED, *WAITING)
    noted = Run.objects.filter(stop_requested=True, state__in=states)
    asked = StopRequest.objects.values_list("run_id", flat=True)
    found = [*noted.values_list("pk", flat=True)[:SWEPT_AT_ONCE]]
    for run_id in dict.fromkeys([*found, *asked[: SWEPT_AT_ONCE - len(found)]]):
        if heed(run_id, waits=False).ended:
            swept.moved.append(run_id)


def _take_back_calls(swept: Swept) -> None:
    """Give up the claims of workers that are gone."""
    now = database_now()
    for work in _at_work().select_related("call__run"):
        is_left = is_gone(work.owner) or work.lease_until < now
        if is_left and _take_back(work):
            swept.moved.append(work.call.run_id)


def _at_work() -> QuerySet[BackgroundCall]:
    return BackgroundCall.objects.filter(
        call__background=True, call__status=CallStatus.EXECUTING
    )


@unit
def _take_back(work: BackgroundCall) -> bool:
    """
    Release the claim of a call; False if the call has not stalled.

    A locked row means a live process, or at least its connection: skip such a run.
    """
    call = work.call
    try:
        pass_by_state(call.run_id, waits=False)
    except LostLease:
        return False
    left = BackgroundCall.objects.filter(pk=work.pk, epoch=work.epoch)
    if not is_gone(work.owner):
        # Asked again behind the lock: it may have been renewed since.
        left = left.filter(lease_until__lt=database_now())
    is_at_work = _at_work().filter(pk=work.pk).exists()
    if not is_at_work or not left.update(lease_until=0, owner="", sent_at=0):
        return False
    tool = registry.tools().get(call.name)
    if tool is not None and tool.execution.resumable:
        ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.PENDING)
        facts: list[Event] = [call_moved(call, CallStatus.PENDING)]
    else:
        with call.run.as_sent():
            facts = [*record_result(call, outcome_unknown(call), status="unknown")]
            facts += TASK.end(call)
        settle_wait(call.run_id)
    append_by_state(call.run_id, facts)
    return True


def give_out_calls() -> None:
    """Send background calls again that no process has taken, or will take."""
    due = BackgroundCall.objects.filter(
        call__background=True,
        call__status=CallStatus.PENDING,
        call__run__state__in=UNFINISHED,
        sent_at__lt=database_now() - resend_after_s(),
    )
    # Without those that wait for a look at what they change.
    due = due.exclude(call__asks=True, call__approved=False)
    for call_id in list(due.values_list("pk", flat=True)[:SWEPT_AT_ONCE]):
        if is_due(call_id):
            background.give_out(call_id)


def overdue_s() -> list[float]:
    """
    Return for how long each expired lease of an active run or call has been over.

    Its row is locked then: by a process that hangs, or by a tool that takes long.
    """
    now = database_now()
    # By then somebody has taken it, if it could be taken.
    before = now - 2 * conf.sweep_s() - float(conf.get("POLL_S"))
    runs = Run.objects.filter(state=RunState.RUNNING, lease_until__lt=before)
    calls = _at_work().filter(lease_until__lt=before)
    leases = [
        rows.values_list("lease_until", flat=True)[:SWEPT_AT_ONCE]
        for rows in (runs, calls)
    ]
    return [now - until for found in leases for until in found]
