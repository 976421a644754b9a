"""A strict Content-Security-Policy on every answer, as a careful site sets it."""

import os
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Set the header to what TESTS_CSP says."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Content-Security-Policy"] = os.environ["TESTS_CSP"]
        return response

    return middleware
