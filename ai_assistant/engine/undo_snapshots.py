"""The plan of an undo, where a module brings back its root object as a whole."""

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Q
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.databases import taken_back_with, written_ones
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.undo.groups import Piece
from ai_assistant.changes.undo.lookups import note_who
from ai_assistant.changes.undo.planning import Planner, make_plan
from ai_assistant.changes.undo.rows import changed_rows, open_rows, towards
from ai_assistant.changes.undo.values import (
    Outcome,
    Permissions,
    UndoField,
    UndoPlan,
    UndoRow,
)
from ai_assistant.changes.values import meta, model_name
from ai_assistant.changes.verify.auto_fields import is_volatile
from ai_assistant.engine.calls.trial import unkept_caches
from ai_assistant.engine.snapshots import ModuleRollback, digest_of, rollbacks_of
from ai_assistant.engine.storage.units import is_transient, unit
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.models.change import ChangeSet

logger = logging.getLogger("ai_assistant")

REFUSALS = (ToolFailed, ModelRetry, ValidationError)
NAMED = 3  # objects in a sentence
MOST_PARTS = 50  # of one object that are shown


def plan_of(
    sets: Iterable[ChangeSet],
    permissions: Permissions,
    user: Any,
    only: Collection[str] | None = None,
    among: Q | None = None,
) -> UndoPlan:
    """
    Return what undoing these changes would do now, as `make_plan` does.

    What a module brings back as a whole is one row, in the place of those of its parts.
    """
    every = list(sets)
    rollbacks = [
        one for one in rollbacks_of(every, user) if only is None or one.key in only
    ]
    if not rollbacks:
        return make_plan(every, permissions, only, among)
    # Of all, whatever is chosen: what comes back along has no row to choose.
    plan = make_plan(every, permissions)
    rows = [_row(one, plan, permissions) for one in rollbacks]
    covered = {part.key for row in rows for part in row.covered}
    if only is not None:
        plan = make_plan(every, permissions, {*only, *covered})
    others = (row for row in plan.rows if row.obj is None or row.key not in covered)
    plan.rows = [*rows, *others]
    return plan


# --- what becomes of it ---


@dataclass(kw_only=True, slots=True)
class Trial:
    """What a rollback would do: it was done, and taken back."""

    refusal: str = ""
    rows: list[RowImage] = field(default_factory=list)
    as_before: set[str] = field(default_factory=set)  # keys of objects


def _row(rollback: ModuleRollback, plan: UndoPlan, permissions: Permissions) -> UndoRow:
    first = rollback.kept[0]
    row = UndoRow(
        key=rollback.key,
        action="change",
        model=first["model"],
        object_id=first["object_id"],
        text=first["text"],
        outcome=Outcome.RESTORE,
        change_sets=frozenset(one.pk for one in rollback.sets),
        rollback=rollback,
        version=f"{rollback.now.digest} {digest_of(rollback.before)}",
    )
    trial = _tried(rollback)
    parts = Planner(permissions).rows([(one.model, towards(one)) for one in trial.rows])
    refused = [part for part in parts if part.outcome == Outcome.BLOCKED or part.why]
    if trial.refusal:
        row.block(trial.refusal)
    elif refused:
        row.block(f"“{refused[0].text}”: {refused[0].why}")
    else:
        row.covered = [one for one in plan.rows if one.key in trial.as_before]
        _settle(row, rollback, _others(parts, plan))
        if row.outcome == Outcome.CONFLICT:
            _note_who(row, parts, rollback.sets)
    row.fields = [_as_a_whole(row, rollback)]
    if row.outcome == Outcome.RESTORE:
        row.fields += islice(_parts(row.covered), MOST_PARTS)
    return row


def _as_a_whole(row: UndoRow, rollback: ModuleRollback) -> UndoField:
    now, before = rollback.says(rollback.now.data), rollback.says(rollback.before)
    if row.outcome != Outcome.RESTORE:  # it says what is kept
        now = now if now != before else _("as it is now")
        before = before or _("as it was before")
    label = capfirst(_("all that belongs to it"))
    return UndoField(
        name="", label=label, outcome=row.outcome, now=now, restored=before
    )


def _parts(covered: list[UndoRow]) -> Iterator[UndoField]:
    """Yield what happens to the parts of an object that is brought back."""
    outcome = Outcome.RESTORE
    for part in covered:
        name = capfirst(model_name(part.model))
        if part.action == "change":
            for one in part.shown_fields:
                if _counts_itself(part, one):
                    continue  # that goes on with the rollback
                label = f"{name} “{part.text}”, {one.label}"
                yield replace(one, label=label, outcome=outcome)
            continue
        is_back = part.action in ("create", "link")
        now, restored = ("", part.text) if is_back else (part.text, "")
        yield UndoField(
            name="", label=name, outcome=outcome, now=now, restored=restored
        )


def _counts_itself(part: UndoRow, one: UndoField) -> bool:
    return part.obj is not None and is_volatile(
        meta(part.obj.row.model).get_field(one.name)
    )


def _tried(rollback: ModuleRollback) -> Trial:
    """Do what a rollback does, and take it back."""

    def work() -> Trial:
        trial = Trial()
        with (
            transaction.atomic(),
            taken_back_with(written_ones()) as take_back,
            unkept_caches(),
        ):
            try:
                with recording() as recorder:
                    rollback.apply()
            except REFUSALS as error:
                trial.refusal = " ".join(getattr(error, "messages", [str(error)]))
            else:
                trial.rows = recorder.rows
                trial.as_before = _as_before(rollback.sets)
                if recorder.gaps or not rollback.is_done():
                    trial.refusal = failed
            take_back()
        return trial

    failed = _("It cannot be brought back as a whole; its parts can be, one by one.")
    is_inside = connection.in_atomic_block
    try:
        return work() if is_inside else unit(work)()
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("module %r cannot roll back", rollback.now.module.id)
        return Trial(refusal=failed)


def _as_before(sets: list[ChangeSet]) -> set[str]:
    """Return the keys of the objects of these changes that are as before."""
    kept = changed_rows(row for row in open_rows(sets) if row.has_images)
    rows = Planner(None).judged(kept)
    return {row.key for row in rows if row.outcome == Outcome.SAME}


def _settle(row: UndoRow, rollback: ModuleRollback, others: list[UndoRow]) -> None:
    """Make it a conflict if people's work would be lost."""
    if rollback.was_touched:
        row.reason = _("It has been changed since.")
    elif others:
        names = ", ".join(f"“{one.text}”" for one in others[:NAMED])
        names += ", …" if len(others) > NAMED else ""
        row.reason = _("It would also change what others made: %(names)s.") % {
            "names": names
        }
    if row.reason:
        row.outcome, row.can_overrule = Outcome.CONFLICT, True


def _others(parts: list[UndoRow], plan: UndoPlan) -> list[UndoRow]:
    """Return what would change that the assistant has not changed."""
    known = {row.key for row in plan.rows}
    unseen = {gap["table"] for gap in plan.gaps}
    return [
        part
        for part in parts
        if part.key not in known
        and part.does_something
        and part.action != "create"
        and part.obj is not None
        and meta(part.obj.row.model).db_table not in unseen
    ]


def _note_who(row: UndoRow, parts: list[UndoRow], sets: list[ChangeSet]) -> None:
    """Note who has changed the object, or a part of it, last."""
    note_who(parts, sets[0].created_at, [one.pk for one in sets])
    dated = [(one.changed_at, one.changed_by) for one in parts if one.changed_at]
    if dated:
        row.changed_at, row.changed_by = max(dated)


# --- doing it ---


def roll_back(work: list[UndoRow], piece: Piece) -> bool:
    """Let modules bring back their objects; return whether there are any."""
    wholes = [row for row in work if row.rollback is not None]
    for row in wholes:
        piece.at = row.key
        if row.rollback is not None:
            row.rollback.apply()
    piece.at = ""
    return bool(wholes)
