"""How full budgets are now, for those who set them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet, Sum

from ai_assistant import conf
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.safety.budgets.budgets import Amount, budget_of_setting, window

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
    settings = conf.get("BUDGETS")
    named = {setting.get("user") for setting in settings} - {None, ""}
    own = {f"{get_user_model().USERNAME_FIELD}__in": named}
    users = get_user_model()._default_manager.filter(**own) if named else ()
    by_name = {user.get_username(): user for user in users}
    configured = [
        budget_of_setting(setting, by_name.get(setting.get("user")))
        for setting in settings
    ]
    rows = Budget.objects.select_related("group", "user").order_by("scope", "pk")
    return [*configured, *rows]


def fills_of(budgets: Iterable[Budget], now: datetime) -> list[list[Fill]]:
    """
    Return how full each budget is: one, or those of the users who have used most.

    None of a budget of one answer, which begins anew with each. However many budgets
    there are, each sum of a period is asked for once.
    """
    every = list(budgets)
    periods = {
        kind: _Period(
            [one for one in every if one.window == kind], window(kind, now).since
        )
        for kind in {one.window for one in every}
    }
    return [periods[one.window].fills(one) for one in every]


class _Period:
    """What was used since the period of some budgets began, counted as against them."""

    def __init__(self, budgets: list[Budget], since: datetime | None) -> None:
        rows = UsageLedger.objects.order_by()
        self._rows = rows if since is None else rows.filter(created_at__gte=since)
        self._budgets = budgets
        self._most: dict[str, list[tuple[str, Amount]]] = {}

    def fills(self, budget: Budget) -> list[Fill]:
        """Return how full one of the budgets is."""
        if budget.scope == Budget.Scope.RUN:
            return []
        if budget.scope == Budget.Scope.USER and not budget.user:
            by = "-used_usd" if budget.tokens is None else "-used_tokens"
            return [
                Fill(budget=budget, used=used, user=name)
                for name, used in self._fullest(by)
            ]
        return [Fill(budget=budget, used=self._used(budget) or Amount())]

    def _used(self, budget: Budget) -> Amount | None:
        if budget.scope == Budget.Scope.USER and budget.user:
            return self._of_users.get(budget.user.pk)
        if budget.scope == Budget.Scope.GROUP:
            return self._of_groups.get(_group_name(budget))
        return self._of_site

    @cached_property
    def _of_site(self) -> Amount:
        total = self._rows.aggregate(used_tokens=Sum("tokens"), used_usd=Sum("usd"))
        return _amount(**total)

    @cached_property
    def _of_users(self) -> dict[Any, Amount]:
        keys = {one.user.pk for one in self._budgets if one.user}
        return _sums(self._rows.filter(user__in=keys), "user_id")

    @cached_property
    def _of_groups(self) -> dict[Any, Amount]:
        groups = {_group_name(one) for one in self._budgets}
        rows = self._rows.filter(user__groups__name__in=groups)
        return _sums(rows, "user__groups__name")

    def _fullest(self, by: str) -> list[tuple[str, Amount]]:
        """Return the users who have used most, by tokens or by costs."""
        if by not in self._most:
            name = f"user__{get_user_model().USERNAME_FIELD}"
            rows = _summed(self._rows.exclude(user=None), name).order_by(by)[:FULLEST]
            self._most[by] = [(str(row.pop(name)), _amount(**row)) for row in rows]
        return self._most[by]


def _group_name(budget: Budget) -> str:
    return budget.group.name if budget.group else ""


def _summed(rows: QuerySet[UsageLedger], by: str) -> Any:
    return rows.values(by).annotate(used_tokens=Sum("tokens"), used_usd=Sum("usd"))


def _sums(rows: QuerySet[UsageLedger], by: str) -> dict[Any, Amount]:
    return {row.pop(by): _amount(**row) for row in _summed(rows, by)}


def _amount(*, used_tokens: int | None, used_usd: Decimal | None) -> Amount:
    return Amount(tokens=used_tokens or 0, usd=used_usd or Decimal(0))
