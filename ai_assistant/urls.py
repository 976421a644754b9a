"""The assistant's addresses, below a prefix of the site's choice."""

from typing import Any

from django.urls import URLPattern, include, path
from django.urls.resolvers import RoutePattern, URLResolver

from ai_assistant import conf
from ai_assistant.web import health, model_status
from ai_assistant.web.agui import routes as agui
from ai_assistant.web.panel import (
    branches,
    browser_calls,
    commands,
    conversations,
    keyboard,
    messages,
    suggestions,
    undo,
    views,
)
from ai_assistant.web.rest import routes as rest

app_name = "ai_assistant"


class _WhenEnabled(RoutePattern):
    """Matches nothing while the assistant is off: then there is no address."""

    def match(
        self, path: str
    ) -> tuple[str, tuple[Any, ...], dict[str, int | str]] | None:
        return super().match(path) if conf.enabled() else None


_routes: list[URLPattern | URLResolver] = [
    path("", views.full_view, name="full"),
    path("panel/", views.page_view, name="page"),
    path("send/", views.send_view, name="send"),
    path("stop/", views.stop_view, name="stop"),
    path("queue/", conversations.queue_view, name="queue"),
    path("retry/", views.retry_view, name="retry"),
    path("regenerate/", branches.regenerate_view, name="regenerate"),
    path("edit-message/", branches.edit_message_view, name="edit_message"),
    path("branch/", branches.branch_view, name="branch"),
    path("undo/", undo.undo_view, name="undo"),
    path("summary/", undo.summary_view, name="summary"),
    path("grants/", views.grants_view, name="grants"),
    path("answer/", views.answer_view, name="answer"),
    path("edit/", views.edit_view, name="edit"),
    path("rows/", messages.rows_view, name="rows"),
    path("whole/", views.whole_view, name="whole"),
    path("table/", messages.table_view, name="table"),
    path("message/", messages.message_view, name="message"),
    path("object/", messages.object_view, name="object"),
    path("feedback/", messages.feedback_view, name="feedback"),
    path("raw/", messages.raw_view, name="raw"),
    path("prompt/", messages.prompt_view, name="prompt"),
    path("meter/", messages.meter_view, name="meter"),
    path("palette/", commands.palette_view, name="palette"),
    path("commands/", commands.commands_view, name="commands"),
    path("new/", views.new_view, name="new"),
    path("conversations/", conversations.conversations_view, name="conversations"),
    path("conversations/change/", conversations.change_view, name="change"),
    path("conversations/rename/", conversations.rename_view, name="rename"),
    path("conversations/share/", conversations.share_view, name="share"),
    path("shared/<token>/", conversations.shared_view, name="shared_conversation"),
    path("earlier/", messages.earlier_view, name="earlier"),
    path("seen/", conversations.seen_view, name="seen"),
    path("export/", messages.export_view, name="export"),
    path("suggestions/", suggestions.suggestions_view, name="suggestions"),
    path("context/", views.context_view, name="context"),
    path("keyboard/", keyboard.keyboard_view, name="keyboard"),
    path("model/", model_status.model_view, name="model"),
    path("claim/", browser_calls.claim_view, name="claim"),
    path("result/", browser_calls.result_view, name="result"),
    path("frames/", views.frames_view, name="frames"),
    path("ws/", views.ws_view, name="ws"),
    path("agui/", include(agui.urlpatterns)),
    path("health/", health.health_view, name="health"),
    path("api/", include(rest.urlpatterns)),
]

urlpatterns = [URLResolver(_WhenEnabled("", is_endpoint=False), _routes)]
