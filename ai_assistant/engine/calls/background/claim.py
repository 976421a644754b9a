"""Hold a call in the background: claim it, keep its lease, give it up."""

from dataclasses import dataclass, replace
from functools import cached_property
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant import conf
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.values import Changes
from ai_assistant.changes.verify.pieces import Pieces, done_by, not_done
from ai_assistant.engine.calls.writes import (
    because_unexpected,
    check_unmoved,
    has_moved,
    shown_before,
)
from ai_assistant.engine.interrupts.results import call_moved
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import (
    database_now,
    db_id,
    now_sql,
    pass_by_state,
    renew_behind_lock,
    this_process,
    unlocked,
)
from ai_assistant.engine.storage.units import unit
from ai_assistant.exceptions import Differs, LostLease
from ai_assistant.models.call import BackgroundCall, CallStatus, ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.clock import Now
from ai_assistant.models.run import UNFINISHED
from ai_assistant.types import ToolResult

TABLE = "ai_assistant_backgroundcall"
CALLS = "ai_assistant_toolcall"
WISHES = "ai_assistant_stoprequest"  # of people who want a run to stop


@dataclass(frozen=True, kw_only=True, slots=True)
class CallHold:
    """The right to work on a background call."""

    call_id: UUID
    run_id: UUID
    owner: str
    epoch: int


@unit
def claim_task(call_id: UUID) -> CallHold | None:
    """
    Take a pending background call; None if there is nothing to take.

    A message that is delivered twice finds the call taken the second time.
    """
    call = ToolCall.objects.filter(pk=call_id, background=True).first()
    if call is None or not call.is_open:
        return None
    try:
        pass_by_state(call.run_id)
    except LostLease:
        return None
    ready = ToolCall.objects.filter(pk=call_id, status=CallStatus.PENDING)
    ready = ready.filter(Q(approved=True) | Q(asks=False))
    started_at = Coalesce("started_at", Now())
    if not ready.update(status=CallStatus.EXECUTING, started_at=started_at):
        return None
    append_by_state(call.run_id, [call_moved(call, CallStatus.EXECUTING)])
    own = BackgroundCall.objects.get(pk=call_id)
    own.owner, own.epoch = this_process(), own.epoch + 1
    own.lease_until = database_now() + float(conf.get("LEASE_S"))
    own.save(update_fields=["owner", "epoch", "lease_until"])
    return CallHold(
        call_id=call_id, run_id=call.run_id, owner=own.owner, epoch=own.epoch
    )


def pass_call_fence(hold: CallHold, *, events: int = 0) -> int:
    """
    Take the run's lock and verify that this process still holds the call.

    Call it first in a transaction; return the first event number. Raise LostLease
    if the run has ended or was stopped, or if another process holds the call.
    """
    first = pass_by_state(hold.run_id, events=events)
    if not _renew(hold, "call_id = %s"):
        raise _lost(hold)
    return first


@unit
def renew_claim(hold: CallHold) -> None:
    """
    Renew the lease of a call that is quiet. Raise LostLease if it is lost.

    A row that is locked is passed by: a piece of the tool holds it for as long as it
    takes, and renews the lease at its end.
    """
    _renew(hold, unlocked(TABLE, "%s", key="call_id"))
    still = BackgroundCall.objects.filter(
        pk=hold.call_id,
        owner=hold.owner,
        epoch=hold.epoch,
        call__status=CallStatus.EXECUTING,
        call__run__state__in=UNFINISHED,
        call__run__stop_request=None,
    )
    if not still.exists():
        raise _lost(hold)


def renew_behind_piece(hold: CallHold) -> None:
    """Renew the leases that could not be renewed during a piece. Call it at its end."""
    _renew(hold, "call_id = %s")
    renew_behind_lock(hold.run_id)


def _renew(hold: CallHold, which: str) -> bool:
    statement = (
        f"UPDATE {TABLE} SET lease_until = {now_sql()} + %s "
        f"WHERE {which} AND owner = %s AND epoch = %s AND EXISTS (SELECT 1 "
        f"FROM {CALLS} WHERE id = {TABLE}.call_id AND status = 'executing') "
        f"AND NOT EXISTS (SELECT 1 FROM {WISHES} WHERE run_id = %s)"
    )
    lease_s, run_id = conf.get("LEASE_S"), db_id(hold.run_id)
    arguments = [lease_s, db_id(hold.call_id), hold.owner, hold.epoch, run_id]
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return bool(cursor.rowcount)


def _lost(hold: CallHold) -> LostLease:
    return LostLease(f"Call {hold.call_id} is no longer worked on by us.")


OBJECTS_NAMED = 5  # of the objects that were left


class Holding:
    """Verifies the pieces of a background call against what the person approved."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.differs: Differs | None = None  # of a piece: no other one is begun
        self._pieces: Pieces | None = None  # None: what was kept is to be read

    @cached_property
    def shown(self) -> Changes | None:
        """What the person approved, if that was shown as a difference."""
        return shown_before(self.call)

    def check_begin(self) -> None:
        """Raise Differs if an approved row changed, or an earlier piece differed."""
        if self.differs is not None:
            raise self.differs
        if self.shown is not None and not self.has_begun():
            check_unmoved(self.shown)

    def check(self, recorder: Recorder) -> None:
        """Raise Differs unless the piece is approved and still to be done."""
        if self.shown is None:
            return
        if self._pieces is None:
            self._pieces = Pieces(self.shown, self.call)
        because = ""
        if self._pieces.has_moved(recorder):
            because = has_moved()
        elif unexpected := self._pieces.unexpected(recorder):
            because = because_unexpected(unexpected)
        if because:
            self.differs = Differs(because)
            raise self.differs

    def keep(self) -> None:
        """Note that the piece that was checked is committed."""
        if self._pieces is not None:
            self._pieces.keep()

    def forget(self) -> None:
        """Drop cached pieces after a rollback, so that they are read again."""
        self._pieces = None

    def has_begun(self) -> bool:
        """Return whether a piece has changed anything, in this attempt or before."""
        return ChangeSet.objects.filter(call=self.call).exists()

    def ended_by(self, differs: Differs) -> Differs | ToolResult:
        """Return the outcome of a call of which a piece was not as shown."""
        if not self.has_begun():
            return differs
        # It cannot be asked for again: a part of what was shown is done.
        stays = _("That part was undone. What was done before it stays: %(done)s.")
        return ToolResult(
            ok=False,
            error=f"{differs.because} {stays % {'done': self._done()}}",
            error_type="changed",
            suggestion=_("Check what has been done so far, then decide again."),
        )

    def told(self, result: ToolResult) -> ToolResult:
        """Return the result with a note on the shown objects that were not changed."""
        left = not_done(self.shown, self.call) if self.shown and result.ok else []
        if not left:
            return result
        names = ", ".join(left[:OBJECTS_NAMED])
        if len(left) > OBJECTS_NAMED:
            more = {"names": names, "count": len(left) - OBJECTS_NAMED}
            names = _("%(names)s and %(count)d more") % more
        said = _("Shown, but not or only partly done: %(names)s.") % {"names": names}
        # The model reads the message, the card shows the error.
        return replace(result, message=f"{result.message} {said}".strip(), error=said)

    def _done(self) -> str:
        count = len(done_by(self.call))
        said = ngettext("%(count)d object", "%(count)d objects", count)
        return said % {"count": count}
