"""
The addresses for AG-UI clients.

What answers is imported by the first request: it needs the extra `agui`, and a site that
no such client calls need not have it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.db import transaction
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import Refused
from ai_assistant.web.cors import allow, preflight
from ai_assistant.web.problems import problem_response

View = Callable[[HttpRequest], Coroutine[Any, Any, HttpResponseBase]]


def program_view(method: str) -> Callable[[View], View]:
    """
    Answer one method; a Refused becomes its problem, as JSON.

    The view itself asks who calls: CSRF is checked there, for those with a session.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        async def answered(request: HttpRequest) -> HttpResponseBase:
            if not conf.enabled():
                raise Http404
            if told := preflight(request):
                return told
            response = await _answered(request, view, method)
            allow(request, response)
            return response

        # ATOMIC_REQUESTS takes no async views; the engine has units of its own.
        return transaction.non_atomic_requests(csrf_exempt(answered))

    return decorate


async def _answered(request: HttpRequest, view: View, method: str) -> HttpResponseBase:
    try:
        if request.method != method:
            raise _not_this(request, method)
        if not isinstance(request, ASGIRequest):
            raise _no_asgi()
        return await view(request)
    except Refused as refused:
        return await in_db(_answer, refused, method)


def _answer(refused: Refused, method: str) -> HttpResponseBase:
    response = problem_response(refused)
    if refused.code == "method":
        response["Allow"] = method
    return response


def _no_asgi() -> Refused:
    return Refused(
        "needs_asgi",
        _("This server cannot stream answers. Serve it with ASGI, or use the API."),
    )


def _not_this(request: HttpRequest, method: str) -> Refused:
    return Refused(
        "method",
        _("%(method)s is not allowed here; use %(other)s.")
        % {"method": request.method, "other": method},
    )


INSTALL = "pip install 'ai-assistant[agui]'"
VIEWS = (
    ("", "run_view", "POST", "agui"),
    ("history/", "history_view", "GET", "agui_history"),
    ("stream/", "stream_view", "GET", "agui_stream"),
    ("capabilities/", "capabilities_view", "GET", "agui_capabilities"),
)


def is_installed() -> bool:
    """Tell whether the vocabulary of AG-UI is there."""
    return find_spec("ag_ui") is not None


def _later(name: str, method: str) -> Callable[..., Any]:
    """Return a view that answers as the one of that name."""

    @program_view(method)
    async def view(request: HttpRequest) -> HttpResponseBase:
        if not is_installed():
            raise Refused(
                "needs_agui",
                _("AG-UI is not available: ag-ui-protocol is not installed."),
            )
        views = await asyncio.to_thread(import_module, "ai_assistant.web.agui.views")
        response: HttpResponseBase = await getattr(views, name)(request)
        return response

    return view


urlpatterns = [
    path(route, _later(view, method), name=name) for route, view, method, name in VIEWS
]
