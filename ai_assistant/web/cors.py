"""
Pages of other origins that may call the assistant's doors for programs.

Off unless `CORS_ORIGINS` names some. Only what was asked with an access token can be
read there: cookies are never allowed (no `Access-Control-Allow-Credentials`), and what
was asked with a session gets no header that lets another page see it.
"""

import re

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.web.problems import STATUS, problem_response
from ai_assistant.web.realtime.origin import is_named

METHODS = "GET, POST, PUT, PATCH, DELETE"
EXPOSED = "Link, Location, Retry-After, WWW-Authenticate"
MAX_AGE_S = 600
ORIGIN, ASKED_METHOD, ASKED_HEADERS = (
    "Origin",
    "Access-Control-Request-Method",
    "Access-Control-Request-Headers",
)
HEADER_NAMES = re.compile(r"[\w-]{1,60}(?:\s?,\s?[\w-]{1,60}){0,30}", re.ASCII)


def preflight(request: HttpRequest) -> HttpResponse | None:
    """
    Return the answer to a browser that asks whether a page may call; else None.

    Call it before anything else: such a request carries no token.
    """
    if request.method != "OPTIONS" or ASKED_METHOD not in request.headers:
        return None
    origin = _named_origin(request)
    if not origin:
        refused = Refused(
            "origin", _("Pages of this origin are not allowed. See CORS_ORIGINS.")
        )
        response: HttpResponse = problem_response(refused)
    else:
        response = HttpResponse(status=204)
        response["Access-Control-Allow-Origin"] = origin
        response["Access-Control-Allow-Methods"] = METHODS
        response["Access-Control-Max-Age"] = str(MAX_AGE_S)
        asked = request.headers.get(ASKED_HEADERS, "")
        # Any: no header gives a right here but the token, which a page has or has not.
        if HEADER_NAMES.fullmatch(asked):
            response["Access-Control-Allow-Headers"] = asked
    patch_vary_headers(response, (ORIGIN, ASKED_METHOD, ASKED_HEADERS))
    return response


def allow(request: HttpRequest, response: HttpResponseBase) -> None:
    """Let a page of a named origin read `response`, if a token has asked for it."""
    if not conf.get("CORS_ORIGINS"):
        return
    patch_vary_headers(response, (ORIGIN,))
    origin = _named_origin(request)
    if not origin or not (_has_token(request) or _tells_nothing(response)):
        return
    response["Access-Control-Allow-Origin"] = origin
    response["Access-Control-Expose-Headers"] = EXPOSED


def _named_origin(request: HttpRequest) -> str:
    """Return the Origin of the request if the setting names it, else nothing."""
    origin = request.headers.get(ORIGIN, "")
    named = conf.get("CORS_ORIGINS")
    return origin if origin and any(is_named(origin, one) for one in named) else ""


def _has_token(request: HttpRequest) -> bool:
    """Return whether the request goes by its token, whatever cookies came along."""
    scheme, _space, _secret = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer"


def _tells_nothing(response: HttpResponseBase) -> bool:
    """Return whether it only says that somebody has to sign in."""
    return response.status_code == STATUS["signed_out"]
