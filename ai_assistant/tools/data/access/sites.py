"""The AdminSites and their pages that are code of the site."""

import logging
from functools import lru_cache
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin import site as default_site
from django.contrib.admin.sites import all_sites
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed
from ai_assistant.request_context import match_of
from ai_assistant.safety.policy import admin_pages
from ai_assistant.safety.policy.admin_pages import Page
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")

NO_SITE = (
    "No AdminSite has pages, so there are no tools on rows. Include the urls of one, "
    'or set AI_ASSISTANT["DATA_TOOLS"] = False.'
)
# What the assistant asks as the user is no request of a browser.
BARE = "a request of the assistant, which has no session and has passed no middleware"


def sites_of(context: RunContext) -> list[AdminSite]:
    """Return all sites that have pages: that of the user's page, then the default."""
    current = context.page.view_name.partition(":")[0]
    return sorted(
        mounted_sites(),
        key=lambda site: (site.name != current, site != default_site, site.name),
    )


def mounted_sites() -> list[AdminSite]:
    """Return all sites that have pages."""
    return [site for site in all_sites if _is_mounted(site)]


def lets_in(site: AdminSite, request: HttpRequest) -> bool:
    """Tell whether the site lets the user in; not if its own code fails."""
    return bool(value_or(False, lambda: site.has_permission(request)))


def why_closed(user: Any) -> list[str]:
    """Return why AdminSites are closed to a user whom Django itself would let in."""
    if not (getattr(user, "is_active", False) and getattr(user, "is_staff", False)):
        return []
    request = user_request(user, "GET", "/")
    sites = mounted_sites()
    said = [_why_closed(site, request) for site in sites] if sites else [NO_SITE]
    return [why for why in said if why]


@lru_cache(maxsize=100)
def warn_once(why: str) -> None:
    """Log why the tools on rows are missing; once in each process."""
    logger.warning("%s", why)


def _why_closed(site: AdminSite, request: HttpRequest) -> str:
    try:
        if site.has_permission(request):
            return ""
        does = "refuses"
    except Exception as error:  # noqa: BLE001 - code of the site
        does = f"raises {type(error).__name__} for"
    return (
        f"AdminSite {site.name!r} is closed to the assistant, and so are the tools on "
        f"its rows: {type(site).__name__}.has_permission() {does} {BARE}."
    )


def path_on(site: AdminSite, name: str, *args: str) -> str:
    """Return the path of a page of the site; empty if there is no such page."""
    try:
        return reverse(f"{site.name}:{name}", args=args)
    except NoReverseMatch:
        return ""


def _is_mounted(site: AdminSite) -> bool:
    """Tell whether a page of the site can be reached: a site may only be made."""
    match = match_of(path_on(site, "index"))
    return match is not None and getattr(match.func, "admin_site", None) is site


def is_custom_page(door: Any, page: Page) -> bool:
    """
    Tell whether the page of the door's request is code of the site.

    Raise ToolFailed if there is no such page at all.
    """
    if door.request.resolver_match is None:
        raise _closed()
    return admin_pages.is_own_page(door.model_admin, door.request, page)


def check_page(door: Any, page: Page) -> Any:
    """
    Make sure that a page of the site's own opens for the user.

    Return its answer, or None if the page is Django's. Raise ToolFailed if it does
    not open.
    """
    if not is_custom_page(door, page):
        return None
    response = admin_pages.shown_page(door.model_admin, door.request)
    if response is None:
        raise _closed()
    return response


def post_page(door: Any) -> Any:
    """
    Post the door's request to the page itself.

    Raise ToolFailed if it does not lead on: it was not saved then.
    """
    response = posted_page(door)
    told = list(door.request._messages)
    errors = [str(one) for one in told if one.level >= messages.WARNING]
    if response.status_code not in (301, 302, 303):
        raise _closed(" ".join(errors))
    if errors:
        raise ToolFailed(" ".join(errors))
    return response


def posted_page(door: Any) -> Any:
    """Return what the page itself answers to the door's request."""
    try:
        return admin_pages.page_response(door.request)
    except (PermissionDenied, Http404) as error:
        raise _closed() from error


def _closed(told: str = "") -> ToolFailed:
    return ToolFailed(
        told or _("The page of the admin does not allow it."),
        suggestion=_("Tell the person to look at the page itself."),
    )
