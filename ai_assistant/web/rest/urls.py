"""
The URLconf of the API. `REST_URLCONF` names another one, which may begin with these.

`from ai_assistant.web.rest.urls import urlpatterns as stock`: the first match counts.
"""

from importlib.util import find_spec

from django.urls import path
from django.utils.module_loading import import_string
from rest_framework.routers import SimpleRouter

from ai_assistant.web.rest.base import NoSchemaView
from ai_assistant.web.rest.caller import RootView, UsageViewSet
from ai_assistant.web.rest.calls import CallViewSet, ChangeViewSet, RowViewSet
from ai_assistant.web.rest.conversations import ConversationViewSet, MessageViewSet
from ai_assistant.web.rest.interrupts import InterruptViewSet
from ai_assistant.web.rest.messages import (
    MessageEditView,
    MessageUndoView,
    QueueViewSet,
    RunRegenerateView,
    RunShowView,
    RunSteerView,
)
from ai_assistant.web.rest.registered import CommandsView, RegistryView
from ai_assistant.web.rest.runs import NextPromptView, RunViewSet
from ai_assistant.web.rest.undo import (
    CallUndoView,
    ChangeUndoView,
    RunGoBackView,
    RunUndoView,
)

OF_CONVERSATION = "conversations/<uuid:id>"

router = SimpleRouter(use_regex_path=False)
router.register("conversations", ConversationViewSet, "conversations")
router.register(f"{OF_CONVERSATION}/messages", MessageViewSet, "conversations-messages")
router.register(f"{OF_CONVERSATION}/queue", QueueViewSet, "queue")
router.register("runs", RunViewSet, "runs")
router.register("interrupts", InterruptViewSet, "interrupts")
router.register("calls", CallViewSet, "calls")
router.register("changes", ChangeViewSet, "changes")
router.register("changes/<uuid:id>/rows", RowViewSet, "changes-rows")
router.register("usage", UsageViewSet, "usage")

schema_view = (
    import_string("ai_assistant.web.rest.schema.schema_view")
    if find_spec("drf_spectacular")
    else NoSchemaView.as_view()
)

urlpatterns = [
    path("", RootView.as_view(), name="root"),
    path("schema/", schema_view, name="schema"),
    path("registry/", RegistryView.as_view(), name="registry"),
    path("prompt/", NextPromptView.as_view(), name="prompt"),
    path("commands/", CommandsView.as_view(), name="commands"),
    path("messages/<uuid:id>/edit/", MessageEditView.as_view(), name="messages-edit"),
    path("messages/<uuid:id>/undo/", MessageUndoView.as_view(), name="messages-undo"),
    path("runs/<uuid:id>/steer/", RunSteerView.as_view(), name="runs-steer"),
    path(
        "runs/<uuid:id>/regenerate/",
        RunRegenerateView.as_view(),
        name="runs-regenerate",
    ),
    path("runs/<uuid:id>/show/", RunShowView.as_view(), name="runs-show"),
    path("runs/<uuid:id>/undo/", RunUndoView.as_view(), name="runs-undo"),
    path("runs/<uuid:id>/go-back/", RunGoBackView.as_view(), name="runs-go-back"),
    path("calls/<uuid:id>/undo/", CallUndoView.as_view(), name="calls-undo"),
    path("changes/<uuid:id>/undo/", ChangeUndoView.as_view(), name="changes-undo"),
    *router.urls,
]
