"""The usage of model calls, and the budgets for it."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.admin.lists.decorated import (
    NOTHING,
    ListedAdmin,
    cost_text,
    sees_costs,
)
from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.models import clock
from ai_assistant.models.usage import VIEW_USAGE, Budget, UsageLedger
from ai_assistant.render.html.reports.table import shown
from ai_assistant.render.html.reports.usage import lately_called
from ai_assistant.safety.budgets.fill import Fill, fills_of
from ai_assistant.safety.budgets.texts import amount_words

BUDGET_HELP = {
    "scope": gettext_lazy(
        "The whole site and a group share one budget; each user and each answer has "
        "one of their own."
    ),
    "group": gettext_lazy("For the budget of a group; otherwise leave it empty."),
    "user": gettext_lazy(
        "With “each user”: only this one, in place of the budget that all have."
    ),
    "window": gettext_lazy("By the clock of the site. An answer has its own period."),
    "tokens": gettext_lazy("In and out together. Empty: not limited."),
    "usd": gettext_lazy("Counts calls whose price is known. Empty: not limited."),
}


@admin.register(Budget)
class BudgetAdmin(VersionedAdmin):
    """Budgets, for users with the admin's own permissions for them."""

    list_filter = ("scope", "window")
    list_select_related = ("group", "user")
    fields = ("scope", "group", "user", "window", "tokens", "usd")
    raw_id_fields = ("user",)
    when_empty = gettext_lazy(
        "No budget was added here yet. One limits the tokens or the costs of the "
        "whole site, of a group, or of each user."
    )

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns; what is used only for who may see it."""
        used = ("used",) if sees_costs(request) else ()
        return ("whose", "window", "limit", *used, "changed")

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Let the rows of a page get what is used of them: all by the same queries."""
        found = super().get_changelist_instance(request)
        if sees_costs(request):
            rows: list[Any] = list(found.result_list)
            for row, fills in zip(rows, fills_of(rows, clock.now()), strict=True):
                row.fills = fills
            found.result_list = rows
        return found

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Say what belongs into each field."""
        kwargs.setdefault("help_text", BUDGET_HELP.get(db_field.name, ""))
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    @admin.display(description=gettext_lazy("whose budget"), ordering="scope")
    def whose(self, budget: Budget) -> str:
        """Return whose budget it is."""
        own = budget.user or budget.group
        return str(own) if own else capfirst(budget.get_scope_display())

    @admin.display(description=gettext_lazy("limit"))
    def limit(self, budget: Budget) -> str:
        """Return how much it allows."""
        return amount_words(budget)

    @admin.display(description=gettext_lazy("used"))
    def used(self, budget: Any) -> str | SafeString:
        """Return a bar of what is used now: of several users, of who has used most."""
        if not budget.fills:
            return NOTHING
        fullest: Fill = max(budget.fills, key=lambda fill: fill.share)
        share = shown("percent", fullest.share * 100)
        text = f"{share}, {fullest.user}" if fullest.user else share
        return format_html(
            '<span class="aia-fill"><svg viewBox="0 0 1000 10" '
            'preserveAspectRatio="none" aria-hidden="true">'
            '<rect width="{}" height="10"></rect></svg> {}</span>',
            round(min(fullest.share, 1.0) * 1000),
            text,
        )


class ModelFilter(admin.SimpleListFilter):
    """A model that was called lately: not looked for in all rows."""

    title = gettext_lazy("model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer those of the last days, and the one that is asked for."""
        names = {*lately_called()}
        names.add(self.used_parameters.get(self.parameter_name, ""))
        return [(name, name) for name in sorted(filter(None, names))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the calls of the model."""
        return queryset.filter(model=self.value()) if self.value() else queryset


@admin.register(UsageLedger)
class UsageAdmin(ListedAdmin):
    """Model calls and their usage. The reports sum them."""

    list_display = (
        *("model", "user", "created_at", "input_tokens", "output_tokens", "cost"),
        *("state", "run_link"),
    )
    list_filter = ("created_at", ModelFilter, "state")
    list_select_related = ("user",)
    search_fields = ("=model",)
    search_help_text = gettext_lazy("A user, or the name of a model.")
    fields = (
        "run_link",
        "user",
        "profile",
        "model",
        "state",
        "step_index",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "cost",
        "created_at",
        "settled_at",
    )
    readonly_fields = ("run_link", "cost")
    user_field = "user"
    when_empty = gettext_lazy("No model was called yet.")
    change_list_template = "ai_assistant/admin/usage_list.html"

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who may see usage and costs, while the assistant is on."""
        return conf.enabled() and request.user.has_perm(VIEW_USAGE)

    @admin.display(description=gettext_lazy("cost in USD"), ordering="cost_usd")
    def cost(self, row: UsageLedger) -> str:
        """Return what the call has cost."""
        return cost_text(row.cost_usd)

    @admin.display(description=gettext_lazy("run"))
    def run_link(self, row: UsageLedger) -> SafeString | str:
        """Return a link to the run, while there is one."""
        return self.link("run", row.run_id, _("Open")) if row.run_id else NOTHING
