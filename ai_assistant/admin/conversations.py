"""Conversations with their feedback, runs and calls; all read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import AssistantAdmin, ReadOnlyAdmin
from ai_assistant.admin.prompts import PromptPages
from ai_assistant.engine.queries import has_changes
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Feedback
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.trace import trace_entry
from ai_assistant.safety.identity.permissions import may_view_prompts

NOTHING: tuple[Any, ...] = (None, "", [], {})


class ReasonFilter(admin.SimpleListFilter):
    """One of the reasons that can be ticked below an answer."""

    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer each reason."""
        return [(str(value), str(label)) for value, label in Feedback.Reason.choices]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> QuerySet[Any] | None:
        """Return the rows with this reason."""
        if self.value() not in Feedback.Reason.values:
            return queryset
        # SQLite has no `contains` for JSON; the list holds nothing but these words.
        annotated: QuerySet[Any] = queryset.alias(
            reasons_text=Cast("reasons", TextField())
        )
        return annotated.filter(reasons_text__contains=f'"{self.value()}"')


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    """Ratings of answers, with reasons. The conversation itself is not shown."""

    list_display = ("__str__", "value", "why", "text", "user", "created_at")
    list_filter = ("value", ReasonFilter, "created_at")
    list_select_related = ("user", "run")
    date_hierarchy = "created_at"
    search_fields = ("text", "=run__id")
    fields = ("value", "why", "text", "answer", "user", "created_at")
    readonly_fields = ("why", "answer")
    user_field = "user"

    @admin.display(description=_("reasons"))
    def why(self, feedback: Feedback) -> str:
        """Return the ticked reasons in words."""
        labels = dict(Feedback.Reason.choices)
        return ", ".join(str(labels.get(reason, reason)) for reason in feedback.reasons)

    @admin.display(description=_("run"))
    def answer(self, feedback: Feedback) -> SafeString:
        """Return a link to the run."""
        url = reverse(
            f"{self.admin_site.name}:ai_assistant_run_change", args=[feedback.run_id]
        )
        return format_html('<a href="{}">{}</a>', url, feedback.run)


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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Leave those of agents that were asked out of the list."""
        rows: QuerySet[Conversation] = super().get_queryset(request)
        match = request.resolver_match
        name = (match.url_name if match else None) or ""
        is_list = name.endswith("_changelist")
        return rows.filter(parent_call=None) if is_list else rows

    def render_delete_form(
        self, request: HttpRequest, context: dict[str, Any]
    ) -> HttpResponse:
        """Say what is kept, before the deletion is confirmed."""
        if has_changes(context["object"].pk):
            context["subtitle"] = _("The record of what was changed is kept.")
        return super().render_delete_form(request, context)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission to delete, while the assistant is on."""
        return AssistantAdmin.has_delete_permission(self, request, obj)


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnlyAdmin):
    """Tool calls: tool, arguments, user and result."""

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
        """Return the user of the call."""
        return str(call.run.user)


@admin.register(Run)
class RunAdmin(PromptPages, ReadOnlyAdmin):
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
        "agent",
        "root",
        "state",
        "error_code",
        "error_text",
        "error_detail",
        "hook_errors",
        "state_values",
        "opens_at",
        "attempts",
        "running_s",
        "created_at",
        "finished_at",
    )
    ordering = ("-created_at",)
    user_field = "user"
    change_form_template = "ai_assistant/admin/run.html"

    def get_fields(self, request: HttpRequest, obj: Run | None = None) -> Any:
        """Leave out what is empty, as errors mostly are."""
        fields: Any = super().get_fields(request, obj)
        return [f for f in fields if obj is None or getattr(obj, f) not in NOTHING]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add what the run did, and when; costs for who may see those of all."""
        context["trace"] = trace_entry(kwargs["obj"])
        context["shows_costs"] = self._may_view(request, UsageLedger)
        context["shows_calls"] = self._may_view(request, ToolCall)
        context["shows_prompts"] = may_view_prompts(request.user)
        return super().render_change_form(request, context, *args, **kwargs)

    def _may_view(self, request: HttpRequest, model: type[Model]) -> bool:
        page = self.admin_site._registry.get(model)
        return page is not None and page.has_view_permission(request)
