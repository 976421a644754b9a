"""The usage of model calls, and the budgets for it."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Count, Model, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.admin.versions import VersionedAdmin
from ai_assistant.models.usage import VIEW_USAGE, Budget, UsageLedger


@admin.register(Budget)
class BudgetAdmin(VersionedAdmin):
    """Budgets, for users with the admin's own permissions for them."""

    list_display = ("scope", "group", "user", "window", "tokens", "usd")
    list_filter = ("scope", "window")
    list_select_related = ("group", "user")
    fields = ("scope", "group", "user", "window", "tokens", "usd")
    raw_id_fields = ("user",)


ROWS = 31  # of each table of totals


@admin.register(UsageLedger)
class UsageAdmin(ReadOnlyAdmin):
    """Model calls and their usage, with totals of the filtered rows."""

    list_display = (
        "created_at",
        "user",
        "model",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "state",
    )
    list_filter = (
        "created_at",
        ("user", admin.RelatedOnlyFieldListFilter),
        "model",
        "state",
    )
    list_select_related = ("user",)
    date_hierarchy = "created_at"
    search_fields = ("model",)
    fields = (
        "run",
        "user",
        "profile",
        "model",
        "state",
        "step_index",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "cost_usd",
        "tokens",
        "usd",
        "created_at",
        "settled_at",
    )
    user_field = "user"
    change_list_template = "ai_assistant/admin/usage_list.html"

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who may see usage and costs, while the assistant is on."""
        return conf.enabled() and request.user.has_perm(VIEW_USAGE)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add the totals by day, user and model to the list."""
        # Django's own title is about choosing one.
        title = {"title": capfirst(self.opts.verbose_name_plural)}
        response = super().changelist_view(request, {**title, **(extra_context or {})})
        data = getattr(response, "context_data", None) or {}
        if "cl" in data:  # else the address has named a filter that does not exist
            data["totals"] = usage_totals(data["cl"].queryset)
        return response


def usage_totals(rows: QuerySet[UsageLedger]) -> list[dict[str, Any]]:
    """Return tables of sums, each with a title and rows of name, calls, tokens, cost."""
    name = f"user__{get_user_model().USERNAME_FIELD}"
    unordered = rows.order_by()
    by_day = unordered.annotate(name=TruncDate("created_at"))
    return [
        {"title": _("By day"), "rows": _sums(by_day, "name", "-name")},
        {"title": _("By user"), "rows": _sums(unordered, name, "-total")},
        {"title": _("By model"), "rows": _sums(unordered, "model", "-total")},
    ]


def _sums(
    rows: QuerySet[UsageLedger, Any], field: str, order: str
) -> list[dict[str, Any]]:
    grouped = rows.values(field).annotate(
        calls=Count("pk"), total=Sum("tokens"), cost=Sum("cost_usd")
    )
    return [
        {**row, "name": row[field] or "—"} for row in grouped.order_by(order)[:ROWS]
    ]
