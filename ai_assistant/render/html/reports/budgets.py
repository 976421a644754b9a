"""How full the budgets are."""

from typing import Any

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.models import clock
from ai_assistant.models.usage import Budget
from ai_assistant.render.html.reports.table import Column, Row, Table
from ai_assistant.safety.budgets.budgets import window
from ai_assistant.safety.budgets.fill import Fill, all_budgets, fills_of


def budgets_table(*, site: str) -> Table:
    """Return each budget with what is used of it now; those of the settings too."""
    now = clock.now()
    budgets, nothing = all_budgets(), [None]
    rows = [
        _row(budget, fill, window(budget.window, now).opens_at, site)
        for budget, fills in zip(budgets, fills_of(budgets, now), strict=True)
        for fill in fills or nothing
    ]
    return Table(
        name="budgets",
        title=_("Budgets"),
        columns=(
            Column(_("Budget")),
            Column(_("Used"), "percent"),
            Column(_("Tokens"), "count"),
            Column(_("of"), "count"),
            Column(_("Cost in USD"), "usd"),
            Column(_("of"), "usd"),
            Column(_("Opens again"), "time"),
        ),
        rows=rows,
        note=_("Of a budget that each user has, those are shown who have used most."),
    )


def _row(budget: Budget, fill: Fill | None, opens_at: Any, site: str) -> Row:
    whose = fill.user if fill and fill.user else _whose(budget)
    name = f"{whose}, {budget.get_window_display()}"
    url = ""
    if budget.pk:
        url = reverse(f"{site}:ai_assistant_budget_change", args=[budget.pk])
    else:
        name += f" ({_('settings')})"
    share = fill.share * 100 if fill else None
    tokens, cost = (fill.used.tokens, fill.used.usd) if fill else (None, None)
    return Row(
        values=(name, share, tokens, budget.tokens, cost, budget.usd, opens_at),
        url=url,
        share=min(fill.share, 1.0) if fill else None,
    )


def _whose(budget: Budget) -> str:
    if budget.user:
        return str(budget.user)
    return budget.group.name if budget.group else capfirst(budget.get_scope_display())
