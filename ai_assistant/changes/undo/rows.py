"""The rows of stored changes: several changes of one row are one; as they would be."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.db.models import Prefetch, Q
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.images import Image, can_be_found, same_value
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.undo.columns import (
    instance_of,
    is_generated,
    python_value,
)
from ai_assistant.changes.undo.lookups import unique_sets
from ai_assistant.changes.undo.values import DOES, Outcome, UndoRow
from ai_assistant.changes.values import meta, model_name, model_of_label, parent_links
from ai_assistant.changes.verify.auto_fields import is_side, is_volatile
from ai_assistant.changes.verify.differences import RecordedObject
from ai_assistant.models.change import ChangeSet, FileChange, RowChange
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.merging import merged_text

Place = tuple[str, str, str]  # alias, app.model, id
FILES = "old_files"  # of a RowChange: its files, which are read along


@dataclass(kw_only=True, slots=True)
class ChangedRow:
    """
    A row from before the first of its changes to after the last.

    What a person changed in between counts as before: it is not the assistant's.
    """

    first: RowChange
    last: RowChange
    before: Image | None
    steps: list[RowChange] = field(default_factory=list)
    was_touched: bool = False  # by a person, in between
    files_from: dict[str, int] = field(default_factory=dict)  # the step, by attname

    @property
    def after(self) -> Image | None:
        """Return the row as the last change left it."""
        image: Image | None = self.last.after
        return image

    @property
    def files(self) -> list[FileChange]:
        """Return the files as they were, the oldest of each field."""
        found: dict[str, FileChange] = {}
        for place, step in enumerate(self.steps):
            for file in step.old_files:
                # One from before a person's is not what the undo goes back to.
                if place >= self.files_from.get(file.field, 0):
                    found.setdefault(file.field, file)
        return list(found.values())

    def add(self, step: RowChange, model: Any) -> None:
        """Take the next change of the row."""
        left, found = self.last.after, step.before
        self.last = step
        self.steps.append(step)
        place = len(self.steps) - 1
        if left is None or found is None:
            if left is not found:  # somebody else has made or deleted it in between
                self.first, self.before, self.was_touched = step, found, True
                self.files_from = dict.fromkeys(found or left or {}, place)
            return
        for name in _differing(model, left, found):
            self.was_touched = True
            self.files_from[name] = place
            if self.before is not None:
                self.before = {**self.before, name: found[name]}

    def row_image(self, model: Any) -> RowImage:
        """Return it as a recording has it."""
        image = self.after or self.before or {}
        pk: Any = self.first.object_id
        if can_be_found(model):
            key = image.get(meta(model).pk.attname, pk)
            pk = pk if isinstance(key, list | dict) else key
        return RowImage(
            alias=self.first.alias,
            model=model,
            pk=pk,
            before=self._whole_before(),
            after=self.after,
            text=self.first.text or self.last.text,
        )

    def _whole_before(self) -> Image | None:
        # A row that is deleted in the end comes back as it was last, but for what
        # the assistant had changed in it.
        if self.before is None or self.after is not None:
            return self.before
        return {**(self.last.before or {}), **self.before}


def open_rows(sets: Sequence[ChangeSet], among: Q | None = None) -> list[RowChange]:
    """Return what of these changes is not undone yet, the oldest first."""
    rows = RowChange.objects.filter(among or Q(), change_set__in=sets, undone_by=None)
    places = {one.pk: place for place, one in enumerate(sets)}
    found = rows.prefetch_related(Prefetch("files", to_attr=FILES))
    return sorted(found, key=lambda row: (places[row.change_set_id], row.order))


def towards(row: RowImage) -> ChangedRow:
    """Return the change whose undo would do what was recorded of a row."""
    made = RowChange(
        alias=row.alias,
        model=row.label,
        object_id=row.object_id,
        text=row.text,
        before=row.after,
        after=row.before,
    )
    return ChangedRow(first=made, last=made, before=row.after)


def changed_rows(rows: Iterable[RowChange]) -> list[tuple[Any, ChangedRow]]:
    """Return each row of the changes, oldest first, with its model; None if it is gone."""
    found: dict[Place, ChangedRow] = {}
    kinds: dict[Place, Any] = {}
    for row in rows:
        place = (row.alias, row.model, row.object_id)
        model = kinds.setdefault(place, model_of_label(row.model))
        if model is not None and is_side(model):
            continue  # a package writes its own history of the undo
        if place in found:
            found[place].add(row, model)
        else:
            found[place] = ChangedRow(
                first=row, last=row, before=row.before, steps=[row]
            )
    return [(kinds[place], row) for place, row in found.items()]


def _differing(model: Any, left: Image, found: Image) -> Sequence[str]:
    fields = [] if model is None else meta(model).local_concrete_fields
    return [
        one.attname
        for one in fields
        if one.attname in left
        and one.attname in found
        and not same_value(left[one.attname], found[one.attname])
        and not is_volatile(one)
    ]


def is_readable_key(row: RowImage) -> bool:
    """Return whether the key of a row is one that its table can have."""
    key = meta(row.model).pk
    return value_or(None, lambda: python_value(key, row.pk)) is not None


def has_key(row: RowImage) -> bool:
    """Return whether the images of a row have its key; damaged ones may not."""
    name = meta(row.model).pk.attname
    images = [image for image in (row.before, row.after) if image is not None]
    return all(str(image.get(name)) == str(row.pk) for image in images)


def of_objects(rows: Iterable[UndoRow]) -> Q:
    """Return the condition of the changes of these objects, in all their tables."""
    ids: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for part in row.obj.rows if row.obj else ():
            ids[part.label].add(part.object_id)
    condition = Q(pk__in=())
    for label, own in ids.items():
        condition |= Q(model=label, object_id__in=own)
    return condition


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
    own = meta(part.model).local_concrete_fields
    names = {one.attname for one in own if not is_generated(one)}
    image = {name: value for name, value in row.now.items() if name in names}
    return {**image, **{n: value for n, value in restored.items() if n in names}}


def stored_rows(row: UndoRow) -> Iterator[tuple[Any, Any, Image]]:
    """Yield the rows of an object as they would be, its own first: table, key, columns."""
    if row.obj is None:
        return
    if row.action == "create":
        for part in row.obj.rows:
            yield part.model, part.pk, part.before or {}
    elif row.now is not None:
        restored = {one.attname: one.raw for one in row.fields if one.outcome in DOES}
        model, image = row.obj.row.model, {**row.now, **restored}
        yield model, image.get(meta(model).pk.attname, row.obj.row.pk), image
        for parent, link in parent_links(model):
            yield parent, image.get(link.attname), image


def unique_images(
    rows: Iterable[UndoRow],
) -> dict[tuple[str, Any], dict[Any, Image]]:
    """
    Return the rows as they would be, by table and key.

    Only those that would get a unique value that they do not have now.
    """
    found: dict[tuple[str, Any], dict[Any, Image]] = defaultdict(dict)
    for row in rows:
        now = row.now if row.action == "change" else None
        for part in row.obj.rows if row.obj else ():
            wanted = wanted_image(row, part)
            if wanted is None:
                continue
            names = (name for names in unique_sets(part.model) for name in names)
            if any(now is None or wanted.get(n) != now.get(n) for n in names):
                found[part.alias, part.model][part.pk] = wanted
    return found


def judged(field: Any, before: Any, left: Any, now: Any) -> tuple[Outcome, Any]:
    """Return what becomes of a field, and the value that it would have."""
    if same_value(now, before):
        return Outcome.SAME, before
    if same_value(now, left):
        return Outcome.RESTORE, before
    texts = [text for text in (left, now, before) if isinstance(text, str)]
    if isinstance(field, models.TextField) and len(texts) == 3:
        merged = merged_text(*texts)
        if merged is not None:
            return Outcome.MERGE, merged
    return Outcome.CONFLICT, before


def differs(obj: RecordedObject, now: Image) -> bool:
    """Return whether a new object is not as it was left."""
    return any(
        not same_value(now.get(field.attname), (part.after or {}).get(field.attname))
        for part in obj.rows
        for field in meta(part.model).local_concrete_fields
        if field.attname in (part.after or {}) and not is_volatile(field)
    )


def without_model(changed: ChangedRow) -> UndoRow:
    """Return the row of a plan whose model is gone."""
    return _lost(changed.first, _("There is no such table any more."))


def forgotten(row: RowChange) -> UndoRow:
    """Return the row of a plan whose images have aged out."""
    return _lost(row, _("It is too long ago: what was there before is not kept."))


def _lost(row: RowChange, reason: str) -> UndoRow:
    return UndoRow(
        key=f"{row.model}:{row.object_id}",
        action="change",
        model=row.model,
        object_id=row.object_id,
        text=row.text or model_name(row.model),
        outcome=Outcome.BLOCKED,
        reason=reason,
    )
