from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    """Conversations: who, about what, when. What was said is not shown."""

    list_display = ("__str__", "owner", "created_at", "updated_at")
    list_filter = ("updated_at",)
    list_select_related = ("owner",)
    date_hierarchy = "updated_at"
    search_fields = ("title",)
    fields = ("title", "owner", "created_at", "updated_at")
    user_field = "owner"

    def render_delete_form(
        self, request: HttpRequest, context: dict[str, Any]
    ) -> HttpResponse:
        """Say what stays, before it is deleted."""
        if ChangeSet.objects.filter(run__conversation=context["object"]).exists():
            context["subtitle"] = _("The record of what was changed is kept.")
        return super().render_delete_form(request, context)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission to delete, while the assistant is on."""
        allowed = admin.ModelAdmin.has_delete_permission(self, request, obj)
        return conf.enabled() and allowed
