"""An action of a ModelAdmin as a tool: the same function, the same permissions."""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.messages import ERROR, WARNING
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.urls import NoReverseMatch, Resolver404, resolve, reverse
from django.utils.module_loading import module_has_submodule
from django.utils.translation import gettext as _

from ai_assistant.exceptions import (
    ImproperlyConfiguredAssistant,
    ModelRetry,
    ToolFailed,
)
from ai_assistant.safety.policy.admin_pages import (
    OF_LIST,
    is_overridden,
    page_response,
    rows_of_changelist,
    rows_of_list,
)
from ai_assistant.tools.adapters.functions import from_function
from ai_assistant.tools.adapters.request import UnshownMessages, user_request
from ai_assistant.types import Effect, RunContext, ToolDefinition, ToolResult

MOST_IDS = 1000
BUILT_IN = "delete_selected"  # it asks on a page of its own


def from_admin_action(
    model: type[Model],
    action: str,
    *,
    effect: Effect,
    site: admin.AdminSite | None = None,
    name: str = "",
    **fields: Any,
) -> ToolDefinition:
    """
    Return one action of the ModelAdmin of `model` as a tool, to be registered.

    The model gives the ids of the objects. What the action may do is asked of the
    ModelAdmin with a request of the user, each time: `allowed_permissions`,
    `get_actions` and `get_queryset`. Its messages are the result. An action that
    shows a page of its own fails. Its name is `<app>_<model>_<action>`.
    """
    site = site or admin.site
    _find_admin(site, model)
    if action == BUILT_IN:
        raise ImproperlyConfiguredAssistant(
            f"Action {action!r} asks on a page of its own. Write a tool that deletes."
        )
    options = model._meta
    own = name or f"{options.app_label}_{options.model_name}_{action}"
    function = getattr(site._registry[model], action, None)
    return from_function(
        _handler(site, model, action),
        effect=effect,
        name=own,
        description=fields.pop("description", "")
        or _described(function, action, model),
        label=fields.pop("label", "") or _label(function, action),
        origin=fields.pop("origin", "") or type(site._registry[model]).__module__,
        **fields,
    )


def _find_admin(site: admin.AdminSite, model: type[Model]) -> None:
    """Make sure that the model is registered: an assistant.py may come first."""
    if not site.is_registered(model):
        config = model._meta.app_config
        if module_has_submodule(config.module, "admin"):
            import_module(f"{config.name}.admin")
    if not site.is_registered(model):
        raise ImproperlyConfiguredAssistant(
            f"Model {model.__name__!r} is not in the admin. Register it in the "
            "admin.py of its app before its actions become tools."
        )


def _handler(
    site: admin.AdminSite, model: type[Model], action: str
) -> Callable[..., ToolResult]:
    def run_action(context: RunContext, ids: list[str]) -> ToolResult:
        # Looked up at each call: a test or a late app may have replaced it.
        model_admin = site._registry[model]
        request = action_request(context.user, model_admin, action, ids)
        function = find_action(site, model_admin, request, action)
        chosen = chosen_objects(model_admin, request, ids)
        return perform_action(function, model_admin, request, chosen)

    return run_action


def perform_action(
    function: Callable[..., Any],
    model_admin: Any,
    request: HttpRequest,
    chosen: QuerySet[Any],
) -> ToolResult:
    """
    Carry an action out. Raise ToolFailed if it answers with a page of its own.

    A list that is code of the site is posted to, as it may refuse the action.
    """
    is_own = is_overridden(model_admin, *OF_LIST, "response_action")
    if is_own and _leads_to(request, model_admin):
        response = _answer(request)
    else:
        response = function(model_admin, request, chosen)
    if response is not None and not isinstance(response, HttpResponseRedirect):
        raise ToolFailed(
            _("This action shows a page of its own, and was not carried out."),
            suggestion=_("Tell the person to do it in the list."),
        )
    return _result(request)


def _leads_to(request: HttpRequest, model_admin: Any) -> bool:
    """Tell whether the request leads to a page, and to none of another ModelAdmin."""
    match = request.resolver_match
    return match is not None and getattr(match.func, "model_admin", model_admin) is (
        model_admin
    )


def _answer(request: HttpRequest) -> Any:
    try:
        return page_response(request)
    except (PermissionDenied, Http404) as error:
        raise ToolFailed(
            _("The page of the admin does not allow it."),
            suggestion=_("Tell the person to look at the page itself."),
        ) from error


def action_request(
    user: Any,
    model_admin: Any,
    action: str,
    ids: list[str],
) -> HttpRequest:
    """Return the request with which the list of the admin starts an action."""
    form = {"action": action, "index": "0", ACTION_CHECKBOX_NAME: ids}
    path = _path(model_admin)
    request = user_request(user, "POST", path, form=form)
    with suppress(Resolver404):
        request.resolver_match = resolve(path)
    request._messages = UnshownMessages(request)  # type: ignore[attr-defined]
    return request


def _path(model_admin: Any) -> str:
    options = model_admin.opts
    name = f"{options.app_label}_{options.model_name}_changelist"
    try:
        return reverse(f"{model_admin.admin_site.name}:{name}")
    except NoReverseMatch:
        return "/"


def find_action(
    site: admin.AdminSite,
    model_admin: Any,
    request: HttpRequest,
    action: str,
) -> Callable[..., Any]:
    """Return the action, if the user finds it in the list. Raise PermissionDenied."""
    may_see = model_admin.has_view_or_change_permission(request)
    found = model_admin.get_actions(request).get(action)
    if not site.has_permission(request) or not may_see or found is None:
        raise PermissionDenied
    # A tuple up to Django 6.0, an object with attributes from 6.1 on.
    function: Callable[..., Any] = getattr(found, "func", None) or found[0]
    return function


def chosen_objects(
    model_admin: Any,
    request: HttpRequest,
    ids: list[str],
) -> QuerySet[Any]:
    """Return the objects. Raise ModelRetry if the user cannot see one of them."""
    wanted = list(dict.fromkeys(ids))
    if not 0 < len(wanted) <= MOST_IDS:
        raise ModelRetry(f"Give 1 to {MOST_IDS} ids, not {len(wanted)}.")
    try:
        rows = _listed(model_admin, request)
        chosen = rows.filter(pk__in=wanted)
        there = {str(pk) for pk in chosen.values_list("pk", flat=True)}
    except (ValueError, ValidationError) as error:
        raise ModelRetry(f"These are no ids: {', '.join(wanted[:10])}.") from error
    if missing := [pk for pk in wanted if pk not in there]:
        raise ModelRetry(f"There is no object with the id {', '.join(missing[:10])}.")
    return chosen


def _listed(model_admin: Any, request: HttpRequest) -> QuerySet[Any]:
    """Return the rows of the list, from which the admin takes those of an action."""
    has_page = _leads_to(request, model_admin)
    rows = (rows_of_list if has_page else rows_of_changelist)(model_admin, request)
    if rows is None:
        raise ToolFailed(
            _("The page of the admin does not allow it."),
            suggestion=_("Tell the person to look at the page itself."),
        )
    return rows


def _result(request: HttpRequest) -> ToolResult:
    told = list(request._messages)  # type: ignore[attr-defined]
    text = " ".join(str(message) for message in told)
    if any(message.level >= ERROR for message in told):
        return ToolResult(ok=False, error=text, error_type="failed")
    warnings = [str(message) for message in told if message.level == WARNING]
    data = {"warnings": warnings} if warnings else None
    return ToolResult(ok=True, message=text or _("Done."), data=data)


def _label(function: Any, action: str) -> Any:
    said = getattr(function, "short_description", "")
    if said and "%(" not in str(said):
        return said
    return action.replace("_", " ").capitalize()


def _described(function: Any, action: str, model: type[Model]) -> str:
    said = (getattr(function, "__doc__", "") or "").strip()
    many = model._meta.verbose_name_plural
    first = said or f"{_label(function, action)}."
    return f"{first}\n\nids: the ids of the {many} to which it is done"
