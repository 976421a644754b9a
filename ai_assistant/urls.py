"""The assistant's addresses, below a prefix of the site's choice."""

from typing import Any

from django.urls import URLPattern, include, path
from django.urls.resolvers import RoutePattern, URLResolver

from ai_assistant import conf
from ai_assistant.web import browser, health, views
from ai_assistant.web.agui import views as agui
from ai_assistant.web.rest import routes

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
    path("retry/", views.retry_view, name="retry"),
    path("answer/", views.answer_view, name="answer"),
    path("edit/", views.edit_view, name="edit"),
    path("whole/", views.whole_view, name="whole"),
    path("new/", views.new_view, name="new"),
    path("conversations/", views.conversations_view, name="conversations"),
    path("context/", views.context_view, name="context"),
    path("claim/", browser.claim_view, name="claim"),
    path("result/", browser.result_view, name="result"),
    path("frames/", views.frames_view, name="frames"),
    path("ws/", views.ws_view, name="ws"),
    path("agui/", agui.run_view, name="agui"),
    path("agui/history/", agui.history_view, name="agui_history"),
    path("agui/stream/", agui.stream_view, name="agui_stream"),
    path("agui/capabilities/", agui.capabilities_view, name="agui_capabilities"),
    path("health/", health.health_view, name="health"),
    path("api/", include(routes.urlpatterns)),
]

urlpatterns = [URLResolver(_WhenEnabled("", is_endpoint=False), _routes)]
