"""The value of a field: as the model reads it, and as a person does."""

import json
import math
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from types import NoneType
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Model, QuerySet
from django.utils import formats, timezone
from django.utils.encoding import force_str
from django.utils.translation import gettext as _

from ai_assistant.safety.policy.form_limits import Limits, named_among, names_value
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_sensitive_field,
    mask_secrets,
    masked_in,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import whole_json
from ai_assistant.tools.data.access.model_admin import is_closed

MAX_LINKED = 100  # objects of a many-to-many field
TEXT_CHARS = 200  # of what an object is called
NO_LIMITS: Limits = {}


def value_of(
    field: Any,
    obj: Model,
    chars: int,
    limits: Limits = NO_LIMITS,
) -> Any:
    """
    Return the value of `field`, texts cut to `chars`.

    A related object is told by id and text, as the admin's own form shows it also
    to those who may not open it. What the form does not name by its `limits` is left
    out, as there.
    """
    limit = limits.get(field.name)
    if field.many_to_many:
        return _linked(field, obj, limit)
    value = field.value_from_object(obj)
    if limit is not None and not names_value(limit, field, value):
        return None
    if field.is_relation:
        return None if value is None else {"id": value, "text": _text(field, obj)}
    if isinstance(value, bytes | memoryview):
        return f"({len(value)} bytes)"
    return short_value(masked_in(field, value), chars)


def short_value(value: Any, chars: int) -> Any:
    """Return `value` in a form that JSON can hold, cut to `chars`."""
    if isinstance(value, list | dict):
        text = json.dumps(value, cls=DjangoJSONEncoder, default=str)
        return whole_json(value) if len(text) <= chars else _cut(text, chars)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _cut(str(value), chars)


def object_text(obj: Model) -> str:
    """Return what the site calls the object; its `__str__` may fail."""
    meta = obj._meta
    return value_or(
        f"{meta.verbose_name} {obj.pk}",
        lambda: _cut(str(obj), TEXT_CHARS),
        "%s %r has no text",
        meta.label,
        obj.pk,
    )


def with_related(rows: QuerySet[Any], fields: list[Any]) -> QuerySet[Any]:
    """Return `rows` that load the objects of these relations at once."""
    names = [field.name for field in fields if field.is_relation]
    return rows.prefetch_related(*names) if names else rows


def _text(field: Any, obj: Model) -> str:
    try:
        return object_text(getattr(obj, field.name))
    except ObjectDoesNotExist:  # a key without its row: no constraint in the database
        return ""


def _linked(field: Any, obj: Model, limit: Any) -> list[dict[str, Any]]:
    if obj.pk is None:
        return []
    linked = getattr(obj, field.name).all()[:MAX_LINKED]
    if limit is not None:
        named = named_among(limit, [one.pk for one in linked])
        linked = [one for one in linked if one.pk in named]
    return [{"id": one.pk, "text": object_text(one)} for one in linked]


def _cut(text: str, chars: int) -> str:
    made: str = whole_json(text)
    return made if len(made) <= chars else f"{made[:chars]}…"


MOST_NAMES = 50  # of linked objects, in one text


def shown_value(field: Any, obj: models.Model | None) -> str:
    """Return what `obj` has in a column, as text; empty for None and without it."""
    if obj is None:
        return ""
    value = getattr(obj, field.attname)
    if value is None:
        return ""
    if is_sensitive_field(field):
        return HIDDEN
    if isinstance(field, models.ForeignKey):
        return _related(field, obj, value)
    if field.flatchoices:
        labels = {str(key): label for key, label in field.flatchoices}
        return force_str(labels.get(str(value), value), strings_only=False)
    return plain_text(value, field)


def plain_text(value: Any, field: Any = None) -> str:
    """Return a value of Python as text, in the user's language and time zone."""
    value = mask_secrets(value) if field is None else masked_in(field, value)
    if isinstance(field, models.JSONField):
        return json.dumps(value, ensure_ascii=False, cls=field.encoder, default=str)
    if isinstance(field, models.DecimalField) and isinstance(value, Decimal):
        return formats.number_format(value, field.decimal_places)
    return next(
        (text(value) for kinds, text in TEXTS if isinstance(value, kinds)), str(value)
    )


# The first that fits: bool is an int, datetime a date.
TEXTS: tuple[tuple[Any, Any], ...] = (
    (NoneType, lambda _value: ""),
    (bool, lambda value: _("Yes") if value else _("No")),
    (str, str),
    ((bytes, memoryview), lambda value: f"{len(value)} B"),
    ((list, tuple, set, QuerySet), lambda value: ", ".join(map(plain_text, value))),
    (dict, lambda value: json.dumps(value, ensure_ascii=False, default=str)),
    (
        (int, float, Decimal, date, time),
        lambda value: str(formats.localize(_localtime(value))),
    ),
)


def _localtime(value: Any) -> Any:
    """Return an aware time in the zone of the user, all else as it is."""
    if isinstance(value, datetime) and timezone.is_aware(value):
        return timezone.localtime(value)
    return value


def names_of(objects: Iterable[models.Model]) -> str:
    """Return the names of linked objects, the first of them if they are many."""
    objects = list(objects)
    named = sorted(object_name(one) for one in objects[:MOST_NAMES])
    if len(objects) > MOST_NAMES:
        named.append(_("%(count)d more") % {"count": len(objects) - MOST_NAMES})
    return ", ".join(named)


def object_name(obj: models.Model) -> str:
    """Return what the admin calls `obj`; its id if its own code fails at that."""
    if is_closed(type(obj)):
        return str(obj.pk)
    key = "" if obj.pk is None else str(obj.pk)
    return value_or(key, lambda: str(obj))  # an object may be half made


def _related(field: Any, obj: models.Model, key: Any) -> str:
    try:
        related = getattr(obj, field.name)
    except ObjectDoesNotExist:
        return str(key)
    return str(key) if related is None else object_name(related)
