"""Make the plan of an undo: each changed row as it was, as it was left, and as it is."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import models
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import (
    Image,
    RowImage,
    can_be_found,
    row_images,
    same_value,
)
from ai_assistant.changes.display import display_value
from ai_assistant.changes.undo.columns import instance_of
from ai_assistant.changes.undo.history import ChangedRow, changed_rows
from ai_assistant.changes.undo.links import link_end, links_now, without_replaced_links
from ai_assistant.changes.undo.merging import merged_text
from ai_assistant.changes.undo.obstacles import (
    Key,
    Targets,
    dependents,
    foreign_keys,
    keys_of,
    note_who,
    taken_values,
)
from ai_assistant.changes.undo.values import (
    DOES,
    Outcome,
    Permissions,
    UndoField,
    UndoPlan,
    UndoRow,
)
from ai_assistant.changes.values import meta, model_name
from ai_assistant.changes.verify.auto_fields import is_volatile
from ai_assistant.changes.verify.differences import RecordedObject, objects_of
from ai_assistant.models.change import ChangeSet, FileChange, RowChange
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.safety.site_code import value_or

MOST_TEXTS = 200  # rows whose fields are shown
ACTIONS = {
    "create": "delete",
    "update": "change",
    "delete": "create",
    "m2m_add": "unlink",
    "m2m_remove": "link",
}
LINKS = ("link", "unlink")


def make_plan(
    change_sets: Iterable[ChangeSet],
    permissions: Permissions,
    only: Collection[str] | None = None,
) -> UndoPlan:
    """
    Return what undoing these changes would do now; of the objects with these keys.

    In a transaction the rows are locked, so that the plan stays true in it. What was
    undone already is no part of it.
    """
    sets = sorted(change_sets, key=lambda one: (one.created_at, one.pk))
    rows = RowChange.objects.filter(change_set__in=sets, undone_by=None)
    rows = rows.prefetch_related("files")
    places = {one.pk: place for place, one in enumerate(sets)}
    in_order = sorted(rows, key=lambda row: (places[row.change_set_id], row.order))
    planner = Planner(permissions, only)
    planned = planner.rows(changed_rows(in_order))
    moved = [row for row in planned if row.outcome in (Outcome.CONFLICT, Outcome.GONE)]
    if moved and sets:
        note_who(moved, sets[0].created_at, [one.pk for one in sets])
    gaps = [gap for one in sets if one.is_partial for gap in one.gaps]
    is_redo = bool(sets) and all(one.kind == ChangeSet.Kind.UNDO for one in sets)
    return UndoPlan(rows=planned, gaps=gaps, is_redo=is_redo)


class Planner:
    """Makes the plan of one undo."""

    def __init__(
        self, permissions: Permissions, only: Collection[str] | None = None
    ) -> None:
        self._permissions = permissions
        self._only = only
        self._targets = Targets()
        self._texts: dict[tuple[Any, str], str] = {}
        self._shown = 0
        self._back: set[tuple[str, str]] = set()  # table and id of what comes back
        self._changed: dict[int, ChangedRow] = {}

    def rows(self, changed: list[tuple[Any, ChangedRow]]) -> list[UndoRow]:
        """Return what becomes of each object, newest first."""
        lost = [_without_model(row) for model, row in changed if model is None]
        images = []
        for model, row in changed:
            if model is None:
                continue
            image = row.row_image(model)
            if image.kind or row.was_touched or row.files:
                self._changed[id(image)] = row
                images.append(image)
        images = without_replaced_links(images)
        objects = [
            obj
            for obj in objects_of(images)[::-1]
            if self._only is None or obj.row.key in self._only
        ]
        now = self._now(objects)
        rows = [self._row(obj, now) for obj in objects]
        self._check_dependents(rows)
        self._check_permissions([row for row in rows if row.action not in LINKS])
        self._note_owners(rows)
        self._check_permissions([row for row in rows if row.action in LINKS])
        self._check_unique(rows)
        self._check_targets(rows)
        return [*rows, *lost]

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
                by_key = {
                    str(pk): image
                    for pk, image in row_images(
                        model, [one.row.pk for one in those], alias
                    )
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
        )
        if not can_be_found(first.model) and not first.is_link:
            _block(row, _("The key of its row is not kept."))
        elif row.action in LINKS:
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
            _block(row, _("Another object has this key by now."))

    def _delete(self, row: UndoRow, obj: RecordedObject) -> None:
        if row.now is None:
            row.outcome = Outcome.SAME
            return
        was_touched = any(self._changed[id(part)].was_touched for part in obj.rows)
        if was_touched or _differs(obj, row.now):
            row.outcome, row.can_overrule = Outcome.CONFLICT, True
            row.reason = _("It has been changed since.")

    def _change(self, row: UndoRow, obj: RecordedObject) -> None:
        if row.now is None:
            row.outcome = Outcome.GONE
            row.reason = _("It has been deleted since.")
            return
        self._shown += 1
        for part in obj.rows:
            for field in meta(part.model).local_concrete_fields:
                if field.attname in part.fields and not field.primary_key:
                    self._field(row, field, part)
            files = {file.field: file for file in self._changed[id(part)].files}
            for name, file in files.items():
                if name not in part.fields:
                    self._content(row, meta(part.model).get_field(name), part, file)
        row.outcome = _outcome(row)
        row.can_overrule = row.outcome == Outcome.CONFLICT

    def _field(self, row: UndoRow, field: Any, part: RowImage) -> None:
        if getattr(field, "generated", False):
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
        if same_value(current, before):
            one.outcome = Outcome.SAME
        elif same_value(current, left):
            one.outcome = Outcome.RESTORE
        elif is_volatile(field):
            return  # it counts or dates what happens: that has gone on
        elif isinstance(field, models.TextField) and all(
            isinstance(text, str) for text in (left, current, before)
        ):
            merged = merged_text(str(left), str(current), str(before))
            if merged is not None:
                one.outcome, one.raw = Outcome.MERGE, merged
        if isinstance(field, models.FileField):
            self._check_file(one, field, row)
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
        if not same_value(now, one.raw):
            one.outcome = Outcome.CONFLICT
        elif not file.stash:
            one.outcome = Outcome.BLOCKED
            one.reason = _("The old file was not kept.")
        self._say(one, field, part.alias, now, now)
        row.fields.append(one)

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
        if self._shown <= MOST_TEXTS:
            one.now = self._text(field, now, alias)
            one.restored = self._text(field, one.raw, alias)
            one.left = self._text(field, left, alias)

    def _text(self, field: Any, value: Any, alias: str) -> str:
        key = (field, repr(value))
        if key not in self._texts:
            self._texts[key] = display_value(field, value, alias)
        return self._texts[key]

    # --- what stands in the way ---

    def _check_targets(self, rows: list[UndoRow]) -> None:
        """Block what would point to rows that are gone."""
        for row in rows:
            for field, value in _pointing(row):
                self._targets.want(_alias(row), field, value)
        while True:
            back = {key for row in rows if _comes_back(row) for key in keys_of(row)}
            blocked = [self._block_dangling(row, back) for row in rows]
            if not any(blocked):
                return

    def _block_dangling(self, row: UndoRow, back: set[Key]) -> bool:
        blocked = False
        for field, value in _pointing(row):
            target = (_alias(row), meta(field.related_model).label_lower, str(value))
            is_key = field.target_field.primary_key
            if self._targets.has(_alias(row), field, value):
                continue
            if (is_key and target in back) or (
                not is_key and _is_back(field, back, _alias(row))
            ):
                continue
            reason = _("%(field)s: it does not exist any more.") % {
                "field": capfirst(str(field.verbose_name))
            }
            if row.action == "change":
                one = next(x for x in row.fields if x.attname == field.attname)
                one.outcome, one.reason = Outcome.BLOCKED, reason
                row.outcome = _outcome(row)
            else:
                _block(row, reason)
            blocked = True
        return blocked

    def _check_unique(self, rows: list[UndoRow]) -> None:
        """Block what another row has by now, unless the undo takes that one back too."""
        images: dict[tuple[str, Any], dict[Any, Image]] = defaultdict(dict)
        by_key: dict[tuple[Any, str], UndoRow] = {}
        moving = {key for row in rows if row.does_something for key in keys_of(row)}
        for row in rows:
            if not row.does_something or row.obj is None:
                continue
            for part in row.obj.rows:
                wanted = wanted_image(row, part)
                if wanted is not None:
                    images[part.alias, part.model][part.pk] = wanted
                    by_key[part.model, str(part.pk)] = row
        for (alias, model), those in images.items():
            for pk, names, other in list(taken_values(model, alias, those)):
                row = by_key[model, str(pk)]
                if (alias, meta(model).label_lower, str(other)) in moving:
                    continue
                self._block_taken(row, model, names)

    @staticmethod
    def _block_taken(row: UndoRow, model: Any, names: tuple[str, ...]) -> None:
        labels = [capfirst(str(meta(model).get_field(n).verbose_name)) for n in names]
        reason = _("%(fields)s: another object has this value by now.") % {
            "fields": ", ".join(labels)
        }
        if row.action != "change":
            _block(row, reason)
            return
        for one in row.fields:
            if one.attname in names and one.outcome in DOES:
                one.outcome, one.reason = Outcome.BLOCKED, reason
        row.outcome = _outcome(row)

    def _check_dependents(self, rows: list[UndoRow]) -> None:
        """Keep what people have built on since."""
        own = frozenset(key for row in rows for key in keys_of(row))
        for row in rows:
            deletes = row.action == "delete" and row.now is not None
            if not deletes or row.outcome == Outcome.BLOCKED or row.obj is None:
                continue
            obj = stored_instance(row)
            found = dependents(obj, own) if obj is not None else None
            if found is not None and found.count:
                row.outcome, row.can_overrule = Outcome.CONFLICT, False
                row.reason = found.sentence

    def _check_permissions(self, rows: list[UndoRow]) -> None:
        for row in rows:
            if row.obj is None or not (row.does_something or row.can_overrule):
                continue
            if row.action == "change":
                self._check_fields(row)
            elif reason := self._whole_reason(row, row.obj):
                _block(row, reason)

    def _note_owners(self, rows: list[UndoRow]) -> None:
        """Note which objects come back: links go with those."""
        for row in rows:
            if row.action == "create" and _comes_back(row):
                self._back.update(key[1:] for key in keys_of(row))

    def _whole_reason(self, row: UndoRow, obj: RecordedObject) -> str:
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
            found = stored_instance(row)
            return may.to_delete(found) if found is not None else ""
        instance = value_or(
            None,
            lambda: instance_of(
                obj.row.model, obj.before or {}, obj.row.alias, is_new=True
            ),
        )
        if instance is None:
            return _("What was kept of it cannot be read.")
        return may.to_create(instance)

    def _check_fields(self, row: UndoRow) -> None:
        found = stored_instance(row)
        if found is None:
            return
        open_ones = {*DOES, Outcome.CONFLICT}
        raws = {one.attname: one.raw for one in row.fields if one.outcome in open_ones}
        reasons = self._permissions.to_change(found, raws)
        for one in row.fields:
            reason = reasons.get("") or reasons.get(one.attname)
            if reason and one.outcome in open_ones:
                one.outcome, one.reason = Outcome.BLOCKED, reason
        row.outcome = _outcome(row)
        row.can_overrule = row.outcome == Outcome.CONFLICT
        if reasons.get(""):
            row.reason = reasons[""]


# --- small questions ---


def stored_instance(row: UndoRow) -> Any:
    """Return the object as the database has it; None if it is not there."""
    if row.obj is None or row.now is None:
        return None
    first = row.obj.row
    return value_or(None, lambda: instance_of(first.model, row.now or {}, first.alias))


def wanted_image(row: UndoRow, part: RowImage) -> Image | None:
    """Return the row of one table as it would be; None if it goes, or stays."""
    if row.action in ("create", "link"):
        return part.before
    if row.action != "change" or row.now is None:
        return None
    restored = {one.attname: one.raw for one in row.fields if one.outcome in DOES}
    names = {one.attname for one in meta(part.model).local_concrete_fields}
    image = {name: value for name, value in row.now.items() if name in names}
    return {**image, **{n: value for n, value in restored.items() if n in names}}


def _outcome(row: UndoRow) -> Outcome:
    """Return what becomes of an object, from its fields."""
    outcomes = {one.outcome for one in row.fields}
    for outcome in (Outcome.CONFLICT, Outcome.RESTORE, Outcome.MERGE, Outcome.BLOCKED):
        if outcome in outcomes:
            return Outcome.RESTORE if outcome in DOES else outcome
    return Outcome.SAME


def _block(row: UndoRow, reason: str) -> None:
    row.outcome, row.reason, row.can_overrule = Outcome.BLOCKED, reason, False


def _alias(row: UndoRow) -> str:
    return row.obj.row.alias if row.obj else "default"


def _pointing(row: UndoRow) -> list[tuple[Any, Any]]:
    """Return the foreign keys that the undo sets, with their values."""
    if row.obj is None or row.outcome in (Outcome.BLOCKED, Outcome.SAME, Outcome.GONE):
        return []
    keys = foreign_keys(row.obj.row.model)
    if row.action == "change":
        raws = {
            one.attname: one.raw
            for one in row.fields
            if one.outcome in (*DOES, Outcome.CONFLICT)
        }
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


def _comes_back(row: UndoRow) -> bool:
    return row.action == "create" and row.outcome in (*DOES, Outcome.SAME)


def _is_back(field: Any, back: set[Key], alias: str) -> bool:
    name = meta(field.related_model).label_lower
    return any(key[:2] == (alias, name) for key in back)


def _differs(obj: RecordedObject, now: Image) -> bool:
    """Return whether a new object is not as it was left."""
    return any(
        not same_value(now.get(field.attname), (part.after or {}).get(field.attname))
        for part in obj.rows
        for field in meta(part.model).local_concrete_fields
        if field.attname in (part.after or {}) and not is_volatile(field)
    )


def _without_model(changed: ChangedRow) -> UndoRow:
    row = changed.first
    return UndoRow(
        key=f"{row.model}:{row.object_id}",
        action="change",
        model=row.model,
        object_id=row.object_id,
        text=row.text or model_name(row.model),
        outcome=Outcome.BLOCKED,
        reason=_("There is no such table any more."),
    )
