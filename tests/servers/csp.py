"""A strict Content-Security-Policy on every answer, as a careful site sets it."""

import os
import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]
NONCE = "{nonce}"


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """
    Set the header to what TESTS_CSP says.

    `{nonce}` in it stands for one that the request has as `csp_nonce`, as with
    django-csp.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        policy = os.environ["TESTS_CSP"]
        if NONCE in policy:
            nonce = secrets.token_urlsafe(16)
            request.csp_nonce = nonce  # type: ignore[attr-defined]
            policy = policy.replace(NONCE, nonce)
        response = get_response(request)
        response["Content-Security-Policy"] = policy
        return response

    return middleware


def reported_policy(get_response: GetResponse) -> GetResponse:
    """Let a strict policy tell what breaks it, and forbid nothing."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Content-Security-Policy-Report-Only"] = "default-src 'self'"
        return response

    return middleware
