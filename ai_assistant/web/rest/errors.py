"""Errors as problem responses: the assistant's, the framework's, and unknown ones."""

import logging
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.signals import got_request_exception
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.settings import api_settings

from ai_assistant.engine.storage.units import refusal_of
from ai_assistant.exceptions import Refused
from ai_assistant.web.problems import (
    CONTENT_TYPE,
    STATUS,
    problem,
    problem_headers,
    problem_of,
    status_of,
)

logger = logging.getLogger("ai_assistant")

FAILED = 500
MOST_ERRORS = 20  # that are told

FieldError = dict[str, str]  # field and detail
Errors = type[Exception] | tuple[type[Exception], ...]
# What each exception of the frameworks is called here, and in which words; "": its own.
CODES: tuple[tuple[Errors, str, Any], ...] = (
    (
        (Http404, exceptions.NotFound),
        "not_found",
        gettext_lazy("Nothing of yours was found at this URL."),
    ),
    (RequestDataTooBig, "too_large", gettext_lazy("This request is too large.")),
    (
        (SuspiciousOperation, MultiPartParserError, exceptions.ParseError),
        "bad_request",
        gettext_lazy("This request cannot be read."),
    ),
    (
        exceptions.MethodNotAllowed,
        "method",
        gettext_lazy("This method is not allowed here."),
    ),
    (
        exceptions.NotAcceptable,
        "not_acceptable",
        gettext_lazy("Answers are JSON. Accept “application/json”."),
    ),
    (
        exceptions.UnsupportedMediaType,
        "media_type",
        gettext_lazy("Requests are JSON. Send “Content-Type: application/json”."),
    ),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), "signed_out", ""),
    ((exceptions.PermissionDenied, PermissionDenied), "permission", ""),
)


class FieldProblemSerializer(serializers.Serializer[Any]):
    """What is wrong with one field or parameter."""

    field = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """Why a request was refused: RFC 9457, with a code that stays."""

    type = serializers.CharField()
    title = serializers.CharField(help_text="The text of the status.")
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="Stable, for programs.")
    detail = serializers.CharField(
        help_text="A sentence for a person, in their language."
    )
    errors = FieldProblemSerializer(
        many=True,
        required=False,
        help_text="For the code `invalid`: which fields, and why.",
    )


class Invalid(Refused):
    """Fields of a request cannot be taken; `errors` says which and why."""

    def __init__(self, errors: Sequence[FieldError], code: str = "invalid") -> None:
        first = errors[0]
        sentence = _("“%(field)s” is not valid: %(detail)s.")
        super().__init__(
            code, sentence % {**first, "detail": first["detail"].rstrip(".")}
        )
        self.errors = list(errors)


class Throttled(Refused):
    """Too many requests in a short time; `wait_s` seconds, and there is room again."""

    def __init__(self, wait_s: int) -> None:
        super().__init__("throttled", _("Too many requests. Wait, then try again."))
        self.wait_s = wait_s


def problem_answer(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer to any exception of a view; DRF's handler of exceptions."""
    refused = as_refused(error)
    if refused is None:
        return _failure(error, context)
    status = status_of(refused)
    if isinstance(error, exceptions.APIException) and refused.code not in STATUS:
        status = error.status_code
    body = problem_of(refused, status)
    if isinstance(refused, Invalid):
        body["errors"] = refused.errors
    headers = problem_headers(refused)
    if isinstance(refused, Throttled):
        headers["Retry-After"] = str(refused.wait_s)
    return Response(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def as_refused(error: Exception) -> Refused | None:
    """Return what an exception says to the caller; None for an internal error."""
    if isinstance(error, Refused):
        is_bare = error.code == "not_found" and not str(error)
        return as_refused(Http404()) if is_bare else error
    if refused := refusal_of(error):
        return refused
    return _of_framework(error)


def _of_framework(error: Exception) -> Refused | None:
    if isinstance(error, exceptions.Throttled):
        return Throttled(max(1, ceil(getattr(error, "wait", None) or 1)))
    if isinstance(error, exceptions.ValidationError):
        return Invalid(list(field_errors(error.detail))[:MOST_ERRORS])
    for kinds, code, sentence in CODES:
        if isinstance(error, kinds):
            return Refused(code, str(sentence or error))
    if isinstance(error, exceptions.APIException):
        return Refused(error.default_code, str(error))
    return None


def field_errors(detail: Any, path: str = "") -> Iterator[FieldError]:
    """Yield each error of a serializer or of a set of filters, with its field."""
    if isinstance(detail, dict):
        for name, inside in detail.items():
            part = "" if name == api_settings.NON_FIELD_ERRORS_KEY else str(name)
            yield from field_errors(inside, ".".join(filter(None, (path, part))))
    elif isinstance(detail, list):
        for inside in detail:
            yield from field_errors(inside, path)
    else:
        yield {"field": path or "body", "detail": str(detail)}


def _failure(error: Exception, context: dict[str, Any]) -> Response:
    """Return the response to an internal error, and notify the operators."""
    view, request = context.get("view"), context.get("request")
    logger.error("%s failed", type(view).__name__, exc_info=error)
    got_request_exception.send(sender=type(view), request=request)
    sentence = _("The server has failed. Its log says why.")
    body = problem(FAILED, "failed", sentence)
    return Response(body, status=FAILED, content_type=CONTENT_TYPE)
