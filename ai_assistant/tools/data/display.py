"""The value of a field as the person reads it: labels, names, local times."""

import json
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from types import NoneType
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import QuerySet
from django.utils import formats, timezone
from django.utils.encoding import force_str
from django.utils.translation import gettext as _

from ai_assistant.safety.foreign import value_or
from ai_assistant.safety.sensitive import HIDDEN, is_sensitive_field, masked, masked_in
from ai_assistant.tools.data.access import is_closed

MOST_NAMES = 50  # of linked objects, in one text


def shown_value(field: Any, obj: models.Model | None) -> str:  # noqa: ANN401
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


def plain_text(value: Any, field: Any = None) -> str:  # noqa: ANN401
    """Return a value of Python as text, in the user's language and time zone."""
    value = masked(value) if field is None else masked_in(field, value)
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


def _localtime(value: Any) -> Any:  # noqa: ANN401
    """Return an aware time in the zone of the user, all else as it is."""
    if isinstance(value, datetime) and timezone.is_aware(value):
        return timezone.localtime(value)
    return value


def names_of(objects: Iterable[models.Model]) -> str:
    """Return the names of linked objects, the first of them if they are many."""
    objects = list(objects)
    named = sorted(name_of(one) for one in objects[:MOST_NAMES])
    if len(objects) > MOST_NAMES:
        named.append(_("%(count)d more") % {"count": len(objects) - MOST_NAMES})
    return ", ".join(named)


def name_of(obj: models.Model) -> str:
    """Return what the admin calls `obj`; its id if its own code fails at that."""
    if is_closed(type(obj)):
        return str(obj.pk)
    key = "" if obj.pk is None else str(obj.pk)
    return value_or(key, lambda: str(obj))  # an object may be half made


def _related(field: Any, obj: models.Model, key: Any) -> str:  # noqa: ANN401
    try:
        related = getattr(obj, field.name)
    except ObjectDoesNotExist:
        return str(key)
    return str(key) if related is None else name_of(related)
