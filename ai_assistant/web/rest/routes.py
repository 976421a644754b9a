"""
The addresses of the API, below its own prefix.

A view is imported by the first request to it: a site that nobody calls by the API has
none of Django REST framework in its memory.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("", "registered.RootView", "api"),
    ("schema/", "document.SchemaView", "api-schema"),
    ("conversations/", "conversations.ConversationsView", "api-conversations"),
    ("conversations/<uuid:id>/", "conversations.ConversationView", "api-conversation"),
    ("conversations/<uuid:id>/messages/", "conversations.MessagesView", "api-messages"),
    ("conversations/<uuid:id>/queue/", "conversations.QueueView", "api-queue"),
    (
        "conversations/<uuid:id>/queue/<uuid:message>/",
        "conversations.QueuedView",
        "api-queued",
    ),
    ("runs/", "runs.RunsView", "api-runs"),
    ("runs/<uuid:id>/", "runs.RunView", "api-run"),
    ("runs/<uuid:id>/stop/", "runs.StopView", "api-stop"),
    ("runs/<uuid:id>/retry/", "runs.RetryView", "api-retry"),
    ("runs/<uuid:id>/events/", "runs.EventsView", "api-events"),
    ("interrupts/", "interrupts.InterruptsView", "api-interrupts"),
    ("interrupts/<uuid:id>/", "interrupts.InterruptView", "api-interrupt"),
    ("interrupts/<uuid:id>/answer/", "interrupts.AnswerView", "api-answer"),
    ("calls/", "calls.CallsView", "api-calls"),
    ("calls/<uuid:id>/", "calls.CallView", "api-call"),
    ("changes/", "changes.ChangesView", "api-changes"),
    ("changes/<uuid:id>/", "changes.ChangeView", "api-change"),
    ("changes/<uuid:id>/rows/", "changes.RowsView", "api-rows"),
    ("usage/", "usage.UsageView", "api-usage"),
    ("usage/sums/", "usage.UsageSumsView", "api-usage-sums"),
    ("registry/", "registered.RegistryView", "api-registry"),
)


def _later(name: str) -> Callable[..., HttpResponse]:
    """Return a view that answers as the class of that name, or the function."""

    def view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return _view(name)(request, **kwargs)

    # It asks who calls itself; the engine's units must not lie in one of the site's.
    view.login_required = False  # type: ignore[attr-defined]
    return transaction.non_atomic_requests(csrf_exempt(view))


def load(name: str) -> Any:
    """Return what answers an address, by its name in `VIEWS`."""
    return import_string(f"ai_assistant.web.rest.{name}")


@cache
def _view(name: str) -> Callable[..., HttpResponse]:
    found = load(name)
    return found.as_view() if isinstance(found, type) else found  # type: ignore[attr-defined, no-any-return]


urlpatterns = [
    *(path(route, _later(view), name=name) for route, view, name in VIEWS),
    # Anything else, with line breaks too: a problem, and not the site's own page.
    re_path(r"^[\s\S]*$", _later("registered.nothing_here")),
]
