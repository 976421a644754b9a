from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern, path

from project.discover.models import LogLine
from project.discover.views import ExploreView


@admin.register(LogLine)
class LogLineAdmin(admin.ModelAdmin):
    """Log lines, which nobody changes; the explorer is a page beside the list."""

    list_display = ("time", "level", "service", "message", "status", "duration_ms")
    list_filter = ("level", "service")
    search_fields = ("message",)
    date_hierarchy = "time"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: LogLine | None = None
    ) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        explore = self.admin_site.admin_view(ExploreView.as_view())
        return [
            path("explore/", explore, name="discover_logline_explore"),
            *super().get_urls(),
        ]
