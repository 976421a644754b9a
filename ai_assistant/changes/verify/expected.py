"""The writes that are allowed after a person has approved the shown changes."""

from collections import Counter
from collections.abc import Iterable
from copy import copy

from django.utils.translation import gettext as _

from ai_assistant.changes.capture.images import same_value
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    ObjectChange,
    concrete,
    label,
    meta,
    model_name,
    model_of_label,
)
from ai_assistant.changes.verify.auto_fields import is_side
from ai_assistant.changes.verify.differences import RecordedObject, UnexpectedDifference
from ai_assistant.changes.verify.expected_values import (
    check_fields,
    hidden_objects,
    is_by_itself,
    object_sentence,
)

Key = tuple[str, str]  # app.model of the table, id


class Expected:
    """
    Compares the shown changes with what happened.

    An object is identified by its row in any of its tables. A bulk change shows only
    the first objects. The new values of the others are stored as digests; without
    these, the others are the objects with known versions, and the same fields may
    change in them.

    Work done in pieces is passed to `sentences` piece by piece: each may be a part of
    the shown changes, and a change that has happened is not expected again.
    """

    def __init__(self, preview: Changes, *, in_pieces: bool = False) -> None:
        self._in_pieces = in_pieces
        self._objects: dict[Key, ObjectChange] = {}
        self._new: list[ObjectChange] = []
        self._along: Counter[tuple[str, str]] = Counter()  # table, kind -> rows
        self._deleted: set[Key] = set()
        self._created: dict[Key, ObjectChange] = {}
        for change in preview.objects:
            if change.kind == "create":
                self._new.append(change)
            else:
                for key in keys_of(change.model, change.object_id):
                    self._objects[key] = change
        for group in preview.related:
            self._along[_tables(group.model)[0], group.kind] += group.count
        for change in hidden_objects(preview):
            for key in keys_of(change.model, change.object_id):
                self._objects.setdefault(key, change)
        if not preview.hidden:
            self._add_alike(preview)

    def branch(self) -> "Expected":
        """Return a copy that continues from here; this one stays as it is."""
        branch = copy(self)
        branch.__dict__.update(
            _new=list(self._new),
            _along=Counter(self._along),
            _deleted=set(self._deleted),
            _created=dict(self._created),
        )
        return branch

    def sentences(self, recorded: Iterable[RecordedObject]) -> list[str]:
        """Return a sentence for each object that is not as expected."""
        return [sentence for _obj, sentence in self.unexpected(recorded)]

    def unexpected(
        self, recorded: Iterable[RecordedObject]
    ) -> list[tuple[RecordedObject, str]]:
        """Return each object that is not as expected, with its sentence."""
        objects = [obj for obj in recorded if not is_side(obj.row.model)]
        pairs = [(obj, self._check(obj)) for obj in objects if not obj.row.is_link]
        pairs += [(obj, self._check_link(obj)) for obj in objects if obj.row.is_link]
        return [(obj, sentence) for obj, sentence in pairs if sentence]

    def _add_alike(self, preview: Changes) -> None:
        if preview.total <= len(preview.objects) or not preview.objects:
            return
        model = model_of_label(preview.model)
        example = _example(preview.objects)
        for key in preview.versions:
            table, _colon, pk = key.partition(":")
            if model is not None and table == label(model):
                for part in keys_of(table, pk):
                    self._objects.setdefault(part, example)

    def _check(self, obj: RecordedObject) -> str:
        row = obj.row
        if obj.kind == "create":
            return self._check_new(obj)
        key = (row.label, row.object_id)
        expected = self._objects.get(key)
        if self._in_pieces and expected is None:
            expected = self._created.get(key)  # an earlier piece has made it
        if obj.kind == "delete":
            is_shown = expected is not None and expected.kind == "delete"
            if is_shown or self._goes_along(obj, "delete"):
                self._deleted.update((part.label, str(part.pk)) for part in obj.rows)
                return ""
            return UnexpectedDifference(
                object_sentence(obj, _("%(name)s “%(text)s” would be deleted too."))
            )
        if expected is not None and expected.kind in ("change", "create"):
            return check_fields(obj, expected, in_pieces=self._in_pieces)
        if is_by_itself(obj) or self._goes_along(obj, "change"):
            return ""
        text = _("%(name)s “%(text)s” would be changed too: %(fields)s.")
        return UnexpectedDifference(object_sentence(obj, text))

    def _check_new(self, obj: RecordedObject) -> str:
        candidates = [new for new in self._new if obj.row.label in _tables(new.model)]
        for new in candidates:
            if not check_fields(obj, new):
                self._new.remove(new)
                for row in obj.rows:
                    self._created[row.label, str(row.pk)] = new
                return ""
        if self._goes_along(obj, "create"):
            return ""
        if candidates:
            self._new.remove(candidates[0])
            return check_fields(obj, candidates[0])
        return UnexpectedDifference(
            object_sentence(obj, _("%(name)s “%(text)s” would be created too."))
        )

    def _goes_along(self, obj: RecordedObject, kind: str) -> bool:
        """Take an object, with its parent rows, from the counted ones, if any is left."""
        if self._along[obj.row.label, kind] <= 0:
            return False
        for part in obj.rows:
            self._along[part.label, kind] -= 1
        return True

    def _check_link(self, obj: RecordedObject) -> str:
        row = obj.row
        ends = link_ends(row)
        is_along = any(
            self._goes_along(obj, kind)
            for kind in ("link", "delete" if row.after is None else "create")
        )
        if is_along or (
            row.after is None and any(end in self._deleted for end in ends)
        ):
            return ""
        fields = self._link_fields(row, ends)
        if any(_is_chosen(row, other, change) for other, change in fields):
            return ""
        text = ", ".join(f"{model_name(table)} {pk}" for table, pk in ends)
        return UnexpectedDifference(
            _("A link would change too: %(text)s.") % {"text": text}
        )

    def _link_fields(
        self, row: RowImage, ends: list[Key]
    ) -> list[tuple[str, FieldChange]]:
        """Return the shown many-to-many fields of this table, with the other end."""
        shown_fields = []
        for place, end in enumerate(ends):
            expected = self._objects.get(end) or self._created.get(end)
            other = ends[1 - place][1]
            if expected is not None:
                fields = [
                    field
                    for field in expected.fields
                    if _is_field_of(row, expected, field)
                ]
                shown_fields += [(other, field) for field in fields]
        return shown_fields


def keys_of(model: str, object_id: str) -> list[Key]:
    """Return the rows of an object in its table and in those of its parents."""
    return [(table, object_id) for table in _tables(model)]


def _tables(name: str) -> list[str]:
    model = model_of_label(name)
    if model is None:
        return [name]
    parents = [label(parent) for parent in meta(concrete(model)).all_parents]
    return [label(model), *parents]


def _example(objects: tuple[ObjectChange, ...]) -> ObjectChange:
    """Return what all objects of a bulk change have in common."""
    common: dict[str, FieldChange] = {}
    differing = set()
    for change in objects:
        for field in change.fields:
            first = common.setdefault(field.attname or field.name, field)
            if not same_value(first.raw, field.raw):
                differing.add(field.attname or field.name)
    fields = tuple(
        FieldChange(name=field.name, label=field.label) if name in differing else field
        for name, field in common.items()
    )
    return ObjectChange(kind=objects[0].kind, model=objects[0].model, fields=fields)


def link_ends(row: RowImage) -> list[Key]:
    """Return the two objects that a many-to-many row links."""
    image = row.after or row.before or {}
    return [
        (label(field.related_model), str(image[field.attname]))
        for field in meta(row.model).fields
        if field.is_relation
    ]


def _is_field_of(row: RowImage, expected: ObjectChange, change: FieldChange) -> bool:
    """Return whether a shown field of `expected` has this table of links."""
    model = model_of_label(expected.model)
    if model is None:
        return False
    for field in meta(model).many_to_many:
        if field.name == change.name:
            return field.remote_field.through is row.model
    return False


def _is_chosen(row: RowImage, other: str, change: FieldChange) -> bool:
    """Return whether a link was added or removed as the shown field says."""
    if not isinstance(change.raw, list):
        return True
    return (other in map(str, change.raw)) == (row.after is not None)
