"""Requests to pages of the admin, without a server."""

from typing import Any

from django.contrib.messages.storage.cookie import CookieStorage
from django.http import HttpRequest
from django.test import RequestFactory


def request_of(user: Any, path: str, data: dict[str, Any] | None = None) -> HttpRequest:
    """Return a GET, or a POST of `data`, of this user."""
    factory = RequestFactory(SERVER_NAME="127.0.0.1")
    request = factory.get(path) if data is None else factory.post(path, data)
    request.user = user
    request._dont_enforce_csrf_checks = True
    request._messages = CookieStorage(request)
    return request
