"""The tool that carries out an action of the admin's list, which is the site's code."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin.utils import model_format_dict
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import SHOWN, Changes, ObjectChange
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.adapters.admin_actions import (
    BUILT_IN,
    action_request,
    chosen_objects,
    find_action,
    perform_action,
)
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_door
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Ids, are_enabled, chosen_rows, in_list
from ai_assistant.tools.data.writing.results import count_with_name
from ai_assistant.tools.data.writing.saving import record_rows_before
from ai_assistant.types import RunContext, ToolResult

MOST_NAMED = 30


def preview_action(context: RunContext, model: str, action: str, ids: Ids) -> Changes:
    """Return the objects that the action would get; nobody knows what it does."""
    door = find_door(context, model)
    request, _function = _found(door, action, ids)
    objects = chosen_rows(door, ids, in_list)
    title = _("%(action)s: %(objects)s") % {
        "action": _said(door, request, action),
        "objects": count_with_name(door.options, len(objects)),
    }
    return Changes(
        title=title,
        verb=title,
        model=door.label,
        objects=tuple(
            ObjectChange(
                kind="action",
                model=door.label,
                object_id=str(one.pk),
                text=object_name(one),
            )
            for one in objects[:SHOWN]
        ),
        total=len(objects),
        warnings=(
            _("This action is code of the site: what it does is not known before."),
        ),
        versions=versions(objects),
        rows_argument="ids",
    )


def _found(
    door: AdminAccess, action: str, ids: Ids
) -> tuple[HttpRequest, Callable[..., Any]]:
    """Return the request and the function of an action that the user finds there."""
    if action == BUILT_IN:
        raise ModelRetry(f"Action {action!r} deletes. Use delete_objects instead.")
    own = [str(one) for one in ids]
    request = action_request(door.request.user, door.model_admin, action, own)
    request.resolver_match = door.request.resolver_match
    try:
        return request, find_action(door.site, door.model_admin, request, action)
    except PermissionDenied as error:
        there = list(door.model_admin.get_actions(request))
        known = ", ".join(name for name in there[:MOST_NAMED] if name != BUILT_IN)
        raise ModelRetry(
            f"There is no action {action[:100]!r} that the user may carry out on "
            f"{door.label}. Actions: {known or 'none'}."
        ) from error


def _said(door: AdminAccess, request: HttpRequest, action: str) -> str:
    """Return what the list of the admin calls the action."""
    found = door.model_admin.get_actions(request)[action]
    # A tuple up to Django 6.0, an object with attributes from 6.1 on.
    said = getattr(found, "description", None) or found[2]
    try:
        return str(said) % model_format_dict(door.options)
    except (KeyError, TypeError, ValueError):
        return str(said)


@tool(
    effect="destructive",
    label=gettext_lazy("Admin action"),
    shared=True,
    is_enabled=are_enabled,
    preview=preview_action,
    rows_argument="ids",
    icon="continue",
)
def run_admin_action(
    context: RunContext, model: str, action: str, ids: Ids
) -> ToolResult:
    """Carry out an action of the list on objects. describe_model tells the actions."""
    door = find_door(context, model)
    request, function = _found(door, action, ids)
    record_rows_before(chosen_rows(door, ids, in_list), ())
    chosen = chosen_objects(door.model_admin, request, [str(one) for one in ids])
    return perform_action(function, door.model_admin, request, chosen)
