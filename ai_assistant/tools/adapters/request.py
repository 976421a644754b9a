"""Requests with which a tool calls a page or a view as the user."""

import io
import json
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.messages.storage.base import BaseStorage
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, QueryDict
from django.urls import NoReverseMatch, ResolverMatch, reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed
from ai_assistant.request_context import (
    addresses_here,
    below_prefix,
    match_of,
    request_meta,
)
from ai_assistant.safety.policy.admin_pages import page_response
from ai_assistant.tools.adapters.site_request import KeptSession, through_site

JSON_TYPE = "application/json"


class UnshownMessages(BaseStorage):
    """Keep messages in `request._messages` for a tool: no page shows them."""

    def _get(self, *_args: Any, **_kwargs: Any) -> tuple[list[Any], bool]:
        return [], True

    def _store(self, messages: Any, *_args: Any, **_kwargs: Any) -> list[Any]:
        return list(messages)


def user_request(
    user: Any,
    method: str,
    path: str,
    *,
    query: dict[str, Any] | None = None,
    form: dict[str, Any] | None = None,
    body: Any = None,
) -> HttpRequest:
    """Return a request by `user`; a form or a JSON body, and no cookies."""
    request = HttpRequest()
    request.session = KeptSession()
    request.method, request.user = method, user
    request.LANGUAGE_CODE = get_language()  # as `LocaleMiddleware` sets it
    request.path, request.path_info = path, below_prefix(path) or path
    if query:  # else it has an empty one, which takes long to make
        request.GET = _query(query)  # type: ignore[assignment]
    if form:
        request.POST = _query(form)  # type: ignore[assignment]
    content = b"" if body is None else json.dumps(body).encode()
    request.META = {
        **request_meta(request),
        # Links to other pages repeat it.
        "QUERY_STRING": request.GET.urlencode() if query else "",
        "HTTP_ACCEPT": JSON_TYPE,
        "CONTENT_TYPE": JSON_TYPE if body is not None else "",
        "CONTENT_LENGTH": str(len(content)),
    }
    request._stream = io.BytesIO(content)  # noqa: SLF001
    request._body = content  # noqa: SLF001 - read already
    request._read_started = True  # type: ignore[attr-defined] # noqa: SLF001
    return request


def _query(values: dict[str, Any]) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in values.items():
        items = value if isinstance(value, list | tuple) else [value]
        query.setlist(name, [str(item) for item in items])
    return query


AdminPage = tuple[str, ResolverMatch | None]  # its path, and what that leads to
MOST_PAGES = 1000  # that are remembered


def admin_request(
    user: Any,
    method: str,
    page: AdminPage,
    form: dict[str, Any] | None = None,
    session: Any = None,
) -> HttpRequest:
    """Return a request by `user` to a page of the admin, as its view would get it."""
    path, match = page
    request = user_request(user, method, path, form=form)
    request.session = request.session if session is None else session
    request.resolver_match = match
    request._messages = UnshownMessages(request)  # type: ignore[attr-defined]
    return request


def admin_page(site: AdminSite, name: str, *args: str) -> AdminPage:
    """Return a page of the site; where there is none, that at its root."""
    # A call asks for the same pages again and again.
    return _admin_page(addresses_here(), site.name, name, args)


@lru_cache(MOST_PAGES)
def _admin_page(
    _here: Hashable, site: str, name: str, args: tuple[str, ...]
) -> AdminPage:
    try:
        path = reverse(f"{site}:{name}", args=args)
    except NoReverseMatch:
        path = "/"
    return path, match_of(path)


def post_to_page(
    request: HttpRequest, around: Callable[[Callable[[], Any]], Callable[[], Any]]
) -> Any:
    """
    Return the response of the page itself, whose view is called by way of `around`.

    Raise ToolFailed if it is closed.
    """
    try:
        return through_site(request, around(lambda: page_response(request)))
    except (PermissionDenied, Http404) as error:
        raise page_closed() from error


def page_closed(text: str = "") -> ToolFailed:
    """Return the error for an admin page that does not open, or does not save."""
    return ToolFailed(
        text or _("The admin page does not allow it."),
        suggestion=_("Tell the person to look at the page itself."),
    )
