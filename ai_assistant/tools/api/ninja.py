"""The operations of django-ninja, as its own OpenAPI documents tell them."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import NoReverseMatch, get_script_prefix
from django.utils.text import slugify
from ninja.operation import PathView
from ninja.security import APIKeyCookie

from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import (
    ApiRequest,
    ApiResponse,
    Kept,
    Operation,
    OperationsById,
)
from ai_assistant.tools.api.kept import check_body
from ai_assistant.tools.api.ninja_schemas import (
    Document,
    check_path,
    check_query,
    described,
    kept_by,
    models_of,
    path_schemas,
)
from ai_assistant.tools.api.patterns import EFFECTS, PARAMETER, Address, patterns
from ai_assistant.tools.api.refused import is_never, only_by_name
from ai_assistant.tools.api.requests import (
    answer_of,
    check_values,
    path_of,
    request_of,
)
from ai_assistant.types import Effect, RunContext


@dataclass(frozen=True, kw_only=True, eq=False)
class NinjaAddress(Address):
    """One method of a PathView, of which there is one for each path of a router."""

    path_view: Any
    operation: Any  # that answers this method
    route: str  # below the API
    converters: Mapping[str, Any] = field(default_factory=dict)
    is_route: bool = False

    @property
    def action(self) -> str:
        """The name of the function."""
        return str(self.function.__name__)

    @property
    def function(self) -> Any:
        """The code that answers, without the decorators of the API."""
        return self.operation.signature.view_func

    def path_for(self, values: Mapping[str, str | int]) -> str:
        """
        Return the path with these arguments. Raise NoReverseMatch.

        `reverse` knows one of several functions of the same name alone.
        """
        if not self.is_route:
            return super().path_for(values)

        def text(found: re.Match[str]) -> str:
            name, converter = found[1], self.converters[found[1]]
            own = str(converter.to_url(values[name]))
            if not re.fullmatch(converter.regex, own):
                raise NoReverseMatch(name)
            return own

        return get_script_prefix() + PARAMETER.sub(text, self.regex)

    def is_at(self, match: Any) -> bool:
        """
        Return whether a resolved address leads to this very operation.

        Each operation of a path has a pattern, of which the first one answers for all.
        """
        return (
            _path_view(match.func) is self.path_view
            and _answered(self.path_view).get(self.method) is self.operation
            and tuple(match.namespaces) == self.names[:-1]
            and self.is_like(match)
        )

    def said(self, name: str) -> Any:
        """Return what the site has said of it by `api_operation`."""
        places = (self.function, self.operation.view_func)
        found = (getattr(one, name, None) for one in places)
        return next((one for one in found if one is not None), None)


class NinjaAdapter(OperationsById):
    """Reads the URLconf once; what an operation takes is what its API tells."""

    def _read(self) -> dict[str, Operation]:
        found: dict[str, Operation] = {}
        every = [*_addresses()]
        ids = Counter(map(_id, every))
        services: dict[str, list[Any]] = {}
        nothing: list[Any] = []
        for address in every:
            own = value_or(nothing, lambda: models_of(address.operation))  # noqa: B023 - called at once
            services.setdefault(_service(address), []).extend(own)
        documents: dict[int, Document] = {}
        for address in every:
            api = address.operation.api
            document = documents.setdefault(id(api), Document(api, ""))
            own_id = _id(address)
            if ids[own_id] > 1:  # a router of several APIs, or two of one name
                own_id = ".".join((*address.names[:-1], _name(address)))
            beside = services[_service(address)]
            operation = _left_out_or(address, own_id, document, beside)
            if operation is not None:
                found.setdefault(operation.id, operation)
        for document in documents.values():
            self._components |= document.components()
        return found

    def may_call(self, operation: Operation, context: RunContext) -> bool:
        """Return False if none of its authenticators would take the user."""
        callbacks = operation.endpoint.operation.auth_callbacks
        if not callbacks or not all(map(_is_plain_session, callbacks)):
            return True
        request = request_of(operation.endpoint, context, "/", ApiRequest())
        _sign_in(request)
        return any(value_or(True, lambda: one(request)) for one in callbacks)  # noqa: B023 - called at once

    def check(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> str:
        """Return the path of a call. Raise ModelRetry or ToolFailed if it is refused."""
        address: NinjaAddress = operation.endpoint
        check_values(asked)
        check_path(address, address.operation, operation.kept)
        check_query(address.operation, asked, operation.kept)
        check_body(asked.body, operation.kept)
        return path_of(operation, asked.path)

    def call(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> ApiResponse:
        """Call the view, with its own authenticators and throttles."""
        self.check(operation, context, asked)
        return answer_of(operation, context, asked, _let_in, _kept)


def _kept(operation: Operation, _response: Any) -> Kept:
    return operation.kept


# --- who is let in ---


class _OptedIn:
    """Lets the user of a call in where an operation by name takes no session."""

    def __call__(self, request: Any) -> Any:
        """Return the user of our own request; None for all that came over HTTP."""
        return getattr(request, "_of_opted_in_operation", None)


_opted_in = _OptedIn()


def _sign_in(request: Any) -> None:
    """Let nobody be signed in whom a session does not sign in."""
    if not request.user.is_active:
        request.user = AnonymousUser()


def _let_in(operation: Operation, request: Any) -> None:
    _sign_in(request)
    own = operation.endpoint.operation
    if not own.auth_callbacks or any(map(_is_of_session, own.auth_callbacks)):
        return
    if not request.user.is_authenticated:
        return
    if _opted_in not in own.auth_callbacks:
        own.auth_callbacks = [_opted_in, *own.auth_callbacks]
    request._of_opted_in_operation = request.user  # noqa: SLF001 - an attribute of ours


def _is_of_session(callback: Any) -> bool:
    """Return whether an authenticator takes the session of a page."""
    is_cookie = isinstance(callback, APIKeyCookie)
    return is_cookie and callback.param_name == settings.SESSION_COOKIE_NAME


def _is_plain_session(callback: Any) -> bool:
    return _is_of_session(callback) and not getattr(callback, "is_async", False)


# --- which operations there are ---


def _addresses() -> Iterator[NinjaAddress]:
    """Yield the operations in the order in which they are resolved."""
    seen = set()
    for pattern, place in patterns():
        path_view = _path_view(pattern.callback)
        if path_view is None or not place.is_complete:
            continue
        for method, own in _answered(path_view).items():
            if own.include_in_schema and (place.regex, method) not in seen:
                seen.add((place.regex, method))
                yield NinjaAddress(
                    method=method,
                    path_view=path_view,
                    operation=own,
                    route=str(pattern.pattern),
                    converters=place.converters,
                    is_route=place.is_route,
                    **place.address(pattern),
                )


def _path_view(callback: Any) -> PathView | None:
    """Return the PathView behind a view of django-ninja; None for all others."""
    own = getattr(callback, "__self__", None)  # of a method, as before 1.4
    if own is None and inspect.isfunction(callback) and callback.__closure__:
        cells = zip(callback.__code__.co_freevars, callback.__closure__, strict=True)
        own = next((cell.cell_contents for name, cell in cells if name == "self"), None)
    return own if isinstance(own, PathView) else None


def _answered(path_view: Any) -> dict[str, Any]:
    """Return the methods of a PathView, each with the operation that answers it."""
    # Of several the first one, as in the search of the PathView itself.
    return {
        method: one for one in reversed(path_view.operations) for method in one.methods
    }


def _id(address: NinjaAddress) -> str:
    own = address.operation
    found = own.operation_id or own.api.get_openapi_operation_id(own)
    return f"{found}.{address.method.lower()}" if len(own.methods) > 1 else str(found)


def _service(address: NinjaAddress) -> str:
    """Return the first tag; without one, the first part of the path that has a name."""
    tags = [slugify(tag) for tag in address.operation.tags or ()]
    if tags and tags[0]:
        return str(tags[0])
    first = address.route.strip("/").partition("/")[0]
    has_name = first and "<" not in first
    return first if has_name else (address.names[:-1] or ("api",))[-1]


def _name(address: NinjaAddress) -> str:
    name = f"{_service(address)}.{address.action}"
    several = len(address.operation.methods) > 1
    return f"{name}.{address.method.lower()}" if several else name


def _left_out_or(
    address: NinjaAddress, own_id: str, document: Document, beside: list[Any]
) -> Operation | None:
    failed = "operation %r of django-ninja is left out"
    return value_or(
        None, lambda: _operation(address, own_id, document, beside), failed, own_id
    )


def _operation(
    address: NinjaAddress, own_id: str, document: Document, beside: list[Any]
) -> Operation | None:
    """
    Return an operation; None for one of forms and files, or of a stream.

    `beside` are the models of its service: one that only deletes names none itself.
    """
    own = address.operation
    sources = {one.__ninja_param_source__ for one in own.models}
    if sources & {"form", "file"} or getattr(own, "stream_format", None) is not None:
        return None
    details = document.of(own)
    models = models_of(own)
    said = address.said("assistant_effect")
    effect: Effect | None = said or EFFECTS.get(address.method)
    external = bool(address.said("assistant_external"))
    service = _service(address)
    told = path_schemas(details)
    plain_id = _id(address)
    return Operation(
        id=own_id,
        name=_name(address),
        shared_names=(plain_id, plain_id.removesuffix(f".{address.method.lower()}")),
        service=service,
        method=address.method,
        path=address.path,
        effect=effect,
        described=described(own, details),
        arguments={one: told.get(one, url) for one, url in address.arguments.items()},
        model=models[0]._meta.label_lower if models else "",
        is_never=is_never(address, [address.function.__module__], own_id, service),
        only_by_name=only_by_name(
            effect,
            models or beside,
            takes_session=any(map(_is_of_session, own.auth_callbacks)),
        ),
        can_be_tried=not external,
        is_external=external,
        is_declared=said is not None,
        takes_body="body" in sources,
        kept=kept_by(own),
        endpoint=address,
    )
