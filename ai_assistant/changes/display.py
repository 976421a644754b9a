"""A value of a column as the person reads it: from Python, or from the JSON of an image."""

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from types import NoneType
from typing import Any

from django.db import models
from django.db.models import QuerySet
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import all_rows
from ai_assistant.changes.capture.object_names import in_savepoint, texts_of
from ai_assistant.changes.trees import PLACES
from ai_assistant.changes.values import currency_field
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_sensitive_model,
    mask_secrets,
    masked_in,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import amount_with_currency

MOST_TABLES = 5  # that are named where there is no image
PLAIN_BLANKS = str.maketrans("\u00a0\u202f", "  ")  # within an amount or a number
# Whose values are said as they are.
VERBATIM = (models.CharField, models.TextField, models.AutoField)


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
    return plain_text(_python_value(field, value), field)


def with_currency(text: str, field: Any, image: Mapping[str, Any]) -> str:
    """Return the text of a column, an amount of money with its currency in the image."""
    currency = currency_field(field)
    code = image.get(currency.attname) if currency is not None else None
    return f"{text} {code}" if text and code and isinstance(code, str) else text


def row_name(model: Any, key: Any, alias: str, attname: str = "pk") -> str:
    """Return what the site calls a row; its key if it is gone or secret."""
    if is_sensitive_model(model):
        return str(key)
    texts = [str(key)]
    with in_savepoint(alias):
        rows = list(all_rows(model, alias).filter(**{attname: key}).values()[:1])
        texts = texts_of(model, alias, rows) or texts
    return texts[0]


def _python_value(field: Any, value: Any) -> Any:
    """Return the Python value of a column's JSON."""
    if isinstance(value, dict) and len(value) == 1:
        mark, inner = next(iter(value.items()))
        if mark == "$base64":
            return base64.b64decode(inner)
        if mark in ("$float", "$text", "$json"):
            return inner
    if isinstance(field, VERBATIM):
        return str(value)
    return value_or(value, lambda: field.to_python(value))


def plain_text(value: Any, field: Any = None) -> str:
    """Return a Python value as text, in the user's language and time zone."""
    value = mask_secrets(value) if field is None else masked_in(field, value)
    if isinstance(field, models.JSONField):
        return json.dumps(value, ensure_ascii=False, cls=field.encoder, default=str)
    if isinstance(field, models.DecimalField) and isinstance(value, Decimal):
        return _with_plain_blanks(formats.number_format(value, field.decimal_places))
    if amount_with_currency(value):
        return _with_plain_blanks(str(value))
    return next(
        (text(value) for kinds, text in TEXTS if isinstance(value, kinds)), str(value)
    )


def _with_plain_blanks(text: str) -> str:
    """Return a number without the blanks of its locale that a card would mark."""
    return text.translate(PLAIN_BLANKS)


# The first that matches: a bool is an int, a datetime a date.
TEXTS: tuple[tuple[Any, Any], ...] = (
    (NoneType, lambda _value: ""),
    (bool, lambda value: _("Yes") if value else _("No")),
    (str, str),
    ((bytes, memoryview), lambda value: _("%(count)d bytes") % {"count": len(value)}),
    ((list, tuple, set, QuerySet), lambda value: ", ".join(map(plain_text, value))),
    (dict, lambda value: json.dumps(value, ensure_ascii=False, default=str)),
    (datetime, lambda value: str(formats.localize(_in_user_zone(value)))),
    (
        (int, float, Decimal, date, time),
        lambda value: _with_plain_blanks(str(formats.localize(value))),
    ),
)


def _in_user_zone(value: datetime) -> datetime:
    return timezone.localtime(value) if timezone.is_aware(value) else value


def sentences_of_gaps(gaps: Sequence[Any]) -> list[str]:
    """Return sentences about what has no image; none without gaps."""
    found = [gap for gap in gaps if isinstance(gap, dict)]
    unseen = [gap for gap in found if gap.get("kind") != "snapshot"]
    if len(unseen) < len(found):
        said = _("It is not kept as a whole: its parts can be undone, one by one.")
        return [said, *sentences_of_gaps(unseen)]
    others = [gap for gap in unseen if gap.get("kind") != PLACES]
    if len(others) < len(unseen):
        said = _("Other objects of the tree got another place; it cannot be undone.")
        return [said, *sentences_of_gaps(others)]
    tables = dict.fromkeys(str(gap.get("table", "")) for gap in found)
    named = [table for table in tables if table][:MOST_TABLES]
    if not gaps:
        return []
    if not named:
        return [_("Something else was written; it cannot be shown or undone.")]
    sentence = ngettext(
        "Something else was written in table %(tables)s; it cannot be shown or undone.",
        "Something else was written in tables %(tables)s; it cannot be shown or undone.",
        len(named),
    )
    return [sentence % {"tables": ", ".join(named)}]
