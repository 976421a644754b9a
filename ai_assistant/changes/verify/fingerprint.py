"""
A digest of all changes of a recording.

The same call gives the same, whenever it is made on the same rows: keys of new
rows, times of writing, names of new files and defaults that are drawn do not count.
"""

import hashlib
import json
import time
from datetime import datetime
from typing import Any

from django.db import models

from ai_assistant.changes.capture.images import image_digest
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.values import columns, meta
from ai_assistant.changes.verify.auto_fields import is_drawn, is_side, is_volatile

NEW = "$new"
NOW = "$now"
NOW_S = 60.0  # before a recording, and still the time of it


def fingerprint(recorder: Recorder) -> str:
    """Return the digest of all that was changed, as hex."""
    rows = [row for row in recorder.rows if not is_side(row.model)]
    new = _new_keys(rows)
    lines = sorted(
        json.dumps(_line(row, new, recorder.began_at), sort_keys=True) for row in rows
    )
    gaps = sorted(json.dumps(gap, sort_keys=True) for gap in recorder.gaps)
    return hashlib.sha256(json.dumps([lines, gaps]).encode()).hexdigest()


def _new_keys(rows: list[RowImage]) -> dict[str, set[str]]:
    """Return the keys of new rows by their table."""
    keys: dict[str, set[str]] = {}
    for row in rows:
        if row.before is None:
            keys.setdefault(row.label, set()).add(str(row.pk))
    return keys


def _line(row: RowImage, new: dict[str, set[str]], began_at: float) -> list[Any]:
    is_new = row.before is None
    image = row.after or {}
    values = {
        field.attname: _value(field, row, new, began_at)
        for field in columns(row.model)
        if field.attname in image
        and (is_new or field.attname in row.fields)
        and not is_volatile(field)
        and not (is_new and is_drawn(field))
        and not (is_new and field.primary_key and not field.is_relation)
    }
    files = sorted((file.field, file.sha256_after) for file in row.files)
    key = "" if is_new else row.object_id
    return [row.kind, row.label, key, image_digest(values), files]


def _value(
    field: Any,
    row: RowImage,
    new: dict[str, set[str]],
    began_at: float,
) -> Any:
    value = (row.after or {})[field.attname]
    if isinstance(field, models.DateTimeField) and _is_now(value, began_at):
        return NOW
    if isinstance(field, models.FileField):
        return bool(value)
    target = _target(field, row)
    return NEW if target and str(value) in new.get(target, ()) else value


def _is_now(value: Any, began_at: float) -> bool:
    """Return whether a moment lies in the recording: the code has read the clock."""
    try:
        moment = datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return False
    return began_at - NOW_S <= moment <= time.time()


def _target(field: Any, row: RowImage) -> str:
    """Return the table that the column points to, "" if it does not."""
    if field.is_relation and field.related_model is not None:
        return str(meta(meta(field.related_model).concrete_model).label_lower)
    for generic in meta(row.model).private_fields:
        if getattr(generic, "fk_field", "") == field.name:
            type_id = meta(row.model).get_field(generic.ct_field).attname
            return _generic_target((row.after or {}).get(type_id))
    return ""


def _generic_target(type_id: Any) -> str:
    from django.contrib.contenttypes.models import ContentType  # noqa: PLC0415 - optional

    try:
        return ContentType.objects.get_for_id(type_id).model_class()._meta.label_lower  # type: ignore[union-attr]
    except (ContentType.DoesNotExist, AttributeError):
        return ""
