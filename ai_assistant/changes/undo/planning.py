"""Make the plan of an undo: each changed row as it was, as it was left, and as it is."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.files import content_digest
from ai_assistant.changes.capture.images import (
    Image,
    can_be_found,
    row_images,
    same_value,
)
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.display import display_value
from ai_assistant.changes.trees import is_tree
from ai_assistant.changes.undo.columns import is_generated, is_readable
from ai_assistant.changes.undo.links import last_links, links_now
from ai_assistant.changes.undo.lookups import (
    note_who,
)
from ai_assistant.changes.undo.obstacles import Obstacles
from ai_assistant.changes.undo.rows import (
    ChangedRow,
    changed_rows,
    differs,
    forgotten,
    has_key,
    is_readable_key,
    judged,
    open_rows,
    without_model,
)
from ai_assistant.changes.undo.values import (
    DOES,
    Outcome,
    Permissions,
    UndoField,
    UndoPlan,
    UndoRow,
)
from ai_assistant.changes.values import meta
from ai_assistant.changes.verify.auto_fields import is_volatile
from ai_assistant.changes.verify.differences import RecordedObject, objects_of
from ai_assistant.models.change import ChangeSet, FileChange
from ai_assistant.safety.site_code import value_or

MOST_TEXTS = 200  # rows whose fields are shown
ACTIONS = {
    "create": "delete",
    "update": "change",
    "delete": "create",
    "m2m_add": "unlink",
    "m2m_remove": "link",
}


def make_plan(
    change_sets: Iterable[ChangeSet],
    permissions: Permissions,
    only: Collection[str] | None = None,
    among: Q | None = None,
) -> UndoPlan:
    """
    Return what undoing these changes would do now; of the objects with these keys.

    `among` finds the changed rows of those, where they are few of many: such a plan is
    for nobody to see, and has no texts.

    In a transaction the rows are locked, so that the plan stays true in it. What was
    undone already is no part of it.
    """
    sets = sorted(change_sets, key=lambda one: (one.created_at, one.pk))
    in_order = open_rows(sets, among)
    gaps = [gap for one in sets if one.is_partial for gap in one.gaps]
    unseen = {gap["table"] for gap in gaps}
    planner = Planner(permissions, only, unseen, shows=among is None)
    planned = planner.rows(changed_rows(row for row in in_order if row.has_images))
    planned += [forgotten(row) for row in in_order if not row.has_images]
    moved = [row for row in planned if row.outcome in (Outcome.CONFLICT, Outcome.GONE)]
    if moved and sets:
        note_who(moved, sets[0].created_at, [one.pk for one in sets])
    is_redo = bool(sets) and all(one.kind == ChangeSet.Kind.UNDO for one in sets)
    return UndoPlan(rows=planned, gaps=gaps, is_redo=is_redo)


class Planner:
    """Makes the plan of one undo."""

    def __init__(
        self,
        permissions: Permissions | None,
        only: Collection[str] | None = None,
        unseen: Collection[str] = (),
        *,
        shows: bool = True,
    ) -> None:
        self._unseen = unseen  # the tables of which there are no images
        self._permissions = permissions
        self._only = only
        self._texts: dict[tuple[Any, str], str] = {}
        self._room = MOST_TEXTS if shows else 0
        self._changed: dict[int, ChangedRow] = {}

    def rows(self, changed: list[tuple[Any, ChangedRow]]) -> list[UndoRow]:
        """Return what becomes of each object, newest first."""
        rows = self.judged(changed)
        if self._permissions is not None:
            Obstacles(rows, self._permissions).check()
        return [*rows, *(without_model(row) for model, row in changed if model is None)]

    def judged(self, changed: list[tuple[Any, ChangedRow]]) -> list[UndoRow]:
        """Return what becomes of each object, if nothing stands in the way."""
        images = []
        for model, row in changed:
            if model is None:
                continue
            image = row.row_image(model)
            if image.kind or row.was_touched or row.files:
                self._changed[id(image)] = row
                images.append(image)
        images = last_links(images)
        objects = [
            obj
            for obj in objects_of(images)[::-1]
            if self._only is None or obj.row.key in self._only
        ]
        now = self._now(objects)
        return [self._row(obj, now) for obj in objects]

    # --- as it is ---

    def _now(self, objects: list[RecordedObject]) -> dict[int, Image]:
        """Return the images of these objects by the id of their first row."""
        tables: dict[tuple[str, Any], list[RecordedObject]] = defaultdict(list)
        for obj in objects:
            tables[obj.row.alias, obj.row.model].append(obj)
        found: dict[int, Image] = {}
        for (alias, model), those in tables.items():
            if those[0].row.is_link:
                found |= links_now(model, alias, those)
            elif can_be_found(model):
                keys = [one.row.pk for one in those if is_readable_key(one.row)]
                by_key = {
                    str(pk): image for pk, image in row_images(model, keys, alias)
                }
                for one in those:
                    if str(one.row.pk) in by_key:
                        found[id(one.row)] = by_key[str(one.row.pk)]
        return found

    # --- what becomes of it ---

    def _row(self, obj: RecordedObject, all_now: Mapping[int, Image]) -> UndoRow:
        first = obj.row
        row = UndoRow(
            key=first.key,
            action=ACTIONS.get(obj.kind, "change"),
            model=first.label,
            object_id=first.object_id,
            text=first.text or str(meta(first.model).verbose_name),
            outcome=Outcome.RESTORE,
            obj=obj,
            now=all_now.get(id(first)),
            files=[file for part in obj.rows for file in self._changed[id(part)].files],
            change_sets=frozenset(
                step.change_set_id
                for part in obj.rows
                for step in self._changed[id(part)].steps
            ),
        )
        if not can_be_found(first.model) and not first.is_link:
            row.block(_("The key of its row is not kept."))
        elif not is_readable_key(first) or not all(map(has_key, obj.rows)):
            row.block(_("What was kept of it cannot be read."))
        elif is_tree(first.model) and meta(first.model).db_table in self._unseen:
            row.block(_("Other rows of its tree were changed; they are not kept."))
        elif first.is_link:
            self._link(row)
        elif row.action == "create":
            self._create(row, obj)
        elif row.action == "delete":
            self._delete(row, obj)
        else:
            self._change(row, obj)
        return row

    def _link(self, row: UndoRow) -> None:
        if (row.action == "link") == (row.now is not None):
            row.outcome = Outcome.SAME

    def _create(self, row: UndoRow, obj: RecordedObject) -> None:
        if row.now is None:
            return
        before = obj.before or {}
        is_same = all(
            same_value(row.now.get(name), value)
            for name, value in before.items()
            if name in row.now
        )
        if is_same:
            row.outcome = Outcome.SAME
        else:
            row.block(_("Another object has this key by now."))

    def _delete(self, row: UndoRow, obj: RecordedObject) -> None:
        if row.now is None:
            row.outcome = Outcome.SAME
            return
        was_touched = any(self._changed[id(part)].was_touched for part in obj.rows)
        if was_touched or differs(obj, row.now):
            row.outcome, row.can_overrule = Outcome.CONFLICT, True
            row.reason = _("It has been changed since.")

    def _change(self, row: UndoRow, obj: RecordedObject) -> None:
        if row.now is None:
            row.outcome = Outcome.GONE
            row.reason = _("It has been deleted since.")
            return
        self._room -= 1
        for part in obj.rows:
            changed = part.fields
            for field in meta(part.model).local_concrete_fields:
                is_known = field.attname in (part.before or {})
                if field.attname in changed and is_known and not field.primary_key:
                    self._field(row, field, part)
            files = {file.field: file for file in self._changed[id(part)].files}
            for name, file in files.items():
                if name not in changed:
                    self._content(row, meta(part.model).get_field(name), part, file)
        row.settle()

    def _field(self, row: UndoRow, field: Any, part: RowImage) -> None:
        if is_generated(field):
            return
        name, now = field.attname, row.now or {}
        before = (part.before or {}).get(name)
        left, current = (part.after or {}).get(name), now.get(name)
        one = UndoField(
            name=field.name,
            label=capfirst(str(field.verbose_name)),
            outcome=Outcome.CONFLICT,
            attname=name,
            raw=before,
        )
        one.outcome, one.raw = judged(field, before, left, current)
        if one.outcome == Outcome.CONFLICT and is_volatile(field):
            return  # it counts or dates what happens: that has gone on
        if isinstance(field, models.FileField):
            if one.outcome == Outcome.RESTORE and self._is_rewritten(
                field, part, current
            ):
                one.outcome = Outcome.CONFLICT
            self._check_file(one, field, row)
        if not is_readable(field, one.raw):
            one.outcome = Outcome.BLOCKED
            one.reason = _("What was kept of it cannot be read.")
        self._say(one, field, part.alias, current, left)
        row.fields.append(one)

    def _content(
        self, row: UndoRow, field: Any, part: RowImage, file: FileChange
    ) -> None:
        """Add a file of which only the content has changed."""
        now = (row.now or {}).get(field.attname)
        one = UndoField(
            name=field.name,
            label=capfirst(str(field.verbose_name)),
            outcome=Outcome.RESTORE,
            attname=field.attname,
            raw=(part.before or {}).get(field.attname),
        )
        if not same_value(now, one.raw) or self._is_rewritten(field, part, now):
            one.outcome = Outcome.CONFLICT
        elif not file.stash:
            one.outcome = Outcome.BLOCKED
            one.reason = _("The old file was not kept.")
        self._say(one, field, part.alias, now, now)
        row.fields.append(one)

    def _is_rewritten(self, field: Any, part: RowImage, name: Any) -> bool:
        """Return whether a person has written other content into a file since."""
        steps = self._changed[id(part)].steps
        after = {
            file.sha256_after
            for step in steps
            for file in step.old_files
            if file.field == field.attname
        }
        after.discard("")
        if not after or not name or is_sealed(name):
            return False
        found = content_digest(field.storage, str(name))
        return bool(found) and found not in after

    def _check_file(self, one: UndoField, field: Any, row: UndoRow) -> None:
        """Block a file whose old content is not there any more."""
        if one.outcome not in (*DOES, Outcome.CONFLICT) or not one.raw:
            return
        kept = next((file for file in row.files if file.field == field.attname), None)
        is_kept = kept is not None and bool(kept.stash)
        if is_kept or is_sealed(one.raw):
            return
        if not value_or(False, lambda: field.storage.exists(one.raw)):
            one.outcome, one.reason = Outcome.BLOCKED, _("The old file was not kept.")

    def _say(self, one: UndoField, field: Any, alias: str, now: Any, left: Any) -> None:
        if self._room >= 0:
            one.now = self._text(field, now, alias)
            one.restored = self._text(field, one.raw, alias)
            one.left = self._text(field, left, alias)

    def _text(self, field: Any, value: Any, alias: str) -> str:
        key = (field, repr(value))
        if key not in self._texts:
            self._texts[key] = display_value(field, value, alias)
        return self._texts[key]
