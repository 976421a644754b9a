"""What stands in the way of an undo: of each row of its plan, after all are known."""

from typing import Any

from django.db import models
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.undo.columns import instance_of
from ai_assistant.changes.undo.links import link_end
from ai_assistant.changes.undo.lookups import (
    Key,
    Targets,
    dependents,
    dependents_sentence,
    foreign_keys,
    keys_of,
    taken_values,
)
from ai_assistant.changes.undo.rows import stored_instance, unique_images
from ai_assistant.changes.undo.values import DOES, Outcome, Permissions, UndoRow
from ai_assistant.changes.values import label, meta
from ai_assistant.changes.verify.differences import RecordedObject
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.safety.site_code import value_or

LINKS = ("link", "unlink")
GOES = ("delete", "unlink")
OPEN = (*DOES, Outcome.CONFLICT)


class Obstacles:
    """Blocks rows of a plan that cannot be undone, or may not be."""

    def __init__(self, rows: list[UndoRow], permissions: Permissions) -> None:
        self._rows = rows
        self._permissions = permissions
        self._targets = Targets()
        self._back: set[tuple[str, str]] = set()  # table and id of what comes back

    def check(self) -> None:
        """Check all rows; links last, which go with the objects that they link."""
        self._check_permissions([row for row in self._rows if row.action not in LINKS])
        self._note_owners()
        self._check_permissions([row for row in self._rows if row.action in LINKS])
        self._check_unique()
        self._check_targets()
        self._check_dependents()

    def _check_targets(self) -> None:
        """Block what would point to rows that are gone."""
        for row in self._rows:
            for field, value in _pointing(row):
                self._targets.want(row.alias, field, value)
        while True:
            back = {
                key for row in self._rows if _comes_back(row) for key in keys_of(row)
            }
            blocked = [self._block_dangling(row, back) for row in self._rows]
            if not any(blocked):
                return

    def _block_dangling(self, row: UndoRow, back: set[Key]) -> bool:
        blocked = False
        for field, value in _pointing(row):
            target = (row.alias, meta(field.related_model).label_lower, str(value))
            is_key = field.target_field.primary_key
            if self._targets.has(row.alias, field, value):
                continue
            if (is_key and target in back) or (
                not is_key and _is_back(field, back, row.alias)
            ):
                continue
            reason = _("%(field)s: it does not exist any more.") % {
                "field": capfirst(str(field.verbose_name))
            }
            if row.action == "change":
                one = next(x for x in row.fields if x.attname == field.attname)
                one.outcome, one.reason = Outcome.BLOCKED, reason
                row.settle()
            else:
                row.block(reason)
            blocked = True
        return blocked

    def _check_unique(self) -> None:
        """Block what another row has by now, unless the undo takes that one back too."""
        doing = [row for row in self._rows if row.does_something]
        images_by_table = unique_images(doing)
        moving = {
            (alias, label(model), str(pk))
            for (alias, model), images in images_by_table.items()
            for pk in images
        }
        moving |= {key for row in doing if row.action in GOES for key in keys_of(row)}
        by_key = {
            (part.model, str(part.pk)): row
            for row in doing
            for part in (row.obj.rows if row.obj else ())
        }
        for (alias, model), images in images_by_table.items():
            for pk, names, other in list(taken_values(model, alias, images)):
                row = by_key[model, str(pk)]
                if (alias, label(model), str(other)) in moving:
                    continue
                self._block_taken(row, model, names)

    @staticmethod
    def _block_taken(row: UndoRow, model: Any, names: tuple[str, ...]) -> None:
        labels = [capfirst(str(meta(model).get_field(n).verbose_name)) for n in names]
        reason = _("%(fields)s: another object has this value by now.") % {
            "fields": ", ".join(labels)
        }
        if row.action != "change":
            row.block(reason)
            return
        for one in row.fields:
            if one.attname in names and one.outcome in DOES:
                one.outcome, one.reason = Outcome.BLOCKED, reason
        row.settle()

    def _check_dependents(self) -> None:
        """Keep what people have built on since, and what a row needs that stays."""
        going = [row for row in self._rows if row.action == "delete" and _may_go(row)]
        found = {
            row.key: {
                key: one
                for key, one in dependents(obj).items()
                if key not in keys_of(row)
            }
            for row in going
            if (obj := stored_instance(row)) is not None
        }
        while found:
            done = {key for row in self._rows if _is_done(row) for key in keys_of(row)}
            staying = [
                (row, left)
                for row in going
                if row.key in found
                and (
                    left := [o for key, o in found[row.key].items() if key not in done]
                )
            ]
            for row, left in staying:
                row.outcome, row.can_overrule = Outcome.CONFLICT, False
                row.reason = dependents_sentence(left)
                del found[row.key]
            if not staying:
                return

    def _check_permissions(self, rows: list[UndoRow]) -> None:
        refused: list[tuple[UndoRow, str]] = []
        asked = [(row, row.obj) for row in rows if row.obj and _may_go(row)]
        found_by_key = {
            row.key: found
            for row, obj in asked
            if (found := _instance(row, obj)) is not None
        }
        self._permissions.look_at(found_by_key.values())
        for row, obj in asked:
            found = found_by_key.get(row.key)
            if row.action == "change":
                if found is not None:
                    self._check_fields(row, found)
            elif reason := self._whole_reason(row, obj, found):
                refused.append((row, reason))
        self._block_but_along([row for row in rows if _may_go(row)], refused)

    @staticmethod
    def _block_but_along(
        rows: list[UndoRow], refused: list[tuple[UndoRow, str]]
    ) -> None:
        """Block what is refused, but for rows that go along with one that may go."""
        left = {row.key: (row, reason) for row, reason in refused}
        going = {
            key
            for row in rows
            if row.action == "delete" and row.key not in left
            for key in keys_of(row)
        }
        while along := [
            row for row, _reason in left.values() if _goes_with(row, going)
        ]:
            for row in along:
                del left[row.key]
                going.update(keys_of(row))
        for row, reason in left.values():
            row.block(reason)

    def _note_owners(self) -> None:
        """Note which objects come back: links go with those."""
        for row in self._rows:
            if row.action == "create" and _comes_back(row):
                self._back.update(key[1:] for key in keys_of(row))

    def _whole_reason(
        self, row: UndoRow, obj: RecordedObject, found: models.Model | None
    ) -> str:
        """Return why the object may not come or go; `found` is it, if it can be read."""
        may = self._permissions
        if row.action in LINKS:
            image = obj.row.before or obj.row.after or {}
            end = link_end(obj.row.model)
            if end is not None and not is_sensitive_field(end.field):
                owner = (end.owner, str(image.get(end.source.attname)))
                if row.action == "link" and owner in self._back:
                    return ""
            return may.to_link(obj.row.model, image)
        if row.action == "delete":
            return may.to_delete(found) if found is not None else ""
        if found is None:
            return _("What was kept of it cannot be read.")
        return may.to_create(found)

    def _check_fields(self, row: UndoRow, found: models.Model) -> None:
        raws = {one.attname: one.raw for one in row.fields if one.outcome in OPEN}
        reasons = self._permissions.to_change(found, raws)
        for one in row.fields:
            reason = reasons.get("") or reasons.get(one.attname)
            if reason and one.outcome in OPEN:
                one.outcome, one.reason = Outcome.BLOCKED, reason
        row.settle()
        if reasons.get(""):
            row.reason = reasons[""]


def _instance(row: UndoRow, obj: RecordedObject) -> models.Model | None:
    """Return the object as it is; one that would come back, as it would be."""
    if row.action in LINKS:
        return None
    model, image, alias = obj.row.model, obj.before or {}, obj.row.alias
    found: models.Model | None = (
        value_or(None, lambda: instance_of(model, image, alias, is_new=True))
        if row.action == "create"
        else stored_instance(row)
    )
    return found


def _pointing(row: UndoRow) -> list[tuple[Any, Any]]:
    """Return the foreign keys that the undo sets, with their values."""
    if row.obj is None or row.outcome in (Outcome.BLOCKED, Outcome.SAME, Outcome.GONE):
        return []
    keys = foreign_keys(row.obj.row.model)
    if row.action == "change":
        raws = {one.attname: one.raw for one in row.fields if one.outcome in OPEN}
    elif row.action in ("create", "link"):
        raws = row.obj.before or {}
        keys = [key for key in keys if not key.remote_field.parent_link]
    else:
        return []
    return [
        (key, raws[key.attname])
        for key in keys
        if raws.get(key.attname) is not None and not is_sealed(raws[key.attname])
    ]


def _goes_with(row: UndoRow, going: set[Key]) -> bool:
    """Return whether a row is deleted by a cascade from one of these."""
    if row.action != "delete" or row.obj is None or row.now is None:
        return False
    return any(
        (row.alias, label(field.related_model), str(row.now.get(field.attname)))
        in going
        for field in foreign_keys(row.obj.row.model)
        if field.remote_field.on_delete is models.CASCADE
        and field.target_field.primary_key
    )


def _may_go(row: UndoRow) -> bool:
    return row.does_something or row.can_overrule


def _is_done(row: UndoRow) -> bool:
    """Return whether nothing of the row stays as it is."""
    stays = any(one.outcome == Outcome.BLOCKED for one in row.fields)
    return row.outcome in (*DOES, Outcome.SAME) and not stays


def _comes_back(row: UndoRow) -> bool:
    return row.action == "create" and row.outcome in (*DOES, Outcome.SAME)


def _is_back(field: Any, back: set[Key], alias: str) -> bool:
    name = meta(field.related_model).label_lower
    return any(key[:2] == (alias, name) for key in back)
