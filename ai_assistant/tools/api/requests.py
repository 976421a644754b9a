"""One request of a tool to a view of the site: the very view, as the user, and no other."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections, router, transaction
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from rest_framework.permissions import SAFE_METHODS

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.request_context import match_of
from ai_assistant.tools.adapters.drf import WITH_BODY
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.tools.adapters.site_request import KeptSession, through_site
from ai_assistant.tools.api.base import FAILED, ApiRequest, ApiResponse, Kept, Operation
from ai_assistant.tools.api.endpoints import Endpoint
from ai_assistant.tools.api.sensitive import kept_in, masked
from ai_assistant.types import RunContext

# What a server, a proxy or a view may read as another address.
ODD = re.compile(r"(^|[/\\])\.{1,2}([/\\]|$)|//|^/|\\|[\x00-\x1f\x7f?#]")
REDIRECTS = range(300, 400)


def path_of(operation: Operation, given: Mapping[str, str | int]) -> str:
    """
    Return the path of a call, made by `reverse` and not decoded.

    Raise ModelRetry if there is none, ToolFailed if it leads to another view.
    """
    wanted = operation.arguments
    if wanted.keys() != given.keys():
        names = ", ".join(wanted) or "nothing"
        raise ModelRetry(f"The path of {operation.id!r} takes {names}.")
    for name, value in given.items():
        if not str(value) or ODD.search(str(value)):
            raise ModelRetry(f"The value of {name!r} cannot stand in a path.")
    endpoint: Endpoint = operation.endpoint
    try:
        quoted = reverse(endpoint.url_name or endpoint.callback, kwargs=dict(given))
    except NoReverseMatch as error:
        raise ModelRetry(
            f"{operation.path!r} takes no such values: {', '.join(given)}."
        ) from error
    path = unquote(quoted)
    _match(endpoint, path)
    return path


def _match(endpoint: Endpoint, path: str) -> Any:
    match = match_of(path)
    if match is None or not endpoint.is_at(match):
        raise ToolFailed(_("Another view of this site answers under this address."))
    return match


def answer_of(
    operation: Operation,
    context: RunContext,
    asked: ApiRequest,
    let_in: Callable[[Operation, HttpRequest], None],
) -> ApiResponse:
    """
    Return what the view of an operation answers to a request of the user.

    `let_in` may change the request for the authenticators of the view.
    """
    endpoint: Endpoint = operation.endpoint
    path = path_of(operation, asked.path)
    match = _match(endpoint, path)
    request = request_of(endpoint, context, path, asked)
    request.resolver_match = match
    let_in(operation, request)

    def answer() -> Any:
        response = match.func(request, *match.args, **match.kwargs)
        return response.render() if hasattr(response, "render") else response

    with _effect_of(operation) as ended:
        response = through_site(request, answer)
        if response.status_code >= FAILED:
            ended()
    return _read(response, operation.kept)


def request_of(
    endpoint: Endpoint, context: RunContext, path: str, asked: ApiRequest
) -> HttpRequest:
    """Return the request of the user, without cookies, files and a check of CSRF."""
    has_body = endpoint.method.lower() in WITH_BODY
    if asked.body is not None and endpoint.method not in SAFE_METHODS:
        has_body = True  # what was approved is what is sent
    request = user_request(
        context.user,
        endpoint.method,
        path,
        query=dict(asked.query),
        body=(asked.body if asked.body is not None else {}) if has_body else None,
    )
    request.session = KeptSession(context.run_id)
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # noqa: SLF001 - no browser has sent it
    return request


@contextmanager
def _effect_of(operation: Operation) -> Iterator[Any]:
    """
    Keep what an operation writes, all of it or nothing.

    What one writes that is asked to read is taken back, since nobody has approved it,
    unless the site has said that it reads.
    """
    if operation.effect == "read" and operation.is_declared:
        yield lambda: None
        return
    aliases, reads = _databases(operation), operation.effect == "read"
    with ExitStack() as stack:
        for alias in aliases:
            with _without_lock(connections[alias]) if reads else nullcontext():
                stack.enter_context(transaction.atomic(using=alias))

        def take_back() -> None:
            for alias in aliases:
                transaction.set_rollback(True, using=alias)

        yield take_back
        if reads:
            take_back()


@contextmanager
def _without_lock(connection: Any) -> Iterator[None]:
    """Let a transaction that begins here hold no write lock, before it writes."""
    mode = getattr(connection, "transaction_mode", None)  # of SQLite
    if mode is not None:
        connection.transaction_mode = None
    try:
        yield
    finally:
        if mode is not None:
            connection.transaction_mode = mode


def _databases(operation: Operation) -> list[str]:
    found = [DEFAULT_DB_ALIAS]
    with suppress(LookupError, ValueError):
        found.append(router.db_for_write(apps.get_model(operation.model)))
    return list(dict.fromkeys(found))


def _read(response: Any, kept: Kept) -> ApiResponse:
    """Return an answer as values; what is no JSON is not read, and not followed."""
    status, kind = response.status_code, response.get("Content-Type", "")
    if status in REDIRECTS:
        where = urlsplit(response.get("Location", "")).path
        return ApiResponse(
            status=status,
            unread=_("It redirects to “%(path)s”, which is not followed.")
            % {"path": where[:200]},
        )
    is_file = response.get("Content-Disposition", "").startswith("attachment")
    if response.streaming or is_file:
        for closer in response._resource_closers:  # noqa: SLF001 - without the signal
            closer()
        return ApiResponse(
            status=status,
            unread=_(
                "It answers with a file or a stream (%(kind)s), which is not read."
            )
            % {"kind": kind.partition(";")[0]},
        )
    if not response.content:
        return ApiResponse(status=status)
    if "json" in kind:
        with suppress(ValueError):
            data = json.loads(response.content)
            kept = kept_in(getattr(response, "data", None), kept)
            return ApiResponse(status=status, data=masked(data, kept))
    return ApiResponse(
        status=status,
        unread=_("It answers with %(kind)s, which is not read.")
        % {"kind": kind.partition(";")[0] or _("no type")},
    )
