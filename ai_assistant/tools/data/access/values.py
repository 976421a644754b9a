"""The value of a field: as JSON for the model, and as text for a person."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import Model, QuerySet
from django.utils.encoding import force_str
from django.utils.translation import gettext as _

from ai_assistant.changes.display import plain_text
from ai_assistant.safety.policy import sensitive
from ai_assistant.safety.policy.form_limits import Limits, named_among, names_value
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import short_text, short_value
from ai_assistant.tools.data.access.model_admin import is_closed

MAX_LINKED = 100  # objects of a many-to-many field
TEXT_CHARS = 200  # of what an object is called


def value_of(field: Any, obj: Model, chars: int, limits: Limits) -> Any:
    """
    Return the value of `field`, with texts cut to `chars`.

    A related object has its id and text, as the form of the admin shows them even to
    users who may not open it. What the `limits` of that form leave out is left out.
    """
    limit = limits.get(field.name)
    if field.many_to_many:
        return _linked(field, obj, limit)
    value = field.value_from_object(obj)
    if limit is not None and not names_value(limit, field, value):
        return None
    if field.is_relation:
        if value is None:
            return None
        try:
            text = object_text(getattr(obj, field.name))
        except ObjectDoesNotExist:  # there is no constraint in the database
            text = ""
        return {"id": value, "text": text}
    if isinstance(value, bytes | memoryview):
        return f"({len(value)} bytes)"
    return short_value(sensitive.masked_in(field, value), chars)


def object_text(obj: Model) -> str:
    """Return the text of the object; a default if its `__str__` fails."""
    meta = obj._meta
    return value_or(
        f"{meta.verbose_name} {obj.pk}",
        lambda: short_text(str(obj), TEXT_CHARS),
        "%s %r has no text",
        meta.label,
        obj.pk,
    )


def with_related(rows: QuerySet[Any], fields: list[Any]) -> QuerySet[Any]:
    """Return `rows` with the related objects of these fields prefetched."""
    names = [field.name for field in fields if field.is_relation]
    return rows.prefetch_related(*names) if names else rows


def _linked(field: Any, obj: Model, limit: Any) -> list[dict[str, Any]]:
    if obj.pk is None:
        return []
    linked = getattr(obj, field.name).all()[:MAX_LINKED]
    if limit is not None:
        visible_ids = named_among(limit, [item.pk for item in linked])
        linked = [item for item in linked if item.pk in visible_ids]
    return [{"id": item.pk, "text": object_text(item)} for item in linked]


MOST_NAMES = 50  # of linked objects, in one text


def shown_value(field: Any, obj: models.Model | None) -> str:
    """Return the value of a column as text; empty for None and without `obj`."""
    if obj is None:
        return ""
    value = getattr(obj, field.attname)
    if value is None:
        return ""
    if sensitive.is_sensitive_field(field):
        return sensitive.HIDDEN
    if isinstance(field, models.ForeignKey):
        try:
            related = getattr(obj, field.name)
        except ObjectDoesNotExist:
            related = None
        return str(value) if related is None else object_name(related)
    if field.flatchoices:
        labels = {str(key): label for key, label in field.flatchoices}
        return force_str(labels.get(str(value), value), strings_only=False)
    return plain_text(value, field)


def names_of(objects: Iterable[models.Model]) -> str:
    """Return the names of linked objects; of the first MOST_NAMES if there are more."""
    objects = list(objects)
    names = sorted(object_name(item) for item in objects[:MOST_NAMES])
    if len(objects) > MOST_NAMES:
        names.append(_("%(count)d more") % {"count": len(objects) - MOST_NAMES})
    return ", ".join(names)


def object_name(obj: models.Model) -> str:
    """Return the text of `obj`; its id if it is closed, or its `__str__` fails."""
    if is_closed(type(obj)):
        return str(obj.pk)
    key = "" if obj.pk is None else str(obj.pk)
    return value_or(key, lambda: str(obj))  # an object may be incomplete
