"""Compare the values of objects with those that were shown."""

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import is_blank, same_value
from ai_assistant.changes.trees import is_place
from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    HiddenField,
    ObjectChange,
    columns,
    meta,
    model_of_label,
)
from ai_assistant.changes.verify.auto_fields import is_volatile
from ai_assistant.changes.verify.differences import RecordedObject, UnexpectedDifference

HELD_BYTES = 16
BLANKS = (None, "")


def short_value_digest(value: Any) -> str:
    """Return the short digest of a value; a sealed one counts by what is in it."""
    clear = {"mac": value["mac"]} if is_sealed(value) else [value]
    text = json.dumps(clear, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()[:HELD_BYTES]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def check_fields(
    obj: RecordedObject, expected: ObjectChange, *, in_pieces: bool = False
) -> str:
    """
    Return what is wrong with the values of an object, "" if nothing is.

    What is done in pieces may leave shown fields of a row to another piece.
    """
    may_wait = in_pieces and obj.kind != "create"
    by_attname = {change.attname or change.name: change for change in expected.fields}
    by_name = {change.name: change for change in expected.fields}
    before, after = obj.before or {}, obj.after or {}
    other, different = [], []
    for field in _fields(obj):
        change = by_attname.get(field.attname) or by_name.get(field.name)
        is_changed = field.attname in obj.fields and not is_volatile(field)
        if change is None:
            is_empty = is_blank(before.get(field.attname), after.get(field.attname))
            if is_changed and obj.kind == "update" and not is_empty:
                other.append(_name(field))
        elif may_wait and field.attname not in obj.fields:
            continue
        elif _is_known(field, change) and not _agrees(after.get(field.attname), change):
            different.append(_name(field))
    if other:
        text = _("%(name)s “%(text)s” would have more fields changed: %(fields)s.")
        return UnexpectedDifference(object_sentence(obj, text, other))
    if different:
        text = _("%(name)s “%(text)s” would get different values: %(fields)s.")
        return object_sentence(obj, text, different)
    return ""


def is_by_itself(obj: RecordedObject) -> bool:
    """
    Return whether nothing that a person would see of an object has changed.

    Only automatic fields have, or NULL has become an empty text.
    """
    before, after = obj.before or {}, obj.after or {}
    return all(
        is_volatile(field) or is_blank(before.get(name), after.get(name))
        for field in _fields(obj)
        if (name := field.attname) in obj.fields
    )


def _agrees(value: Any, change: FieldChange) -> bool:
    same = BLANKS if is_blank(value) else (value,)
    if change.held:
        return change.held in map(short_value_digest, same)
    return any(same_value(one, change.raw) for one in same)


def _is_known(field: Any, change: FieldChange) -> bool:
    """Return whether the value was shown: a storage names new files as it likes."""
    return bool(change.attname) and not isinstance(field, models.FileField)


def _fields(obj: RecordedObject) -> list[Any]:
    return [field for row in obj.rows for field in columns(row.model)]


def object_sentence(
    obj: RecordedObject, text: str, fields: list[str] | None = None
) -> str:
    """Return `text` with the name of the object, and the fields that differ."""
    labels = fields or [
        _name(field) for field in _fields(obj) if field.attname in obj.fields
    ]
    name, named = (
        str(meta(obj.row.model).verbose_name),
        ", ".join(dict.fromkeys(labels)),
    )
    return text % {"name": name, "text": obj.row.text, "fields": named}


def _name(field: Any) -> str:
    """Return what a field is called; a column that keeps a tree is called by its use."""
    return _("place in the tree") if is_place(field) else str(field.verbose_name)


class Hiding:
    """Collects the new values of the objects of one model."""

    def __init__(self, model: Any) -> None:
        self._links = _link_names(model)
        self._ids: dict[tuple[str, str], dict[str, list[str]]] = {}

    def add(self, pk: Any, changes: Iterable[FieldChange]) -> None:
        """Add the new values of the object with the key `pk`."""
        for change in changes:
            if not change.attname:
                value = ""
            elif change.name in self._links:
                value = json.dumps(change.raw)
            else:
                value = short_value_digest(change.raw)
            by_value = self._ids.setdefault((change.name, change.attname), {})
            by_value.setdefault(value, []).append(str(pk))

    def fields(self) -> tuple[HiddenField, ...]:
        """Return the collected values, as they are stored."""
        return tuple(
            HiddenField(
                name=name,
                attname=attname,
                ids={value: tuple(ids) for value, ids in by_value.items()},
            )
            for (name, attname), by_value in self._ids.items()
        )


def hidden_objects(preview: Changes) -> list[ObjectChange]:
    """Return the objects that are compared by stored digests, named by their key."""
    model = model_of_label(preview.model)
    links = set() if model is None else _link_names(model)
    changes_by_id: dict[str, list[FieldChange]] = {}
    for hidden in preview.hidden:
        for value, ids in hidden.ids.items():
            change = _change(hidden, value, is_links=hidden.name in links)
            for object_id in ids:
                changes_by_id.setdefault(object_id, []).append(change)
    return [
        ObjectChange(
            kind="change",
            model=preview.model,
            object_id=object_id,
            text=object_id,
            fields=tuple(changes),
        )
        for object_id, changes in changes_by_id.items()
    ]


def _link_names(model: Any) -> set[str]:
    return {field.name for field in meta(model).many_to_many}


def _change(hidden: HiddenField, value: str, *, is_links: bool) -> FieldChange:
    change = FieldChange(name=hidden.name, label=hidden.name, attname=hidden.attname)
    if is_links:
        return replace(change, raw=json.loads(value) if value else None)
    return replace(change, held=value)
