from django.contrib import admin

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.run import Run


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
