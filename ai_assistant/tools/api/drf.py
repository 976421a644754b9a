"""The operations of Django REST framework."""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.module_loading import import_string
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException

from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.drf import WITH_BODY
from ai_assistant.tools.api.base import (
    ApiRequest,
    ApiResponse,
    Described,
    Kept,
    Operation,
    OperationsById,
)
from ai_assistant.tools.api.descriptions import described, models_of
from ai_assistant.tools.api.endpoints import Endpoint, endpoints
from ai_assistant.tools.api.kept import check_body
from ai_assistant.tools.api.patterns import EFFECTS
from ai_assistant.tools.api.refused import is_never, only_by_name
from ai_assistant.tools.api.requests import (
    answer_of,
    check_values,
    path_of,
    request_of,
)
from ai_assistant.tools.api.sensitive import (
    check_path,
    check_query,
    kept_by,
    kept_for,
    kept_in,
)
from ai_assistant.types import JSON, Effect, RunContext


class DrfAdapter(OperationsById):
    """Reads the URLconf once; drf-spectacular tells more, where the views use it."""

    def _read(self) -> dict[str, Operation]:
        found: dict[str, Operation] = {}
        every = list(endpoints())
        twice = Counter(map(_name, every))
        told = _in_document(self._components)
        for endpoint in every:
            name = _name(endpoint)
            if twice[name] > 1:
                name = f"{name}.{endpoint.method.lower()}"
            key = endpoint.callback, endpoint.method, endpoint.regex
            operation = self._operation(endpoint, name, told.get(key))
            found.setdefault(operation.id, operation)
        return found

    def _operation(self, endpoint: Endpoint, name: str, told: Any) -> Operation:
        if told is not None:
            made = _operation(endpoint, name, told.described)
            return replace(made, id=told.id, service=told.service or made.service)
        own = value_or(Described(), lambda: described(endpoint, self._components))
        return _operation(endpoint, name, own)

    def may_call(self, operation: Operation, context: RunContext) -> bool:
        """Return what the permission classes say without an object."""
        try:
            view = _asked_view(operation, context)
            view.check_permissions(view.request)
        except (APIException, PermissionDenied, Http404):
            return False
        except Exception:  # noqa: BLE001 - of the site: it may need what a call has
            return True
        return True

    def check(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> str:
        """Return the path of a call. Raise ModelRetry or ToolFailed if it is refused."""
        check_values(asked)
        view = value_or(None, lambda: _asked_view(operation, context))
        kept = kept_for(view, operation.kept)
        check_path(operation.endpoint, kept)
        check_query(operation.endpoint, asked.query, kept)
        check_body(asked.body, kept)
        return path_of(operation, asked.path)

    def call(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> ApiResponse:
        """Call the view, with its own authenticators, permissions and throttles."""
        self.check(operation, context, asked)
        return answer_of(operation, context, asked, _authenticate, _kept_of_answer)


def _kept_of_answer(operation: Operation, response: Any) -> Kept:
    return kept_in(getattr(response, "data", None), operation.kept)


def _asked_view(operation: Operation, context: RunContext) -> Any:
    """Return the view as it is for the user, without a call of it."""
    endpoint: Endpoint = operation.endpoint
    view = endpoint.view()
    request = request_of(endpoint, context, "/", ApiRequest())
    _authenticate(operation, request)
    view.request = view.initialize_request(request)
    return view


def _authenticate(operation: Operation, request: Any) -> None:
    """Let the user in where an operation that was opted in by name takes no session."""
    found = _authenticators(operation.endpoint)
    if found and not _takes_session(operation.endpoint):
        request._force_auth_user = request.user  # noqa: SLF001 - as DRF's test client


def _authenticators(endpoint: Endpoint) -> list[Any]:
    """Return what tells a view who asks."""
    nothing: list[Any] = []
    view = endpoint.view()
    return value_or(nothing, lambda: list(view.get_authenticators()))


def _takes_session(endpoint: Endpoint) -> bool:
    """Return whether one of its authenticators takes the session of a page."""
    found = _authenticators(endpoint)
    return any(isinstance(one, SessionAuthentication) for one in found)


def _in_document(components: dict[str, JSON]) -> Mapping[Any, Any]:
    """Return what drf-spectacular tells, by view, method and pattern."""
    nothing: Mapping[Any, Any] = {}
    # By now all views are imported, and were asked for their schema classes.
    if "drf_spectacular" not in sys.modules:
        return nothing
    in_document = import_string("ai_assistant.tools.api.spectacular.in_document")
    return value_or(
        nothing,
        lambda: in_document(components),
        "drf-spectacular cannot tell the operations of the site's API",
    )


def _name(endpoint: Endpoint) -> str:
    """Return the name of an operation by Django's own: its service, and the action."""
    return f"{_service(endpoint)}.{endpoint.action}"


def _service(endpoint: Endpoint) -> str:
    options = getattr(endpoint.callback, "initkwargs", {})
    own = options.get("basename") or endpoint.names[-1] or endpoint.callback.__name__
    return ".".join(filter(None, (*endpoint.names[:-1], own)))


def _operation(endpoint: Endpoint, name: str, own: Described) -> Operation:
    nothing: list[Any] = []
    models = value_or(nothing, lambda: models_of(endpoint))
    said = endpoint.said("assistant_effect")
    effect: Effect | None = said or EFFECTS.get(endpoint.method)
    external = endpoint.said("assistant_external")
    non_atomic = getattr(endpoint.callback, "_non_atomic_requests", ())
    return Operation(
        id=name,
        name=name,
        service=_service(endpoint),
        method=endpoint.method,
        path=endpoint.path,
        effect=effect,
        described=own,
        arguments=endpoint.arguments,
        model=models[0]._meta.label_lower if models else "",
        is_never=is_never(
            endpoint, [base.__module__ for base in endpoint.callback.cls.__mro__]
        ),
        only_by_name=only_by_name(
            effect, models, takes_session=_takes_session(endpoint)
        ),
        can_be_tried=not external and not non_atomic,
        is_external=bool(external),
        is_declared=said is not None,
        takes_body=endpoint.method.lower() in WITH_BODY,
        kept=kept_by(endpoint),
        endpoint=endpoint,
    )
