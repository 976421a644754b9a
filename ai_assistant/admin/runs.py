"""Runs and their calls."""

from django.contrib import admin

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnlyAdmin):
    """Tool calls: which tool, with what, for whom, and what came out."""

    list_display = ("name", "status", "user", "effect", "created_at", "reason", "run")
    list_filter = ("status", "effect", "approved", "created_at", "name")
    list_select_related = ("run__user",)
    date_hierarchy = "created_at"
    search_fields = ("name", "=run__id")
    fields = (
        "run",
        "user",
        "parent",
        "name",
        "effect",
        "status",
        "reason",
        "asks_because",
        "approved",
        "arguments",
        "error",
        "result",
        "created_at",
        "started_at",
        "finished_at",
    )
    readonly_fields = ("user",)
    ordering = ("-created_at",)
    user_field = "run__user"

    @admin.display(ordering="run__user")
    def user(self, call: ToolCall) -> str:
        """Return for whom it was."""
        return str(call.run.user)


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs: their state, and why they ended as they did."""

    list_display = ("id", "state", "user", "conversation", "error_code", "created_at")
    list_filter = ("state", "created_at")
    list_select_related = ("user", "conversation")
    date_hierarchy = "created_at"
    search_fields = ("id", "error_code")
    fields = (
        "conversation",
        "user",
        "kind",
        "continues",
        "page_path",
        "profile",
        "state",
        "error_code",
        "error_text",
        "error_detail",
        "opens_at",
        "attempts",
        "running_s",
        "created_at",
        "finished_at",
    )
    ordering = ("-created_at",)
    user_field = "user"
