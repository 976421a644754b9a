"""Which models there are, and what their forms hold."""

from typing import Any

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from ai_assistant.decorators import tool
from ai_assistant.safety.policy.form_limits import Limits, form_limited_fields
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.fields import (
    added_fields,
    inline_fields,
    model_fields,
)
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    at_object,
    find_door,
    visible_models,
)
from ai_assistant.tools.data.arguments import are_enabled
from ai_assistant.tools.data.reading.read import open_inlines
from ai_assistant.types import JSON, RunContext

MOST_CHOICES = 30
HELP_CHARS = 200
BUILT_IN = "delete_selected"  # a tool of its own deletes


@tool(
    effect="read",
    label=_("Models"),
    icon="table",
    shared=True,
    is_enabled=are_enabled,
)
def list_models(context: RunContext) -> list[dict[str, JSON]]:
    """Tell the models whose objects the user may see, and what is allowed there."""
    return [
        {
            "model": door.label,
            "name": str(door.options.verbose_name_plural),
            "may": _may(door),
        }
        for door in visible_models(context)
    ]


@tool(
    effect="read",
    label=_("Fields"),
    icon="table",
    shared=True,
    is_enabled=are_enabled,
)
def describe_model(context: RunContext, model: str) -> dict[str, JSON]:
    """
    Tell fields, filters, inlines and actions of a model.

    Call it before other data tools, if you do not know the fields.
    """
    door = find_door(context, model)
    told: dict[str, JSON] = {
        "model": door.label,
        "name": str(door.options.verbose_name),
        "may": _may(door),
        "fields": _fields(door),
        "search": bool(door.model_admin.get_search_fields(door.request)),
        "list_filters": _own_filters(door),
        "inlines": _inlines(door),
        "actions": _actions(door),
    }
    return {key: value for key, value in told.items() if value not in ([], {})}


def _may(door: AdminAccess) -> list[str]:
    admin, request = door.model_admin, door.request
    asked = {
        "view": admin.has_view_or_change_permission,
        "add": admin.has_add_permission,
        "change": admin.has_change_permission,
        "delete": admin.has_delete_permission,
    }
    return [name for name, may in asked.items() if may(request)]


def _fields(door: AdminAccess) -> list[dict[str, JSON]]:
    shown = {own.name: own for own in [*model_fields(door), *added_fields(door)]}
    there = at_object(door, "")
    blank = door.model()
    readonly = set(door.model_admin.get_readonly_fields(there.request, blank))
    choices = [own for own in shown.values() if own.flatchoices]
    named = form_limited_fields(door.model_admin, there.request, blank, choices)
    return [
        _field(own, named, is_readonly=name in readonly) for name, own in shown.items()
    ]


def _field(
    own: Any,
    named: Limits,
    *,
    is_readonly: bool = False,
) -> dict[str, JSON]:
    limit = named.get(own.name)
    choices = [
        {"value": value, "label": str(label)}
        for value, label in own.flatchoices
        if limit is None or str(value) in limit
    ]
    told: dict[str, JSON] = {
        "name": own.name,
        "type": own.get_internal_type(),
        "label": str(own.verbose_name),
        "required": not (own.blank or own.has_default() or is_readonly),
        "readonly": is_readonly or not own.editable,
        "model": own.related_model._meta.label_lower if own.is_relation else "",
        "choices": choices[:MOST_CHOICES],
        "help": str(own.help_text)[:HELP_CHARS],
        "max_length": own.max_length,
    }
    return {
        key: value for key, value in told.items() if value not in ("", [], None, False)
    }


def _own_filters(door: AdminAccess) -> dict[str, JSON]:
    """Return the filters of the list that are not those of a field."""
    found: dict[str, JSON] = {}
    for spec in door.model_admin.get_list_filter(door.request):
        name = getattr(spec, "parameter_name", None)
        if name and hasattr(spec, "lookups"):
            own: Any = spec(door.request, {}, door.model, door.model_admin)
            found[name] = [str(choice) for choice, _label in own.lookup_choices]
    return found


def _inlines(door: AdminAccess) -> list[dict[str, JSON]]:
    there, blank = at_object(door, ""), door.model()
    told: list[dict[str, JSON]] = []
    for formset, inline in _blank_inlines(there, blank):
        fields = inline_fields(inline, there, blank, formset)
        readonly = set(inline.get_readonly_fields(there.request, blank))
        told.append(
            {
                "model": inline.opts.label_lower,
                "fields": [
                    _field(own, {}, is_readonly=own.name in readonly) for own in fields
                ],
            }
        )
    return told


def _blank_inlines(door: AdminAccess, blank: Model) -> list[tuple[Any, Any]]:
    # The code of a site may need more than an empty object.
    return value_or(
        [],
        lambda: open_inlines(door, blank),
        "%s does not tell the inlines of an empty object",
        door.label,
    )


def _actions(door: AdminAccess) -> dict[str, str]:
    """Return the actions of the list by name, with what they are called."""
    choices = door.model_admin.get_action_choices(door.request)
    return {
        name: str(text)
        for one in choices
        for name, text in _pairs(*one)
        if name and name != BUILT_IN
    }


def _pairs(name: Any, text: Any) -> list[tuple[str, Any]]:
    """Return a choice as it is, or those of a group of choices."""
    return list(text) if isinstance(text, list | tuple) else [(name, text)]
