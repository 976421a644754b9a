"""What goes wrong, as a problem: of ours, of the framework's, and of nobody's."""

import logging
from collections.abc import Sequence
from math import ceil
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response

from ai_assistant.engine.storage.units import refusal_of
from ai_assistant.exceptions import Refused
from ai_assistant.web.problems import (
    CONTENT_TYPE,
    problem,
    problem_headers,
    status_of,
)

logger = logging.getLogger("ai_assistant")

FAILED = 500

FieldError = dict[str, str]  # field and detail


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
    body = problem(status_of(refused), refused.code, str(refused))
    if isinstance(refused, Invalid):
        body["errors"] = refused.errors
    headers = problem_headers(refused)
    if isinstance(refused, Throttled):
        headers["Retry-After"] = str(refused.wait_s)
    return Response(
        body, status=body["status"], headers=headers, content_type=CONTENT_TYPE
    )


def as_refused(error: Exception) -> Refused | None:
    """Return what an exception says to the caller; None for a fault of ours."""
    if isinstance(error, Refused):
        if error.code == "not_found" and not str(error):
            return _not_found()
        return error
    if isinstance(error, Http404 | exceptions.NotFound):
        return _not_found()
    if refused := refusal_of(error):
        return refused
    if isinstance(error, exceptions.Throttled):
        return Throttled(max(1, ceil(getattr(error, "wait", None) or 1)))
    return _unreadable(error) or _of_framework(error)


def _unreadable(error: Exception) -> Refused | None:
    if isinstance(error, RequestDataTooBig):
        return Refused("too_large", _("This request is too large."))
    broken = (SuspiciousOperation, MultiPartParserError, exceptions.ParseError)
    if isinstance(error, broken):
        return Refused("bad_request", _("This request cannot be read."))
    return None


def _of_framework(error: Exception) -> Refused | None:
    sentences: dict[type[Exception], tuple[str, str]] = {
        exceptions.MethodNotAllowed: ("method", _("This method is not allowed here.")),
        exceptions.NotAcceptable: (
            "not_acceptable",
            _("Answers are JSON. Accept “application/json”."),
        ),
        exceptions.UnsupportedMediaType: (
            "media_type",
            _("Requests are JSON. Send “Content-Type: application/json”."),
        ),
    }
    found = sentences.get(type(error))
    return Refused(*found) if found else None


def _not_found() -> Refused:
    return Refused("not_found", _("Nothing of yours was found at this URL."))


def _failure(error: Exception, context: dict[str, Any]) -> Response:
    """Return the answer to a fault of the server, and tell its operators."""
    view, request = context.get("view"), context.get("request")
    logger.error("%s failed", type(view).__name__, exc_info=error)
    got_request_exception.send(sender=type(view), request=request)
    sentence = _("The server has failed. Its log says why.")
    body = problem(FAILED, "failed", sentence)
    return Response(body, status=FAILED, content_type=CONTENT_TYPE)
