"""Read one object: its page in the admin as a tool."""

from collections.abc import Iterator
from copy import copy
from typing import Annotated, Any

from django.db.models import Model
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.decorators import tool
from ai_assistant.safety.policy.form_limits import Limits, form_limits, may_limit
from ai_assistant.safety.policy.sensitive import is_opted_out
from ai_assistant.tools.data.access.fields import admin_fields, inline_fields, limits_of
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    at_object,
    find_door,
    find_object,
    is_closed_on,
)
from ai_assistant.tools.data.access.paths import unknown_path
from ai_assistant.tools.data.access.values import object_text, value_of, with_related
from ai_assistant.tools.data.arguments import Names, ObjectId, are_enabled
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import version_from
from ai_assistant.types import JSON, RunContext

FIELD_CHARS = 4000
CHOSEN_CHARS = 30_000  # of a field that was asked for by name
INLINE_CHARS = 500
MOST_INLINE_ROWS = 50
Chosen = Annotated[Names, Field(description="only these, long texts whole")]


@tool(
    effect="read",
    label=_("Read"),
    label_plural=_("Read"),
    icon="file",
    shared=True,
    is_enabled=are_enabled,
)
def get_object(
    context: RunContext,
    model: str,
    id: ObjectId,
    fields: Chosen = [],
) -> dict[str, JSON]:
    """Read an object with all that its page shows, and its `version`."""
    door = find_door(context, model)
    obj = find_object(door, id)
    shown = admin_fields(door, obj)
    wanted = _wanted(door, shown, fields)
    chars = CHOSEN_CHARS if fields else FIELD_CHARS
    told: dict[str, JSON] = {
        "model": door.label,
        "id": obj.pk,
        "text": object_text(obj),
        "version": version_from(shown, obj),
        "fields": _values(door, obj, wanted, chars),
        "may": _may(door, obj),
    }
    if not fields and (inlines := list(_inlines(door, obj))):
        told["inlines"] = inlines
    return told


def open_inlines(door: AdminAccess, obj: Model | None) -> list[tuple[Any, Any]]:
    """
    Return the inlines of the page of `obj` that a tool may know of.

    Each with its class of formsets, as the page has them: the site may hide some.
    """
    found = door.model_admin.get_formsets_with_inlines(door.request, obj)
    return [(formset, inline) for formset, inline in found if _is_open(door, inline)]


def _values(
    door: AdminAccess, obj: Model, fields: list[Any], chars: int
) -> dict[str, JSON]:
    named = limits_of(door, obj, fields)
    return {own.name: value_of(own, obj, chars, named) for own in fields}


def _is_open(door: AdminAccess, inline: Any) -> bool:
    return not (
        is_closed_on(door.site, inline.model) or is_opted_out(inline.model, inline)
    )


def _wanted(door: AdminAccess, shown: list[Any], names: list[str]) -> list[Any]:
    known = {own.name: own for own in shown}
    if wrong := [name for name in names if name not in known]:
        raise unknown_path(door, wrong[0])
    return [known[name] for name in dict.fromkeys(names)] if names else shown


def _may(door: AdminAccess, obj: Model) -> list[str]:
    admin, request = door.model_admin, at_object(door, obj.pk).request
    asked = {
        "change": admin.has_change_permission,
        "delete": admin.has_delete_permission,
    }
    return [name for name, may in asked.items() if may(request, obj)]


def _inlines(door: AdminAccess, obj: Model) -> Iterator[dict[str, JSON]]:
    there = at_object(door, obj.pk)
    for formset, inline in open_inlines(there, obj):
        fields = inline_fields(inline, there, obj, formset)
        asked = _limited(there, obj, inline, fields)
        of_object = _inline_rows(there, obj, formset, inline)
        with wrong_values():
            total = of_object.count()
            rows = list(with_related(of_object, fields)[:MOST_INLINE_ROWS])
        yield {
            "model": inline.opts.label_lower,
            "name": str(inline.verbose_name_plural),
            "total": total,
            "rows": [
                _inline_row(row, fields, _named(formset, row, asked)) for row in rows
            ],
        }


def _inline_rows(door: AdminAccess, obj: Model, formset: Any, inline: Any) -> Any:
    """Return the rows of an inline, as the page of `obj` has them."""
    prefix = formset.get_default_prefix()
    given = door.model_admin.get_formset_kwargs(door.request, obj, inline, prefix)
    return formset(**given).get_queryset()


def _limited(
    door: AdminAccess, obj: Model, inline: Any, fields: list[Any]
) -> list[Any]:
    """Return the fields of which the form of an inline may name less than all."""
    admins = (door.model_admin, inline)
    if not all(one.has_change_permission(door.request, obj) for one in admins):
        return []  # they are read-only, and name everything
    return [own for own in fields if may_limit(inline, own)]


def _named(formset: Any, row: Model, asked: list[Any]) -> Limits:
    return form_limits(formset.form(instance=copy(row)), asked) if asked else {}


def _inline_row(row: Model, fields: list[Any], named: Limits) -> dict[str, JSON]:
    told = {own.name: value_of(own, row, INLINE_CHARS, named) for own in fields}
    return {"id": row.pk, "text": object_text(row), "fields": told}
