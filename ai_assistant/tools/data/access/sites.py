"""The AdminSites, and whether they let the user in."""

import logging
from collections.abc import Hashable
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.admin import AdminSite
from django.contrib.admin import site as default_site
from django.contrib.admin.sites import all_sites
from django.http import HttpRequest

from ai_assistant import conf
from ai_assistant.request_context import addresses_here
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.request import admin_page, user_request
from ai_assistant.tools.adapters.site_middleware import has_middlewares
from ai_assistant.tools.adapters.site_request import KeptSession, through_site
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")

NO_SITE = (
    "No AdminSite has pages, so there are no tools for rows. Include the URLs of one, "
    'or set AI_ASSISTANT["DATA"]["TOOLS"] = False.'
)
BARE = (
    "a request of the assistant, which has passed only the middlewares, and has only "
    'the keys of the session, that are named in AI_ASSISTANT["DATA"]'
)


def are_enabled(context: RunContext) -> bool:
    """Return whether the site has enabled the tools, and an admin lets the user in."""
    user = context.user
    for reason in why_missing(user, context.run_id):
        warn_once(reason)
    if not (conf.get("DATA", "TOOLS") and getattr(user, "is_active", False)):
        return False
    request = asking_request(user, context.run_id, context.page_path)
    return any(lets_in(site, request) for site in sites_of(context))


def asking_request(
    user: Any, run_id: UUID | None = None, path: str = ""
) -> HttpRequest:
    """
    Return a request by `user`, who is as the middlewares of the site see them.

    `path` is that of the page where they are, with its query.
    """
    is_of_site = path.startswith("/") and not path.startswith("//")
    opened = urlsplit(path if is_of_site else "/")
    request = user_request(user, "GET", opened.path)
    request.session = KeptSession(run_id)
    request.opened = opened  # type: ignore[attr-defined]
    # The log and the doctor say what failed.
    value_or(None, lambda: through_site(request, lambda: None))
    return request


def user_on_site(user: Any, run_id: UUID | None) -> Any:
    """Return the user as the middlewares of the site see them, as a verified one."""
    return asking_request(user, run_id).user if has_middlewares() else user


def why_missing(user: Any, run_id: UUID | None = None) -> list[str]:
    """Return why a staff user does not have the data tools, one reason per site."""
    is_staff = getattr(user, "is_active", False) and getattr(user, "is_staff", False)
    if not (conf.get("DATA", "TOOLS") and is_staff):
        return []
    request = asking_request(user, run_id)
    sites = mounted_sites()
    reasons = [_why_closed(site, request) for site in sites] if sites else [NO_SITE]
    return [reason for reason in reasons if reason]


def _why_closed(site: AdminSite, request: HttpRequest) -> str:
    try:
        if site.has_permission(request):
            return ""
        reaction = "refuses"
    except Exception as error:  # noqa: BLE001 - code of the site
        reaction = f"raises {type(error).__name__} for"
    return (
        f"AdminSite {site.name!r} is closed to the assistant, and so are the tools "
        f"for its rows: {type(site).__name__}.has_permission() {reaction} {BARE}."
    )


@lru_cache(maxsize=100)
def warn_once(reason: str) -> None:
    """Log why the tools on rows are missing; once in each process."""
    logger.warning("%s", reason)


def sites_of(context: RunContext) -> list[AdminSite]:
    """Return all mounted sites: that of the user's page first, then the default."""
    current = context.page.view_name.partition(":")[0]
    return sorted(
        mounted_sites(),
        key=lambda site: (site.name != current, site != default_site, site.name),
    )


def mounted_sites() -> list[AdminSite]:
    """Return all sites whose pages can be reached by a URL."""
    # To find it out takes long, and each step asks twice.
    return [*_mounted_sites(addresses_here(), frozenset(map(id, all_sites)))]


@lru_cache(maxsize=100)
def _mounted_sites(_here: Hashable, _sites: frozenset[int]) -> tuple[AdminSite, ...]:
    mounted = []
    for site in all_sites:
        _path, match = admin_page(site, "index")
        if match is not None and getattr(match.func, "admin_site", None) is site:
            mounted.append(site)
    return tuple(mounted)


def lacks_second_factor(user: Any, model: Any) -> bool:
    """Return whether pages with rows of a model are closed to one who is not verified."""
    request = asking_request(user)
    for site in mounted_sites():
        inlines = (one.inlines for one in site._registry.values())
        shown = {*site._registry, *(one.model for some in inlines for one in some)}
        is_there = any(issubclass(model, one) for one in shown)
        if is_there and _is_unverified(site, request):
            return True
    return False


def _is_unverified(site: AdminSite, request: HttpRequest) -> bool:
    is_verified = getattr(request.user, "is_verified", None)  # of django-otp
    if not callable(is_verified) or lets_in(site, request):
        return False
    is_asked = partial(AdminSite.has_permission, site, request)
    return not value_or(True, is_verified) and value_or(False, is_asked)


def lets_in(site: AdminSite, request: HttpRequest) -> bool:
    """Return whether the site lets the user in; not if its own code fails."""
    return bool(value_or(False, lambda: site.has_permission(request)))
