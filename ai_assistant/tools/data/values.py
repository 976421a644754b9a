"""What a field of an object holds, as JSON that a model reads."""

import json
import math
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet

from ai_assistant.safety.foreign import value_or
from ai_assistant.safety.form_limits import Limits, named_among, names_value
from ai_assistant.safety.sensitive import masked_in
from ai_assistant.tools.characters import whole_json

MAX_LINKED = 100  # objects of a many-to-many field
TEXT_CHARS = 200  # of what an object is called
NO_LIMITS: Limits = {}


def value_of(
    field: Any,  # noqa: ANN401
    obj: Model,
    chars: int,
    limits: Limits = NO_LIMITS,
) -> Any:  # noqa: ANN401 - JSON
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
    return short(masked_in(field, value), chars)


def short(value: Any, chars: int) -> Any:  # noqa: ANN401 - any value, any JSON
    """Return `value` in a form that JSON can hold, cut to `chars`."""
    if isinstance(value, list | dict):
        text = json.dumps(value, cls=DjangoJSONEncoder, default=str)
        return whole_json(value) if len(text) <= chars else _cut(text, chars)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _cut(str(value), chars)


def text_of(obj: Model) -> str:
    """Return what the site calls the object; its `__str__` may fail."""
    meta = obj._meta  # noqa: SLF001
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


def _text(field: Any, obj: Model) -> str:  # noqa: ANN401
    try:
        return text_of(getattr(obj, field.name))
    except ObjectDoesNotExist:  # a key without its row: no constraint in the database
        return ""


def _linked(field: Any, obj: Model, limit: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if obj.pk is None:
        return []
    linked = getattr(obj, field.name).all()[:MAX_LINKED]
    if limit is not None:
        named = named_among(limit, [one.pk for one in linked])
        linked = [one for one in linked if one.pk in named]
    return [{"id": one.pk, "text": text_of(one)} for one in linked]


def _cut(text: str, chars: int) -> str:
    made: str = whole_json(text)
    return made if len(made) <= chars else f"{made[:chars]}…"
