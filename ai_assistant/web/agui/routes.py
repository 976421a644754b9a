"""
The addresses for AG-UI clients.

What answers is imported by the first request: it needs the extra `agui`, and a site that
no such client calls need not have it.
"""

import asyncio
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.web.agui.authentication import program_view

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
                _("This site has no AG-UI: ag-ui-protocol is not installed."),
            )
        views = await asyncio.to_thread(import_module, "ai_assistant.web.agui.views")
        response: HttpResponseBase = await getattr(views, name)(request)
        return response

    return view


urlpatterns = [
    path(route, _later(view, method), name=name) for route, view, method, name in VIEWS
]
