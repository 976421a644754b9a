"""The pages of a ModelAdmin that are code of the site: asked and posted to by tools."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety import admin_pages
from ai_assistant.safety.admin_pages import Page


def is_own_page(door: Any, page: Page) -> bool:  # noqa: ANN401 - a Door
    """
    Tell whether the page of the door's request is code of the site.

    Raise ToolFailed if there is no such page at all.
    """
    if door.request.resolver_match is None:
        raise _closed()
    return admin_pages.is_own_page(door.model_admin, door.request, page)


def check_page(door: Any, page: Page) -> Any:  # noqa: ANN401 - a response
    """
    Make sure that a page of the site's own opens for the user.

    Return its answer, or None if the page is Django's. Raise ToolFailed if it does
    not open.
    """
    if not is_own_page(door, page):
        return None
    response = admin_pages.shown_page(door.model_admin, door.request)
    if response is None:
        raise _closed()
    return response


def post_page(door: Any) -> Any:  # noqa: ANN401 - a Door, a response
    """
    Post the door's request to the page itself.

    Raise ToolFailed if it does not lead on: it was not saved then.
    """
    response = posted_page(door)
    told = list(door.request._messages)  # noqa: SLF001
    errors = [str(one) for one in told if one.level >= messages.WARNING]
    if response.status_code not in (301, 302, 303):
        raise _closed(" ".join(errors))
    if errors:
        raise ToolFailed(" ".join(errors))
    return response


def posted_page(door: Any) -> Any:  # noqa: ANN401 - a Door, a response
    """Return what the page itself answers to the door's request."""
    try:
        return admin_pages.answer(door.request)
    except (PermissionDenied, Http404) as error:
        raise _closed() from error


def _closed(told: str = "") -> ToolFailed:
    return ToolFailed(
        told or _("The page of the admin does not allow it."),
        suggestion=_("Tell the person to look at the page itself."),
    )
