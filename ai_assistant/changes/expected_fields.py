"""Whether an object has got the values that were shown."""

import base64
import hashlib
import json
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from ai_assistant.changes.images import same
from ai_assistant.changes.meta import columns, meta
from ai_assistant.changes.objects import Recorded
from ai_assistant.changes.sealed import is_sealed
from ai_assistant.changes.unlike import More
from ai_assistant.changes.values import FieldChange, ObjectChange
from ai_assistant.changes.volatile import is_volatile

HELD_BYTES = 16


def held(value: Any) -> str:  # noqa: ANN401 - JSON of a column
    """Return the short digest of a value; a sealed one counts by what is in it."""
    clear = {"mac": value["mac"]} if is_sealed(value) else [value]
    text = json.dumps(clear, sort_keys=True, separators=(",", ":"))
    short = hashlib.sha256(text.encode()).digest()[:HELD_BYTES]
    return base64.urlsafe_b64encode(short).decode().rstrip("=")


def check_fields(
    one: Recorded, expected: ObjectChange, *, in_pieces: bool = False
) -> str:
    """
    Return what is wrong with the values of an object, "" if nothing is.

    What is done in pieces may leave shown fields of a row to another piece.
    """
    may_wait = in_pieces and one.kind != "create"
    shown = {change.attname or change.name: change for change in expected.fields}
    by_name = {change.name: change for change in expected.fields}
    after = one.after or {}
    other, wrong = [], []
    for field in _fields(one):
        change = shown.get(field.attname) or by_name.get(field.name)
        is_changed = field.attname in one.fields and not is_volatile(field)
        if change is None:
            if is_changed and one.kind == "update":
                other.append(str(field.verbose_name))
        elif may_wait and field.attname not in one.fields:
            continue
        elif _is_known(field, change) and not _agrees(after.get(field.attname), change):
            wrong.append(str(field.verbose_name))
    if other:
        text = _("%(name)s “%(text)s” would change in more fields: %(fields)s.")
        return More(say(one, text, other))
    if wrong:
        text = _("%(name)s “%(text)s” would get other values: %(fields)s.")
        return say(one, text, wrong)
    return ""


def is_by_itself(one: Recorded) -> bool:
    """Tell whether nothing has changed in an object but what fills itself in."""
    return all(
        is_volatile(field) for field in _fields(one) if field.attname in one.fields
    )


def _agrees(value: Any, change: FieldChange) -> bool:  # noqa: ANN401 - JSON
    return held(value) == change.held if change.held else same(value, change.raw)


def _is_known(field: Any, change: FieldChange) -> bool:  # noqa: ANN401
    """Tell whether the value was shown: a storage names new files as it likes."""
    return bool(change.attname) and not isinstance(field, models.FileField)


def _fields(one: Recorded) -> list[Any]:
    return [field for row in one.rows for field in columns(row.model)]


def say(one: Recorded, text: str, fields: list[str] | None = None) -> str:
    """Return `text` with the name of the object, and the fields that differ."""
    named = fields or [
        str(field.verbose_name) for field in _fields(one) if field.attname in one.fields
    ]
    name = str(meta(one.row.model).verbose_name)
    return text % {"name": name, "text": one.row.text, "fields": ", ".join(named)}
