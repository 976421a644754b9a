"""Undo changes: the plan of it, and one transaction that does what the plan says."""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db import DatabaseError, OperationalError
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.planning import make_plan
from ai_assistant.changes.undo.restoring import Restorer, work_of
from ai_assistant.changes.undo.values import Choice, Outcome, UndoPlan, UndoRow
from ai_assistant.engine.accounting.audit import change_undone
from ai_assistant.engine.accounting.history import write_history
from ai_assistant.engine.calls.write_limit import taken_back_with, written_ones
from ai_assistant.engine.lifecycle.object_lock import check_rows_free
from ai_assistant.engine.queries import UNDO_OTHERS, calls, changes, get_or_404, runs
from ai_assistant.engine.storage.units import refusal_of, unit
from ai_assistant.exceptions import Refused, ToolFailed
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.safety.identity.permissions import fresh_user, may_use
from ai_assistant.tools.data.access.permissions import AdminPermissions
from ai_assistant.types import UserKey

logger = logging.getLogger("ai_assistant")

MOST_ROWS = 1000  # that one undo changes

TargetKind = Literal["run", "call", "change", "since"]


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoTarget:
    """
    Whose changes are undone: those of a run, of a call, or one change.

    "since" is a run with all that came after it in its conversation.
    """

    kind: TargetKind
    id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoRequest:
    """What a person has decided, who was shown the plan with the digest."""

    user_id: UserKey
    target: UndoTarget
    digest: str
    choice: Choice = field(default_factory=Choice)
    ip: str = ""
    asked_in: UUID | None = None  # the run in which the assistant was told to


@dataclass(kw_only=True, slots=True)
class Undone:
    """What an undo has done; `moved` is the new plan if nothing was done."""

    conversation_id: UUID | None = None
    run_id: UUID | None = None
    change_id: UUID | None = None
    rows: list[UndoRow] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)  # keys of what is not as planned
    moved: UndoPlan | None = None

    @property
    def done(self) -> bool:
        """Whether the plan was the one that was shown."""
        return self.moved is None


def read_plan(user_id: UserKey, target: UndoTarget) -> UndoPlan:
    """Return what an undo would do now. Raise Refused not_found."""
    user = _checked_user(user_id)
    return make_plan(_change_sets(user, target), AdminPermissions(user))


def undo(request: UndoRequest) -> Undone:
    """
    Do what the plan of `request.digest` says, all or nothing.

    If something has moved since, nothing is done and the new plan is returned. Raise
    Refused: not_found, busy, nothing, too_many, incomplete, or undo_failed if the code
    of the site or its database refuses.
    """
    try:
        return _undo(request)
    except Refused:
        raise
    except ToolFailed as error:  # another run works on one of the rows
        raise Refused("busy", str(error)) from error
    except Exception as error:
        is_ours = isinstance(error, OperationalError) or refusal_of(error)
        if isinstance(error, DatabaseError) and is_ours:
            raise
        logger.exception("an undo of %s %s failed", request.target.kind, request.target)
        raise Refused(
            "undo_failed",
            _(
                "Nothing was undone: the code of this site, or its database, refused "
                "one of the changes. Undo fewer of them, or look at the log."
            ),
        ) from error


@unit
def _undo(request: UndoRequest) -> Undone:
    user = _checked_user(request.user_id)
    sets = _change_sets(user, request.target)
    run = _locked(sets, request.asked_in)
    if request.target.kind == "since":
        run = Run.objects.get(pk=request.target.id)
    with taken_back_with(written_ones()):
        plan = make_plan(sets, AdminPermissions(user))
        if plan.digest != request.digest:
            return Undone(moved=plan)
        work = _chosen_work(plan, request.choice, sets, user)
        with recording() as recorder:
            restorer = Restorer(rows=work, recorder=recorder)
            restorer.carry_out()
        # Objects may be locked for the run that asks.
        asks = Run(pk=request.asked_in) if request.asked_in else run
        check_rows_free(recorder.rows, asks or Run())
        change = store_as(_new_change_set(plan, run, user), recorder)
    _mark(sets, plan, request.choice, work, change)
    write_history(work, user, run)
    target = {request.target.kind: str(request.target.id), "digest": request.digest}
    if request.asked_in:
        target["asked_in"] = str(request.asked_in)
    change_undone(change, work, target, request.choice, request.ip)
    return Undone(
        conversation_id=run.conversation_id if run else None,
        run_id=run.pk if run else None,
        change_id=change.pk if change else None,
        rows=work,
        differing=[row.key for row in restorer.differing()],
    )


# --- who, and what ---


def _checked_user(user_id: UserKey) -> Any:
    user = fresh_user(user_id)
    if user is None or not may_use(user):
        raise Refused("permission", _("You may not use the assistant."))
    return user


def _change_sets(user: Any, target: UndoTarget) -> list[ChangeSet]:
    """Return the changes, oldest first. Raise Refused not_found if they are others'."""
    sees_all = user.has_perm(UNDO_OTHERS)
    visible: QuerySet[ChangeSet] = (
        ChangeSet.objects.all() if sees_all else changes(user.pk)
    )
    visible = visible.select_related("run")
    if target.kind == "since":
        found = list(_since(user, visible, target.id))
    elif target.kind == "change":
        found = list(visible.filter(pk=target.id))
    else:
        kept = Q(run__conversation__deleted_at=None, kind=ChangeSet.Kind.CALL)
        found = list(visible.filter(kept, **{target.kind: target.id}))
    if not found and not _is_own(user, target):
        raise Refused("not_found", _("These changes do not exist."))
    return sorted(found, key=lambda one: (one.created_at, one.pk))


def _since(
    user: Any, visible: QuerySet[ChangeSet], run_id: UUID
) -> QuerySet[ChangeSet]:
    """Return what was changed in a conversation of the user from a run on."""
    run = get_or_404(runs(user.pk), run_id, _("These changes do not exist."))
    return visible.filter(
        kind=ChangeSet.Kind.CALL,
        run__conversation=run.conversation_id,
        run__created_at__gte=run.created_at,
    )


def _is_own(user: Any, target: UndoTarget) -> bool:
    rows: Any = {"run": runs, "since": runs, "call": calls}.get(target.kind)
    return bool(rows and rows(user.pk).filter(pk=target.id).exists())


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


def _chosen_work(
    plan: UndoPlan, choice: Choice, sets: list[ChangeSet], user: Any
) -> list[UndoRow]:
    """Return what is to be done. Raise Refused if some of it needs what was not chosen."""
    chosen = plan.chosen(choice)
    if len(chosen) < len(plan.rows):
        keys = {row.key for row in chosen}
        alone = make_plan(sets, AdminPermissions(user), keys)
        before = {row.key: row for row in chosen}
        for row in alone.rows:
            if row.does_something < before[row.key].does_something:
                raise Refused(
                    "incomplete",
                    _("“%(object)s” cannot be undone without the others: %(why)s")
                    % {"object": row.text, "why": _why(row)},
                )
        plan = alone
    work = work_of(plan, choice)
    if not work and not any(row.outcome == Outcome.SAME for row in chosen):
        raise _nothing()
    if len(work) > MOST_ROWS:
        raise Refused(
            "too_many",
            _("At most %(most)d objects can be undone at once. Choose fewer.")
            % {"most": MOST_ROWS},
        )
    return work


def _why(row: UndoRow) -> str:
    reasons = [one.reason for one in row.fields if one.reason]
    return row.reason or " ".join(reasons)


def _nothing() -> Refused:
    return Refused("nothing", _("There is nothing that can be undone."))


# --- what is kept of it ---


def _new_change_set(plan: UndoPlan, run: Run | None, user: Any) -> ChangeSet:
    kind = ChangeSet.Kind.REDO if plan.is_redo else ChangeSet.Kind.UNDO
    label = _("Redo") if plan.is_redo else _("Undo")
    return ChangeSet(run=run, user=user, kind=kind, tool=kind, label=label)


def _mark(
    sets: list[ChangeSet],
    plan: UndoPlan,
    choice: Choice,
    work: list[UndoRow],
    change: ChangeSet | None,
) -> None:
    """Note on each changed row that it is undone, or no longer."""
    if change is None:
        return
    keys = [one.pk for one in sets]
    same = [row for row in plan.chosen(choice) if row.outcome == Outcome.SAME]
    done = [*work, *same]
    open_rows = RowChange.objects.filter(change_set__in=keys, undone_by=None)
    undone_before = RowChange.objects.filter(undone_by__in=keys)
    is_all = len(done) == len(plan.rows)
    condition = Q() if is_all else _of_objects(done)
    open_rows.filter(condition).update(undone_by=change)
    undone_before.filter(condition).update(undone_by=None)


def _of_objects(rows: Collection[UndoRow]) -> Q:
    """Return the condition of the changes of these objects, in all their tables."""
    ids: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for part in row.obj.rows if row.obj else ():
            ids[part.label].add(part.object_id)
    condition = Q(pk__in=())
    for label, own in ids.items():
        condition |= Q(model=label, object_id__in=own)
    return condition
