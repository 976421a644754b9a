"""A column's JSON as the person reads it."""

import json
import logging
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import formats, timezone
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import all_rows
from ai_assistant.changes.capture.object_names import in_savepoint, texts_of
from ai_assistant.safety.policy.sensitive import HIDDEN, is_sensitive_model, masked_in

logger = logging.getLogger("ai_assistant")


def display_value(field: Any, value: Any, alias: str = "default") -> str:
    """Return a value of an image as text: labels, names, local times."""
    if value is None:
        return ""
    if is_sealed(value):
        return HIDDEN
    if isinstance(field, models.ForeignKey):
        return row_name(field.related_model, value, alias, field.target_field.attname)
    if field.choices:
        labels = {str(key): str(label) for key, label in field.flatchoices}
        return labels.get(str(value), str(value))
    return _plain(field, value)


def row_name(model: Any, key: Any, alias: str, attname: str = "pk") -> str:
    """Return what the site calls a row; its key if it is gone or secret."""
    if is_sensitive_model(model):
        return str(key)
    texts = [str(key)]
    with in_savepoint(alias):
        found = list(all_rows(model, alias).filter(**{attname: key}).values()[:1])
        texts = texts_of(model, alias, found) or texts
    return texts[0]


def _plain(field: Any, value: Any) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if isinstance(value, dict | list):
        return _of_json(masked_in(field, value))
    return _localized(field, value)


def _of_json(value: Any) -> str:
    if isinstance(value, dict) and len(value) == 1:
        mark, inner = next(iter(value.items()))
        if mark == "$base64":
            return _("%(count)d bytes") % {"count": len(str(inner)) * 3 // 4}
        if mark in ("$float", "$text"):
            return str(inner)
        if mark == "$json":
            value = inner
    return json.dumps(value, ensure_ascii=False)


def _localized(field: Any, value: Any) -> str:
    if isinstance(field, models.CharField | models.TextField | models.AutoField):
        return str(value)
    try:
        found = field.to_python(value)
        if isinstance(found, datetime) and timezone.is_aware(found):
            found = timezone.localtime(found)
        return str(formats.localize(found))
    except (ValidationError, ValueError, TypeError) as error:
        logger.debug("%s has no text for a value: %s", field, error)
        return str(value)
