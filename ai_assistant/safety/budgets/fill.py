"""How full budgets are now, for those who set them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet, Sum

from ai_assistant import conf
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.safety.budgets.budgets import (
    Amount,
    Spender,
    budget_of_setting,
    used_amount,
    window,
)

FULLEST = 5  # users of a budget that each has for themselves


@dataclass(frozen=True, kw_only=True, slots=True)
class Fill:
    """What is used of a budget in its period; `user` is whose, of one that each has."""

    budget: Budget
    used: Amount
    user: str = ""

    @property
    def share(self) -> float:
        """How much of it is used, 1 for all; of tokens or money what is more."""
        tokens, usd = self.budget.tokens, self.budget.usd
        shares = [self.used.tokens / tokens] if tokens else []
        shares += [float(self.used.usd / usd)] if usd else []
        return max(shares, default=0.0)


def all_budgets() -> list[Budget]:
    """Return the budgets of the settings, which have no key, and the rows."""
    name = get_user_model().USERNAME_FIELD
    users = get_user_model()._default_manager
    configured = [
        budget_of_setting(setting, users.filter(**{name: setting.get("user")}).first())
        for setting in conf.get("BUDGETS")
    ]
    rows = Budget.objects.select_related("group", "user").order_by("scope", "pk")
    return [*configured, *rows]


def fills_of(budget: Budget, now: datetime) -> list[Fill]:
    """
    Return how full a budget is: one, or those of the users who have used most.

    None of a budget of one answer, which begins anew with each.
    """
    if budget.scope == Budget.Scope.RUN:
        return []
    if budget.scope != Budget.Scope.USER or budget.user:
        used = used_amount(budget, Spender(user=budget.user), now)
        return [Fill(budget=budget, used=used)]
    name = get_user_model().USERNAME_FIELD
    counted: QuerySet[Any] = UsageLedger.objects.order_by().exclude(user=None)
    if (since := window(budget.window, now).since) is not None:
        counted = counted.filter(created_at__gte=since)
    by = "-used_usd" if budget.tokens is None else "-used_tokens"
    summed = counted.values(f"user__{name}").annotate(
        used_tokens=Sum("tokens"), used_usd=Sum("usd")
    )
    return [
        Fill(
            budget=budget,
            used=Amount(tokens=row["used_tokens"], usd=row["used_usd"]),
            user=str(row[f"user__{name}"]),
        )
        for row in summed.order_by(by)[:FULLEST]
    ]
