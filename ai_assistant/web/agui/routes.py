"""
The addresses for AG-UI clients.

The views are imported by the first request: they need the extra `agui`, which a site
without such clients need not have.
"""

import asyncio
from collections.abc import Callable
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

INSTALL = "pip install 'ai-assistant[agui]'"
VIEWS = (
    ("", "run_view", "POST", "agui"),
    ("history/", "history_view", "GET", "agui_history"),
    ("stream/", "stream_view", "GET", "agui_stream"),
    ("capabilities/", "capabilities_view", "GET", "agui_capabilities"),
)


def is_installed() -> bool:
    """Return whether the AG-UI package is installed."""
    return find_spec("ag_ui") is not None


def _view(name: str, method: str) -> Callable[..., Any]:
    """
    Return a view that answers `method` with the view of that name.

    A Refused becomes its problem, as JSON. The view itself identifies the caller, and
    checks CSRF for those with a session.
    """

    async def view(request: HttpRequest) -> HttpResponseBase:
        if not conf.enabled():
            raise Http404
        if preflight_response := preflight(request):
            return preflight_response
        try:
            response = await _answer(request, name, method)
        except Refused as refused:
            response = await in_db(_problem, refused, method)
        allow(request, response)
        return response

    # ATOMIC_REQUESTS takes no async views; the engine has units of its own.
    return transaction.non_atomic_requests(csrf_exempt(view))


async def _answer(request: HttpRequest, name: str, method: str) -> HttpResponseBase:
    if request.method != method:
        raise Refused(
            "method",
            _("%(method)s is not allowed here; use %(other)s.")
            % {"method": request.method, "other": method},
        )
    if not isinstance(request, ASGIRequest):
        raise Refused(
            "needs_asgi",
            _("This server cannot stream answers. Serve it with ASGI, or use the API."),
        )
    if not is_installed():
        raise Refused(
            "needs_agui", _("AG-UI is not available: ag-ui-protocol is not installed.")
        )
    views = await asyncio.to_thread(import_module, "ai_assistant.web.agui.views")
    response: HttpResponseBase = await getattr(views, name)(request)
    return response


def _problem(refused: Refused, method: str) -> HttpResponseBase:
    response = problem_response(refused)
    if refused.code == "method":
        response["Allow"] = method
    return response


urlpatterns = [
    path(route, _view(view, method), name=name) for route, view, method, name in VIEWS
]
