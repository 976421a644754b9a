"""An action of a ModelAdmin as a tool: the same function, the same permissions."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.messages import ERROR, WARNING
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connections
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.utils.module_loading import module_has_submodule
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.sql_text import statement_kind
from ai_assistant.exceptions import (
    ImproperlyConfiguredAssistant,
    ModelRetry,
    ToolFailed,
)
from ai_assistant.safety.policy.admin_pages import (
    OF_LIST,
    is_overridden,
    rows_of_changelist,
    rows_of_list,
)
from ai_assistant.tools.adapters.functions import from_function
from ai_assistant.tools.adapters.request import (
    admin_page,
    admin_request,
    page_closed,
    post_to_page,
)
from ai_assistant.tools.adapters.site_request import through_site
from ai_assistant.types import Effect, RunContext, ToolDefinition, ToolResult

MOST_IDS = 1000
BUILT_IN = "delete_selected"  # it asks on its own page


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

    The model gives the ids of the objects. Each call checks permissions through the
    ModelAdmin with a request of the user: `allowed_permissions`, `get_actions` and
    `get_queryset`. Its messages are the result. An action that shows a page of its own
    fails. Its name is `<app>_<model>_<action>`.
    """
    site = site or admin.site
    if not site.is_registered(model):  # an assistant.py may come before the admin.py
        config = model._meta.app_config
        if module_has_submodule(config.module, "admin"):
            import_module(f"{config.name}.admin")
    if not site.is_registered(model):
        raise ImproperlyConfiguredAssistant(
            f"Model {model.__name__!r} is not in the admin. Register it in the "
            "admin.py of its app before its actions become tools."
        )
    if action == BUILT_IN:
        raise ImproperlyConfiguredAssistant(
            f"Action {action!r} asks on a page of its own. Write a tool that deletes."
        )

    def run_action(context: RunContext, ids: list[str]) -> ToolResult:
        # Looked up at each call: a test or a late app may have replaced it.
        model_admin = site._registry[model]
        request = action_request(context.user, model_admin, action, ids)
        function = find_action(site, model_admin, request, action)
        objects = chosen_objects(model_admin, request, ids)
        return perform_action(function, model_admin, request, objects)

    options, model_admin = model._meta, site._registry[model]
    function = getattr(model_admin, action, None)
    label = getattr(function, "short_description", "")
    if not label or "%(" in str(label):
        label = action.replace("_", " ").capitalize()
    docstring = (getattr(function, "__doc__", "") or "").strip() or f"{label}."
    ids_line = f"ids: the ids of the {options.verbose_name_plural} to apply it to"
    return from_function(
        run_action,
        effect=effect,
        name=name or f"{options.app_label}_{options.model_name}_{action}",
        description=fields.pop("description", "") or f"{docstring}\n\n{ids_line}",
        label=fields.pop("label", "") or label,
        origin=fields.pop("origin", "") or type(model_admin).__module__,
        **fields,
    )


def perform_action(
    function: Callable[..., Any],
    model_admin: Any,
    request: HttpRequest,
    objects: QuerySet[Any],
) -> ToolResult:
    """
    Run an action. Raise ToolFailed if it responds with a page of its own.

    So does one that only sends the browser on to it, with nothing written or said. A
    custom list gets the action as a POST, since its code may refuse it.
    """
    is_custom = is_overridden(model_admin, *OF_LIST, "response_action")
    written: list[str] = []
    noting = _noting_writes(written)
    if is_custom and _leads_to(request, model_admin):
        response = post_to_page(request, noting)
    else:
        response = through_site(
            request, noting(lambda: function(model_admin, request, objects))
        )
    messages = list(request._messages)  # type: ignore[attr-defined]
    is_back = response is None or _is_redirect_to_list(request, response)
    has_acted = isinstance(response, HttpResponseRedirect) and (written or messages)
    if not (is_back or has_acted):
        raise ToolFailed(
            _("This action shows a page of its own, and was not carried out."),
            suggestion=_("Tell the person to do it in the list."),
        )
    text = " ".join(str(message) for message in messages)
    if any(message.level >= ERROR for message in messages):
        return ToolResult(ok=False, error=text, error_type="failed")
    warnings = [str(message) for message in messages if message.level == WARNING]
    data = {"warnings": warnings} if warnings else None
    return ToolResult(ok=True, message=text or _("Done."), data=data)


@contextmanager
def _noting_writes(written: list[str]) -> Iterator[None]:
    """Collect the statements that may write, to whichever database."""

    def watch(execute: Any, sql: Any, *rest: Any) -> Any:
        if statement_kind(str(sql)) != "read":
            written.append(str(sql))
        return execute(sql, *rest)

    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(watch))
        yield


def _is_redirect_to_list(request: HttpRequest, response: Any) -> bool:
    """Return whether a response sends the browser back to the list of the request."""
    if not isinstance(response, HttpResponseRedirect):
        return False
    return urlsplit(urljoin(request.path, response.url)).path == request.path


def _leads_to(request: HttpRequest, model_admin: Any) -> bool:
    """Return whether the request resolves, and not to another ModelAdmin's view."""
    match = request.resolver_match
    if match is None:
        return False
    return getattr(match.func, "model_admin", model_admin) is model_admin


def action_request(
    user: Any, model_admin: Any, action: str, ids: list[str]
) -> HttpRequest:
    """Return the POST request with which the changelist would start an action."""
    options = model_admin.opts
    name = f"{options.app_label}_{options.model_name}_changelist"
    page = admin_page(model_admin.admin_site, name)
    form = {"action": action, "index": "0", ACTION_CHECKBOX_NAME: ids}
    return admin_request(user, "POST", page, form)


def find_action(
    site: admin.AdminSite, model_admin: Any, request: HttpRequest, action: str
) -> Callable[..., Any]:
    """Return the function of an action. Raise PermissionDenied if it is not listed."""
    may_see = model_admin.has_view_or_change_permission(request)
    entry = model_admin.get_actions(request).get(action)
    if not site.has_permission(request) or not may_see or entry is None:
        raise PermissionDenied
    # A tuple up to Django 6.0, an object with attributes from 6.1 on.
    function: Callable[..., Any] = getattr(entry, "func", None) or entry[0]
    return function


def chosen_objects(
    model_admin: Any, request: HttpRequest, ids: list[str]
) -> QuerySet[Any]:
    """Return the objects. Raise ModelRetry if the list does not show one of them."""
    unique_ids = list(dict.fromkeys(ids))
    if not 0 < len(unique_ids) <= MOST_IDS:
        raise ModelRetry(f"Give 1 to {MOST_IDS} ids, not {len(unique_ids)}.")
    has_page = _leads_to(request, model_admin)
    try:
        rows = (rows_of_list if has_page else rows_of_changelist)(model_admin, request)
        if rows is None:
            raise page_closed()
        objects = rows.filter(pk__in=unique_ids)
        found_ids = {str(pk) for pk in objects.values_list("pk", flat=True)}
    except (ValueError, ValidationError) as error:
        raise ModelRetry(f"Invalid ids: {', '.join(unique_ids[:10])}.") from error
    if missing := [pk for pk in unique_ids if pk not in found_ids]:
        raise ModelRetry(f"There is no object with the id {', '.join(missing[:10])}.")
    return objects
