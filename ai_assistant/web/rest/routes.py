"""The addresses of the API, below its own prefix."""

from django.urls import path, re_path

from ai_assistant.web.rest import (
    calls,
    changes,
    conversations,
    document,
    interrupts,
    queue,
    registered,
    root,
    runs,
    usage,
)
from ai_assistant.web.rest.base import ApiView

VIEWS: tuple[tuple[str, type[ApiView], str], ...] = (
    ("", root.RootView, "api"),
    ("schema/", document.SchemaView, "api-schema"),
    ("conversations/", conversations.ConversationsView, "api-conversations"),
    ("conversations/<uuid:id>/", conversations.ConversationView, "api-conversation"),
    ("conversations/<uuid:id>/messages/", conversations.MessagesView, "api-messages"),
    ("conversations/<uuid:id>/queue/", queue.QueueView, "api-queue"),
    (
        "conversations/<uuid:id>/queue/<uuid:message>/",
        queue.QueuedView,
        "api-queued",
    ),
    ("runs/", runs.RunsView, "api-runs"),
    ("runs/<uuid:id>/", runs.RunView, "api-run"),
    ("runs/<uuid:id>/stop/", runs.StopView, "api-stop"),
    ("runs/<uuid:id>/retry/", runs.RetryView, "api-retry"),
    ("runs/<uuid:id>/events/", runs.EventsView, "api-events"),
    ("interrupts/", interrupts.InterruptsView, "api-interrupts"),
    ("interrupts/<uuid:id>/", interrupts.InterruptView, "api-interrupt"),
    ("interrupts/<uuid:id>/answer/", interrupts.AnswerView, "api-answer"),
    ("calls/", calls.CallsView, "api-calls"),
    ("calls/<uuid:id>/", calls.CallView, "api-call"),
    ("changes/", changes.ChangesView, "api-changes"),
    ("changes/<uuid:id>/", changes.ChangeView, "api-change"),
    ("changes/<uuid:id>/rows/", changes.RowsView, "api-rows"),
    ("usage/", usage.UsageView, "api-usage"),
    ("usage/sums/", usage.UsageSumsView, "api-usage-sums"),
    ("registry/", registered.RegistryView, "api-registry"),
)

urlpatterns = [
    *(path(route, view.as_view(), name=name) for route, view, name in VIEWS),
    # Anything else, with line breaks too: a problem, and not the site's own page.
    re_path(r"^[\s\S]*$", root.nothing_here),
]
