"""
Which middlewares of the site a request of a tool passes, and why not the others.

Only such as say who writes. What they need of a page, its session or its messages, a
request of a tool has of its own.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import (
    AuthenticationMiddleware,
    RemoteUserMiddleware,
)
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.module_loading import import_string

from ai_assistant import conf

# They pass without a setting; a site may add more.
KNOWN = (
    "auditlog.middleware.AuditlogMiddleware",
    "crum.CurrentRequestUserMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "easyaudit.middleware.easyaudit.EasyAuditMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
)
# They would put others in the place of what the request of a tool has.
OF_BROWSERS = (
    SessionMiddleware,
    AuthenticationMiddleware,
    RemoteUserMiddleware,
    MessageMiddleware,
    CsrfViewMiddleware,
)
Handler = Callable[[HttpRequest], Any]


class LeftOut(Exception):
    """A middleware is not passed; the text says why, in few words."""


def allowed() -> tuple[str, ...]:
    """Return the paths of the middlewares that are passed where they are installed."""
    return (*KNOWN, *conf.get("DATA", "MIDDLEWARE"))


def has_middlewares() -> bool:
    """Return whether a request of a tool passes any middleware of the site."""
    return not set(allowed()).isdisjoint(settings.MIDDLEWARE)


def through_middlewares(request: HttpRequest, view: Callable[[], Any]) -> Any:
    """Return the response to `request`, of which `view` is the view."""
    request.assistant_view = view  # type: ignore[attr-defined]
    return _chain(tuple(settings.MIDDLEWARE), allowed())(request)


@lru_cache(maxsize=8)
def _chain(installed: tuple[str, ...], allowed: tuple[str, ...]) -> Handler:
    """Return the middlewares of the site that are allowed, in its own order."""
    handler: Handler = _call_view
    for path in reversed([one for one in installed if one in allowed]):
        with suppress(LeftOut):
            handler = _around(handler, import_string(path))
    return handler


def _around(handler: Handler, middleware: Any) -> Handler:
    """Return `handler` within a middleware. Raise LeftOut where there is none."""
    if is_async_only(middleware):
        raise LeftOut("async only")
    try:
        return middleware(handler) or handler
    except MiddlewareNotUsed as error:
        raise LeftOut("raises MiddlewareNotUsed") from error


def _call_view(request: HttpRequest) -> Any:
    return request.assistant_view()  # type: ignore[attr-defined]


def is_async_only(middleware: Any) -> bool:
    """Return whether only an async view can be within a middleware."""
    return not getattr(middleware, "sync_capable", True)


def works_at_views(middleware: Any) -> bool:
    """Return whether it does something in `process_view`, which is not called."""
    return callable(getattr(middleware, "process_view", None))


def is_of_browsers(middleware: Any) -> bool:
    """Return whether it makes what the request of a tool has of its own."""
    return isinstance(middleware, type) and issubclass(middleware, OF_BROWSERS)


def extended_by(middleware: Any) -> str:
    """Return the known middleware that another one extends; empty for none."""
    return next((path for path in KNOWN if _extends(middleware, path)), "")


def _extends(middleware: Any, path: str) -> bool:
    module, _dot, name = path.rpartition(".")
    # Who extends it has imported it; the others need not have it.
    known = getattr(sys.modules.get(module), name, None)
    return (
        isinstance(middleware, type)
        and isinstance(known, type)
        and issubclass(middleware, known)
    )


def reasons_left_out() -> dict[str, str]:
    """Return why middlewares of the site are not passed, by their paths."""
    reasons = {path: _reason(path) for path in settings.MIDDLEWARE}
    return {path: reason for path, reason in reasons.items() if reason}


def _reason(path: str) -> str:
    try:
        middleware = import_string(path)
        if path not in allowed():
            return _reason_not_allowed(middleware)
        _around(_call_view, middleware)
    except LeftOut as left_out:
        return str(left_out)
    except ImportError:
        return "cannot be imported"
    except Exception as error:  # noqa: BLE001 - code of the site
        return f"fails with {type(error).__name__}"
    return ""


def _reason_not_allowed(middleware: Any) -> str:
    if is_of_browsers(middleware):
        return "a request of a tool has its own"
    known = extended_by(middleware)
    not_named = "not in DATA['MIDDLEWARE']"
    return f"extends {known}, but is {not_named}" if known else not_named
