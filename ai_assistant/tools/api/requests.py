"""One request of a tool to a view of the site: the very view, as the user, and no other."""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections, router, transaction
from django.http import HttpRequest
from django.urls import NoReverseMatch
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.databases import every_other, opened
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.request_context import match_of
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.tools.adapters.site_request import KeptSession, through_site
from ai_assistant.tools.api.base import FAILED, ApiRequest, ApiResponse, Kept, Operation
from ai_assistant.tools.api.kept import masked
from ai_assistant.tools.api.patterns import SAFE_METHODS, Address
from ai_assistant.types import RunContext
from ai_assistant.types.page import MAX_DEPTH, is_deep

# What a server, a proxy or a view may read as another address.
ODD = re.compile(r"(^|[/\\])\.{1,2}([/\\]|$)|//|^/|\\|[\x00-\x1f\x7f?#]")
REDIRECTS = range(300, 400)


def check_values(asked: ApiRequest) -> None:
    """Raise ModelRetry if what is asked for has no form in JSON that views can read."""
    for name, value in (("query", asked.query), ("body", asked.body)):
        if is_deep(value):
            raise ModelRetry(
                f"The {name} is nested more than {MAX_DEPTH} levels deep. Send less "
                "at once."
            )
        try:
            json.dumps(value, allow_nan=False)
        except ValueError as error:
            raise ModelRetry(
                f"The {name} has NaN or Infinity, which is not JSON. Send a number, or "
                "leave it out."
            ) from error


def path_of(operation: Operation, given: Mapping[str, str | int]) -> str:
    """
    Return the path of a call, as it is made of its pattern.

    Raise ModelRetry if there is none, ToolFailed if it leads to another view.
    """
    wanted = operation.arguments
    if wanted.keys() != given.keys():
        names = ", ".join(wanted) or "nothing"
        raise ModelRetry(f"The path of {operation.id!r} takes {names}.")
    for name, value in given.items():
        if not str(value) or ODD.search(str(value)):
            raise ModelRetry(f"The value of {name!r} cannot stand in a path.")
    address: Address = operation.endpoint
    try:
        path = address.path_for(given)
    except NoReverseMatch as error:
        raise ModelRetry(
            f"{operation.path!r} takes no such values: {', '.join(given)}."
        ) from error
    _match(address, path)
    return path


def _match(address: Address, path: str) -> Any:
    match = match_of(path)
    if match is None or not address.is_at(match):
        raise ToolFailed(_("Another view of this site answers under this address."))
    return match


def answer_of(
    operation: Operation,
    context: RunContext,
    asked: ApiRequest,
    let_in: Callable[[Operation, HttpRequest], None],
    kept_of: Callable[[Operation, Any], Kept],
) -> ApiResponse:
    """
    Return what the view of an operation answers to a request of the user.

    `let_in` may change the request for the authenticators of the view; `kept_of` tells
    what is kept back of its response.
    """
    address: Address = operation.endpoint
    path = path_of(operation, asked.path)
    match = _match(address, path)
    request = request_of(address, context, path, asked)
    request.resolver_match = match
    let_in(operation, request)

    def answer() -> Any:
        response = match.func(request, *match.args, **match.kwargs)
        if inspect.isawaitable(response):
            # What it does with the database is done in this thread.
            response = async_to_sync(_awaited)(response)
        return response.render() if hasattr(response, "render") else response

    with _effect_of(operation) as ended:
        response = through_site(request, answer)
        if response.status_code >= FAILED:
            ended()
    return read(response, kept_of(operation, response))


async def _awaited(response: Awaitable[Any]) -> Any:
    return await response


def request_of(
    address: Address, context: RunContext, path: str, asked: ApiRequest
) -> HttpRequest:
    """Return the request of the user, without cookies, files and a check of CSRF."""
    has_body = address.has_body
    if asked.body is not None and address.method not in SAFE_METHODS:
        has_body = True  # what was approved is what is sent
    request = user_request(
        context.user,
        address.method,
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

    What one writes that is asked to read is taken back, in all databases, since nobody
    has approved it, unless the site has said that it reads.
    """
    if operation.effect == "read" and operation.is_declared:
        yield lambda: None
        return
    aliases, reads = _databases(operation), operation.effect == "read"
    with opened(aliases, reads=reads) as there:

        def take_back() -> None:
            for alias in there:
                transaction.set_rollback(True, using=alias)

        yield take_back
        if reads:
            take_back()


def _databases(operation: Operation) -> list[str]:
    """Return the aliases of the databases in which a call is whole."""
    if operation.is_external:
        # As for a request: it may take long, and others wait for its locks.
        return [one for one in connections if _is_atomic(connections[one])]
    if operation.effect == "read":
        return [DEFAULT_DB_ALIAS, *every_other()]
    found = [DEFAULT_DB_ALIAS]
    with suppress(LookupError, ValueError):
        found.append(router.db_for_write(apps.get_model(operation.model)))
    return list(dict.fromkeys(found))


def _is_atomic(connection: Any) -> bool:
    return bool(connection.settings_dict["ATOMIC_REQUESTS"])


def read(response: Any, kept: Kept) -> ApiResponse:
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
        with suppress(ValueError, RecursionError):
            data = json.loads(response.content)
            return ApiResponse(status=status, data=masked(data, kept))
    return ApiResponse(
        status=status,
        unread=_("It answers with %(kind)s, which is not read.")
        % {"kind": kind.partition(";")[0] or _("no type")},
    )
