"""
Pages of a ModelAdmin that are code of the site.

A view that the site has overridden may refuse what no permission forbids. It is
asked itself then: looked at before a change is shown, and posted to for the change.
"""

from copy import copy
from typing import Any, Literal

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed

Page = Literal["add", "change", "delete", "changelist"]

VIEWS: dict[str, tuple[str, ...]] = {
    "add": ("add_view", "changeform_view", "_changeform_view"),
    "change": ("change_view", "changeform_view", "_changeform_view"),
    "delete": ("delete_view", "_delete_view"),
    "changelist": ("changelist_view",),
}
OF_DJANGO = "django.contrib.admin."


def is_own_page(door: Any, page: Page) -> bool:  # noqa: ANN401 - a Door
    """
    Tell whether the page of the door's request is code of the site.

    Raise ToolFailed if there is no such page at all.
    """
    match = door.request.resolver_match
    if match is None:
        raise _closed()
    if getattr(match.func, "model_admin", None) is not door.model_admin:
        return True
    own = (getattr(type(door.model_admin), name) for name in VIEWS[page])
    return any(not view.__module__.startswith(OF_DJANGO) for view in own)


def check_page(door: Any, page: Page) -> None:  # noqa: ANN401
    """Make sure that a page of the site's own opens for the user."""
    if not is_own_page(door, page):
        return
    request = copy(door.request)
    request.method = "GET"
    request.META = {**request.META, "REQUEST_METHOD": "GET"}
    response = _response(request)
    if response.status_code != 200 or not hasattr(response, "context_data"):
        raise _closed()


def post_page(door: Any) -> Any:  # noqa: ANN401 - a Door, a response
    """
    Post the door's request to the page itself.

    Raise ToolFailed if it does not lead on: it was not saved then.
    """
    response = _response(door.request)
    told = list(door.request._messages)  # noqa: SLF001
    errors = [str(one) for one in told if one.level >= messages.WARNING]
    if response.status_code not in (301, 302, 303):
        raise _closed(" ".join(errors))
    if errors:
        raise ToolFailed(" ".join(errors))
    return response


def _response(request: HttpRequest) -> HttpResponse:
    match: Any = request.resolver_match  # set where the request was made
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # noqa: SLF001
    try:
        return match.func(request, *match.args, **match.kwargs)  # type: ignore[no-any-return]
    except (PermissionDenied, Http404) as error:
        raise _closed() from error


def _closed(told: str = "") -> ToolFailed:
    return ToolFailed(
        told or _("The page of the admin does not allow it."),
        suggestion=_("Tell the person to look at the page itself."),
    )
