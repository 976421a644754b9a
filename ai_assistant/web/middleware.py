"""Puts the panel on every page of the admin, first thing in the body."""

import logging
import re
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import NoReverseMatch, get_urlconf, reverse
from django.utils.cache import patch_vary_headers
from typing_extensions import TypeIs

from ai_assistant import conf
from ai_assistant.safety.identity.permissions import may_view
from ai_assistant.safety.site_code import value_or
from ai_assistant.web.injection import drawn_parts
from ai_assistant.web.object_history import with_changes
from ai_assistant.web.save_guard.digest_field import with_digest
from ai_assistant.web.save_guard.object_lock import answer_if_locked, page_with_locks
from ai_assistant.web.save_guard.page import (
    answer_if_stale,
    page_with_digest,
    saves_rows,
)

# Quote-aware: an attribute of the body may hold ">". What stands in a comment or in
# a script is no body.
BODY = re.compile(
    rb"""<!--.*?-->|<(script|style|title)\b.*?</\1|"""
    rb"""(?P<body><body(?:\s(?:[^>"']|"[^"]*"|'[^']*')*)?>)""",
    re.IGNORECASE | re.DOTALL,
)
# The admin's own link past what each page begins with: ours comes after it.
OWN_SKIP = re.compile(
    rb"""\s*<a\b[^>]*\bskip-to-content-link\b[^>]*>[^<]*</a>""", re.IGNORECASE
)
HEAD_END = re.compile(rb"</head\s*>", re.IGNORECASE)
MARK = b'id="aia"'
APP_NAME = "ai_assistant"  # the namespace of the assistant's URLs
NO_PANEL = (
    *("logout", "login", "password_change_done"),
    "ai_assistant_accesstoken_add",  # it shows a secret: the assistant reads pages
    "shared_conversation",  # its address is one
)

# What a page of the admin is given besides the panel, and what is logged without it.
PARTS = (
    (with_digest, "no digest of %r"),
    (with_changes, "no changes of the assistant on %r"),
)

logger = logging.getLogger("ai_assistant")

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class AssistantMiddleware:
    """
    Injects the panel into the HTML pages of the admin, and guards locked objects.

    Responses of the assistant's own addresses are never cached. Place it inside
    GZipMiddleware and after the authentication. It leaves alone
    what is streamed, encoded or no HTML, popups, frames, and the sign-in pages.
    """

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        # Django would take a thread for the sync one, at each request.
        self.process_view = self._aprocess if self.is_async else self._process
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[object]:
        if self.is_async:
            return self._acall(request)
        response = cast("HttpResponseBase", self.get_response(request))  # the sync case
        keep_private(request, response)
        if not is_admin_page(response, request):
            return response
        return dress(request, response)

    def _process(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        if is_own(request):
            return None
        page = page_with_locks(request)
        locked = answer_if_locked(request, page) if page is not None else None
        if locked is not None:
            return locked
        saved = page_with_digest(request)
        return answer_if_stale(request, saved) if saved is not None else None

    async def _aprocess(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        # A thread is dear, and most requests need none.
        if is_own(request):
            return None
        if page_with_locks(request) is None and not saves_rows(request):
            return None
        return await sync_to_async(self._process)(request)

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await self.get_response(request)  # type: ignore[misc]
        keep_private(request, response)
        if not is_admin_page(response, request):
            return response
        return await sync_to_async(dress)(request, response)


def is_own(request: HttpRequest) -> bool:
    """Return whether the request is for a URL of the assistant: no form saves there."""
    match = request.resolver_match
    return match is not None and APP_NAME in match.app_names


def keep_private(request: HttpRequest, response: HttpResponseBase) -> None:
    """Keep responses of the assistant out of caches by default, also errors."""
    if is_own(request):
        response.headers.setdefault("Cache-Control", "private, no-store")


def is_admin_page(
    response: HttpResponseBase, request: HttpRequest
) -> TypeIs[HttpResponse]:
    """Return whether this is a page that has the panel, whole and unpacked."""
    match = request.resolver_match
    return (
        conf.enabled()
        and isinstance(response, HttpResponse)
        and not response.streaming
        and response.status_code < 500  # that page must not need the database
        and not response.has_header("Content-Encoding")
        and response.get("Content-Type", "").startswith("text/html")
        and match is not None
        and ("admin" in match.app_names or is_named(match.view_name))
        and hasattr(request, "user")
    )


def is_named(view_name: str) -> bool:
    """Return whether the site has named this view, of another admin than Django's."""
    return any(fnmatchcase(view_name, name) for name in conf.get("PANEL", "VIEWS"))


def dress(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Put the panel into the page if it takes one, and what its form or history needs."""
    for add, failed in PARTS:
        added = partial(add, request, response)
        content = value_or(None, added, failed, request.path)
        if content is not None:
            _replace(response, content)
    return inject(request, response) if wants_panel(request) else response


def wants_panel(request: HttpRequest) -> bool:
    """Return whether a page with this address may have the panel. Asks no database."""
    match = request.resolver_match
    return (
        conf.enabled()
        and (match is None or match.url_name not in NO_PANEL)
        and not ({"_popup", "_to_field"} & {*request.GET, *request.POST})
        and request.headers.get("Sec-Fetch-Dest") not in ("iframe", "frame", "embed")
        and hasattr(request, "user")
    )


def inject(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Put the panel into the page, if the user may see it and there is a body."""
    content = response.content
    body = next((found for found in BODY.finditer(content) if found["body"]), None)
    if body is None or MARK in content or not may_view(request.user):
        return response
    if not has_addresses():
        return response
    try:
        return _with_panel(request, response, body)
    except Exception:
        # The page is not ours: it comes without the panel rather than not at all.
        logger.exception("the panel could not be drawn")
        return response


def _with_panel(
    request: HttpRequest, response: HttpResponse, body: re.Match[bytes]
) -> HttpResponse:
    content, charset = response.content, response.charset
    styles, panel, skip = drawn_parts(request)
    own = OWN_SKIP.match(content, body.end())
    after = own.end() if own else body.end()
    heads = [found.start() for found in HEAD_END.finditer(content, 0, body.start())]
    at = heads[-1] if heads else body.end()
    parts = (
        content[:at],
        styles.encode(charset, "xmlcharrefreplace"),
        content[at : body.end()],
        panel.encode(charset, "xmlcharrefreplace"),
        content[body.end() : after],
        skip.encode(charset, "xmlcharrefreplace"),
        content[after:],
    )
    _replace(response, b"".join(parts))
    patch_vary_headers(response, ("Cookie",))
    return response


def _replace(response: HttpResponse, content: bytes) -> None:
    response.content = content
    if response.has_header("Content-Length"):
        response["Content-Length"] = str(len(response.content))
    del response["ETag"]  # it was the page's without the panel


def has_addresses() -> bool:
    """Return whether the site includes our URLs; if not, a check reports it."""
    return _are_in(get_urlconf() or settings.ROOT_URLCONF)


@cache
def _are_in(urlconf: Any) -> bool:
    try:
        return bool(reverse("ai_assistant:full", urlconf=urlconf))
    except NoReverseMatch:
        return False
