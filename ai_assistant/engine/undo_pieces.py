"""One transaction of an undo: whole groups of rows, if they are as they were shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.databases import taken_back_with, written_ones
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.groups import Piece, groups_of, pieces_of
from ai_assistant.changes.undo.planning import make_plan
from ai_assistant.changes.undo.restoring import Restorer, work_of
from ai_assistant.changes.undo.rows import of_objects
from ai_assistant.changes.undo.values import (
    Outcome,
    UndoPlan,
    UndoRequest,
    UndoRow,
)
from ai_assistant.engine.accounting.audit import change_undone
from ai_assistant.engine.accounting.history import write_history
from ai_assistant.engine.lifecycle.object_lock import check_rows_free
from ai_assistant.engine.snapshots import keep_snapshots, left_differing
from ai_assistant.engine.storage.notifications import ring_pages
from ai_assistant.engine.storage.units import unit
from ai_assistant.engine.undo_snapshots import plan_of, roll_back
from ai_assistant.engine.undo_stops import check_goes_on, is_stopped
from ai_assistant.engine.undo_targets import change_sets, checked_user
from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.tools.data.undo.kept import KeptPermissions
from ai_assistant.tools.data.undo.saving import AdminSaver, in_revision

MOST_ROWS = 10_000  # of one group; images of more are not kept


@dataclass(kw_only=True, slots=True)
class PieceDone:
    """What one transaction has undone."""

    change: ChangeSet | None
    rows: list[UndoRow]
    differing: list[str]


@dataclass(kw_only=True, slots=True)
class Begun:
    """What an undo works with, once its plan is the one that was shown."""

    request: UndoRequest
    asked_at: datetime  # by the clock of the database
    moved: UndoPlan | None = None
    is_redo: bool = False
    work: list[UndoRow] = field(default_factory=list)
    same: list[UndoRow] = field(default_factory=list)  # chosen, and as before already
    shown: dict[str, list[Any]] = field(default_factory=dict)  # digests by key
    pieces: list[Piece] = field(default_factory=list)
    run: Run | None = None
    permissions: KeptPermissions | None = None
    change: ChangeSet | None = None
    done: PieceDone | None = None  # all of it, in the first transaction


class Moved(Exception):
    """A row is not as it was when the plan was shown."""


@unit
def begin(request: UndoRequest, asked_at: datetime) -> Begun:
    """Compare the plan with what was shown; do all of it if that is not much."""
    user = checked_user(request.user_id)
    sets = change_sets(user, request.target)
    run = _locked(sets, request.asked_in)
    begun = Begun(request=request, asked_at=asked_at, run=run)
    if request.target.kind == "since":
        begun.run = Run.objects.get(pk=request.target.id)
    with taken_back_with(written_ones()):
        plan = plan_of(sets, _permissions(begun, user), user)
        if plan.digest != request.digest:
            begun.moved = plan
            return begun
        _choose(begun, plan, sets, user)
        if len(begun.pieces) == 1 and not is_stopped(sets, asked_at):
            begun.done = _carry_out(begun, begun.pieces.pop(), begun.work, sets, user)
    return begun


@unit
def do_piece(begun: Begun, piece: Piece) -> PieceDone:
    """Do one piece of many, if its rows are still as they were shown."""
    request, rows = begun.request, piece.rows
    user = checked_user(request.user_id)
    sets = change_sets(user, request.target)
    _locked(sets, request.asked_in)
    check_goes_on(sets, begun.asked_at)
    if begun.change is not None:
        _lock(begun.change)
    keys, piece.at = [row.key for row in rows], ""
    with taken_back_with(written_ones()):
        permissions = _permissions(begun, user)
        has_whole = any(row.rollback for row in rows)
        among = None if has_whole else of_objects(rows)
        plan = plan_of(sets, permissions, user, keys, among)
        found = {row.key: row.digest() for row in plan.rows}
        for key in keys:
            if found.get(key) != begun.shown[key]:
                piece.at = key
                raise Moved
        work = work_of(plan, request.choice)
        return _carry_out(begun, piece, work, sets, user)


def _permissions(begun: Begun, user: Any) -> KeptPermissions:
    """Return what the person may do now."""
    if begun.permissions is None or not begun.permissions.are_of(user):
        begun.permissions = KeptPermissions(user)
    return begun.permissions


def _carry_out(
    begun: Begun, piece: Piece, work: list[UndoRow], sets: list[ChangeSet], user: Any
) -> PieceDone:
    """Do the work of a piece in its transaction, and keep what it has changed."""
    run, request = begun.run, begun.request
    wholes = [row for row in work if row.rollback is not None]
    with in_revision(user, _label(begun)), recording() as recorder:
        parts = [row for row in work if row.rollback is None]
        if roll_back(work, piece) and parts:  # as they are by now
            keys, permissions = [row.key for row in parts], _permissions(begun, user)
            parts = work_of(make_plan(sets, permissions, keys), request.choice)
        saver = AdminSaver(user)
        restorer = Restorer(rows=parts, recorder=recorder, saver=saver)
        try:
            saver.as_writing(restorer.carry_out)
        finally:
            piece.at = restorer.at
    # Objects may be locked for the run that asks.
    asks = Run(pk=request.asked_in) if request.asked_in else run
    check_rows_free(recorder.rows, asks or Run())
    change = store_as(_new_change_set(begun, user), recorder)
    if change is not None:
        keep_snapshots(change, wholes)
    if run is not None:
        ring_pages(run, (row.label for row in recorder.rows))
    same = begun.same if begun.change is None else []
    done = [part for row in (*work, *same) for part in row.restored]
    _mark(sets, None if piece.is_last else of_objects(done), change)
    write_history(work, user, run)
    target = {request.target.kind: str(request.target.id), "digest": request.digest}
    if request.asked_in:
        target["asked_in"] = str(request.asked_in)
    change_undone(change, work, target, request.choice, request.stamp.ip)
    differing = [row.key for row in (*left_differing(wholes), *restorer.differing())]
    return PieceDone(change=change, rows=work, differing=differing)


def _locked(sets: Sequence[ChangeSet], asked_in: UUID | None) -> Run | None:
    """Let no other undo, and no run, work on these changes; return their run."""
    if not sets:
        raise _nothing()
    keys = [one.pk for one in sets]
    conversations = {one.run.conversation_id for one in sets if one.run is not None}
    # Where a run is under way no undo begins; and a message that comes has the lock.
    asking = Run.objects.filter(pk=asked_in) if asked_in else Run.objects.none()
    ours = asking.values_list("conversation_id", flat=True)
    Conversation.objects.filter(pk__in=conversations.difference(ours)).lock_row()
    # By a write that changes nothing: SQLite has no locks of rows.
    ChangeSet.objects.filter(pk__in=keys).update(tool=F("tool"))
    active = Run.objects.filter(conversation__in=conversations, state__in=UNFINISHED)
    if active.exclude(pk__in=asking).exists():
        raise Refused(
            "busy",
            _("The assistant is still working in this conversation. Stop it first."),
        )
    found = {one.run_id: one.run for one in sets}
    return next(iter(found.values())) if len(found) == 1 else None


def _choose(begun: Begun, plan: UndoPlan, sets: list[ChangeSet], user: Any) -> None:
    """Note what is to be done. Raise Refused if some of it needs what was not chosen."""
    choice, everything = begun.request.choice, plan.rows
    chosen = plan.chosen(choice)
    if len(chosen) < len(everything):
        keys = {row.key for row in chosen}
        alone = plan_of(sets, _permissions(begun, user), user, keys)
        before = {row.key: row for row in chosen}
        for row in alone.rows:
            if row.does_something < before[row.key].does_something:
                raise Refused(
                    "incomplete",
                    _("“%(object)s” cannot be undone without the others: %(why)s")
                    % {"object": row.text, "why": row.why},
                )
        plan = alone
    begun.is_redo = plan.is_redo
    begun.shown = {row.key: row.digest() for row in plan.chosen(choice)}
    begun.same = [row for row in chosen if row.outcome == Outcome.SAME]
    begun.work = work_of(plan, choice)
    if not begun.work and not begun.same:
        raise _nothing(plan.chosen(choice))
    begun.pieces = pieces_of(groups_of(begun.work)) or [Piece(groups=[])]
    if max(len(piece.rows) for piece in begun.pieces) > MOST_ROWS:
        raise Refused(
            "too_many",
            _("At most %(most)d objects can be undone at once. Choose fewer.")
            % {"most": MOST_ROWS},
        )
    done = len(begun.work) + len(begun.same)
    begun.pieces[-1].is_last = done == len(everything)


def _nothing(rows: Sequence[UndoRow] = ()) -> Refused:
    """Return that nothing is undone, and why, if it is the same for all these rows."""
    reasons = {row.why for row in rows}
    why = reasons.pop() if len(reasons) == 1 else ""
    sentence = _("There is nothing that can be undone.")
    return Refused("nothing", f"{sentence} {why}".strip())


# --- what is kept of it ---


def _new_change_set(begun: Begun, user: Any) -> ChangeSet:
    """Return the change of this undo, which goes on with each piece."""
    if begun.change is not None:
        return begun.change
    kind = ChangeSet.Kind.REDO if begun.is_redo else ChangeSet.Kind.UNDO
    made = ChangeSet(run=begun.run, user=user, kind=kind, tool=kind)
    made.label = _label(begun)
    return made


def _label(begun: Begun) -> str:
    return _("Redo") if begun.is_redo else _("Undo")


def _lock(change: ChangeSet) -> None:
    """Let nobody redo an undo in pieces while it goes on."""
    ChangeSet.objects.filter(pk=change.pk).update(tool=F("tool"))
    change.refresh_from_db()


def _mark(sets: list[ChangeSet], condition: Q | None, change: ChangeSet | None) -> None:
    """Note on each changed row, or all, that it is undone, or no longer."""
    if change is None:
        return
    keys = [one.pk for one in sets]
    open_rows = RowChange.objects.filter(change_set__in=keys, undone_by=None)
    undone_before = RowChange.objects.filter(undone_by__in=keys)
    found = condition or Q()
    open_rows.filter(found).update(undone_by=change)
    undone_before.filter(found).update(undone_by=None)
