"""The tool that runs an action of the admin's list, which is code of the site."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin.utils import model_format_dict
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import Changes
from ai_assistant.exceptions import ModelRetry
from ai_assistant.modules.resolve import module_of
from ai_assistant.tools.adapters.admin_actions import (
    BUILT_IN,
    action_request,
    chosen_objects,
    find_action,
    perform_action,
)
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.tools.data.arguments import Ids, chosen_rows, data_tool
from ai_assistant.tools.data.writing.differences import listed_objects
from ai_assistant.tools.data.writing.page_post import may_try_out
from ai_assistant.tools.data.writing.results import count_with_name
from ai_assistant.tools.data.writing.saving import record_rows_before
from ai_assistant.types import RunContext, ToolResult

ACTIONS_NAMED = 30


def preview_action(context: RunContext, model: str, action: str, ids: Ids) -> Changes:
    """Return the objects passed to the action; a trial tells its effect."""
    access = find_access(context, model)
    _check_choice(context, access, action)
    request, function = _action(access, action, ids)
    objects = chosen_rows(access, ids, "changelist")
    title = _("%(action)s: %(objects)s") % {
        "action": _description(access, request, action),
        "objects": count_with_name(access.options, len(objects)),
    }
    return Changes(
        title=title,
        verb=title,
        model=access.label,
        objects=listed_objects(access.label, "action", objects),
        total=len(objects),
        warnings=(
            _("This action is code of the site: its effect is not known in advance."),
        ),
        versions=versions(objects),
        rows_argument="ids",
        needs_trial=may_try_out(access)
        and getattr(function, "assistant_tries_out", True) is not False,
    )


def _check_choice(context: RunContext, access: AdminAccess, action: str) -> None:
    """Raise ModelRetry if the row of the page's module leaves out an action."""
    actions = module_of(context).configured.actions
    if actions and f"{access.label}.{action}" not in actions:
        raise ModelRetry(
            f"On this page these actions can be carried out only: {', '.join(actions)}."
        )


def _action(
    access: AdminAccess, action: str, ids: Ids
) -> tuple[HttpRequest, Callable[..., Any]]:
    """Return the request and the function of an action in the list of the user."""
    if action == BUILT_IN:
        raise ModelRetry(f"Action {action!r} deletes. Use delete_objects instead.")
    request = action_request(
        access.request.user, access.model_admin, action, [*map(str, ids)]
    )
    request.session = access.request.session
    request.resolver_match = access.request.resolver_match
    try:
        return request, find_action(access.site, access.model_admin, request, action)
    except PermissionDenied as error:
        names = list(access.model_admin.get_actions(request))
        choices = ", ".join(name for name in names[:ACTIONS_NAMED] if name != BUILT_IN)
        raise ModelRetry(
            f"There is no action {action[:100]!r} that the user may carry out on "
            f"{access.label}. Actions: {choices or 'none'}."
        ) from error


def _description(access: AdminAccess, request: HttpRequest, action: str) -> str:
    """Return the description of the action in the list of the admin."""
    entry = access.model_admin.get_actions(request)[action]
    # A tuple up to Django 6.0, an object with attributes from 6.1 on.
    description = str(getattr(entry, "description", None) or entry[2])
    try:
        return description % model_format_dict(access.options)
    except (KeyError, TypeError, ValueError):
        return description


@data_tool(
    effect="destructive",
    label=gettext_lazy("Admin action"),
    preview=preview_action,
    rows_argument="ids",
    icon="continue",
)
def run_admin_action(
    context: RunContext, model: str, action: str, ids: Ids
) -> ToolResult:
    """Carry out an action of the list on objects. describe_model tells the actions."""
    access = find_access(context, model)
    _check_choice(context, access, action)
    request, function = _action(access, action, ids)
    record_rows_before(chosen_rows(access, ids, "changelist"), ())
    objects = chosen_objects(access.model_admin, request, [*map(str, ids)])
    return perform_action(function, access.model_admin, request, objects)
