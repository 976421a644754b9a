"""Budgets: limits on tokens and money, by user and window of time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.models.row_cache import RowCache
from ai_assistant.models.usage import Budget, UsageLedger


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetWindow:
    """From `since` up to `opens_at`, which is the begin of the next; None: always."""

    since: datetime | None = None
    opens_at: datetime | None = None


def window(kind: str, now: datetime) -> BudgetWindow:
    """
    Return the minute, day or month of `now`; that of one answer has no ends.

    Days and months are those of the site's TIME_ZONE.
    """
    local = now.astimezone(timezone.get_default_timezone())
    minute = local.replace(second=0, microsecond=0)
    midnight = minute.replace(hour=0, minute=0, fold=0)
    match kind:
        case Budget.Window.MINUTE:
            # In absolute time: the clock may be put back in that minute.
            since = now.replace(second=0, microsecond=0)
            return BudgetWindow(since=since, opens_at=since + timedelta(minutes=1))
        case Budget.Window.DAY:
            return BudgetWindow(since=midnight, opens_at=midnight + timedelta(days=1))
        case Budget.Window.MONTH:
            first = midnight.replace(day=1)
            next_month = first + timedelta(days=32)
            return BudgetWindow(since=first, opens_at=next_month.replace(day=1))
        case _:
            return BudgetWindow()


budget_rows = RowCache(Budget, Budget.objects.exists)  # whether there are any


def has_budgets() -> bool:
    """Return whether there are budgets at all, in the settings or as rows."""
    return bool(conf.get("BUDGETS")) or budget_rows.get()


def limits_money() -> bool:
    """Return whether a budget limits money: then each price has to be known."""
    if any("usd" in budget for budget in conf.get("BUDGETS")):
        return True
    return Budget.objects.filter(usd__isnull=False).exists()


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """Tokens and money that are used, or needed."""

    tokens: int = 0
    usd: Decimal = Decimal(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spender:
    """Who uses something, and in which run; before there is one, None."""

    user: Any
    run_id: UUID | None = None
    chain: UUID | None = None  # the first of the runs that count as one with it
    root: UUID | None = None  # the run for which it works, asked by another agent


def budgets_for(user: Any) -> list[Budget]:
    """
    Return the budgets that hold for `user`; one query, if groups have none.

    Budgets from the settings are not rows: they have no key. A budget for this user
    alone replaces the one for every user in the same window.
    """
    rows = _rows(user) if budget_rows.get() else ()
    budgets = [*_of_settings(user), *rows]
    own_windows = {budget.window for budget in budgets if budget.user}
    return [
        budget
        for budget in budgets
        if budget.scope != Budget.Scope.USER
        or budget.user
        or budget.window not in own_windows
    ]


def used_amount(budget: Budget, spender: Spender, now: datetime) -> Amount:
    """Return what counts against a budget now, with what is reserved."""
    total = _counted(budget, spender, now).aggregate(
        tokens=Sum("tokens"), usd=Sum("usd")
    )
    return Amount(tokens=total["tokens"] or 0, usd=Decimal(total["usd"] or 0))


def _of_settings(user: Any) -> list[Budget]:
    configured = conf.get("BUDGETS")
    settings = [
        setting
        for setting in configured
        if setting.get("user") in (None, "", user.get_username())
    ]
    if any(setting.get("group") for setting in settings):
        groups = {None, "", *_groups(user).values_list("name", flat=True)}
        settings = [setting for setting in settings if setting.get("group") in groups]
    return [budget_of_setting(setting, user) for setting in settings]


def budget_of_setting(setting: Mapping[str, Any], user: Any) -> Budget:
    """Return a budget of the settings; `user` is the one that it names, if any."""
    tokens, usd = setting.get("tokens"), setting.get("usd")
    return Budget(
        scope=setting["scope"],
        window=setting["window"],
        tokens=None if tokens is None else int(tokens),
        usd=None if usd is None else Decimal(str(usd)),
        group=Group(name=setting["group"]) if setting.get("group") else None,
        user=user if setting.get("user") else None,
    )


def _rows(user: Any) -> QuerySet[Budget]:
    group_condition = Q(group=None) | Q(group__in=_groups(user))
    condition = group_condition & (Q(user=None) | Q(user_id=user.pk))
    return Budget.objects.filter(condition).select_related("group", "user")


def _groups(user: Any) -> QuerySet[Group]:
    """Return the groups of a user; a site's own user model may have none."""
    groups = getattr(user, "groups", None)
    return Group.objects.none() if groups is None else groups.all()


def _counted(budget: Budget, spender: Spender, now: datetime) -> QuerySet[UsageLedger]:
    rows = UsageLedger.objects.order_by()
    since = window(budget.window, now).since
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    match budget.scope:
        case Budget.Scope.RUN:
            return rows.filter(_of_run(spender)) if spender.run_id else rows.none()
        case Budget.Scope.USER:
            return rows.filter(user_id=spender.user.pk)
        case Budget.Scope.GROUP:
            users = get_user_model()._default_manager
            name = budget.group.name if budget.group else ""
            members = users.filter(groups__name=name)
            return rows.filter(user_id__in=members.values("pk"))
        case _:
            return rows


def _of_run(spender: Spender) -> Q:
    top = spender.root or spender.run_id
    own = Q(run_id=top) | Q(run__root=top)  # what agents use that were asked
    if spender.chain is None:
        return own
    return own | Q(run_id=spender.chain) | Q(run__chain=spender.chain)
