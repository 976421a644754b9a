"""How much of tokens and money may be used, by whom, in what time."""

from dataclasses import dataclass, replace
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
            later = first + timedelta(days=32)
            return BudgetWindow(since=first, opens_at=later.replace(day=1))
        case _:
            return BudgetWindow()


budget_rows = RowCache(Budget, Budget.objects.exists)  # whether there are any


def has_budgets() -> bool:
    """Tell whether there are budgets at all, in the settings or as rows."""
    return bool(conf.get("BUDGETS")) or budget_rows.get()


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """Tokens and money; of a budget, None is: not limited."""

    tokens: int | None = None
    usd: Decimal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """A budget as it holds for one user: `most` in a window, of a scope."""

    scope: str
    window: str
    most: Amount
    group: str = ""
    user: str = ""  # its name, if the budget is for this user alone
    is_row: bool = False  # kept in the admin; else it stands in the settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Spender:
    """Who uses something, and in which run; before there is one, None."""

    user: Any
    run_id: UUID | None = None


def allowances(user: Any) -> list[Allowance]:
    """
    Return the budgets that hold for `user`; one query, if groups have none.

    A budget for this user alone takes the place of that for each user in the same
    time.
    """
    rows = map(_of_row, _rows(user)) if budget_rows.get() else ()
    found = [*_of_setting(user), *rows]
    own = {one.window for one in found if one.user}
    return [
        one
        for one in found
        if one.scope != Budget.Scope.USER or one.user or one.window not in own
    ]


def used_amount(allowance: Allowance, spender: Spender, now: datetime) -> Amount:
    """Return what counts against a budget now, with what is reserved."""
    total = _counted(allowance, spender, now).aggregate(
        tokens=Sum("tokens"), usd=Sum("usd")
    )
    return Amount(tokens=total["tokens"] or 0, usd=Decimal(total["usd"] or 0))


def allowance_of(budget: dict[str, Any]) -> Allowance:
    """Return one budget of AI_ASSISTANT['BUDGETS'], or of a row."""
    tokens, usd = budget.get("tokens"), budget.get("usd")
    return Allowance(
        scope=str(budget["scope"]),
        window=str(budget["window"]),
        most=Amount(
            tokens=None if tokens is None else int(tokens),
            usd=None if usd is None else Decimal(str(usd)),
        ),
        group=str(budget.get("group", "")),
        user=str(budget.get("user", "")),
    )


def _of_setting(user: Any) -> list[Allowance]:
    found = [allowance_of(budget) for budget in conf.get("BUDGETS")]
    name = user.get_username()
    mine = [one for one in found if not one.user or one.user == name]
    if any(one.group for one in mine):
        groups = set(_groups(user).values_list("name", flat=True))
        mine = [one for one in mine if not one.group or one.group in groups]
    return mine


def _rows(user: Any) -> QuerySet[Budget]:
    whose = Q(group=None) | Q(group__in=_groups(user))
    mine = whose & (Q(user=None) | Q(user_id=user.pk))
    return Budget.objects.filter(mine).select_related("group", "user")


def _groups(user: Any) -> QuerySet[Group]:
    """Return the groups of a user; a site's own user model may have none."""
    own = getattr(user, "groups", None)
    return Group.objects.none() if own is None else own.all()


def _of_row(row: Budget) -> Allowance:
    return replace(allowance_of(row.as_setting()), is_row=True)


def _counted(
    allowance: Allowance, spender: Spender, now: datetime
) -> QuerySet[UsageLedger]:
    rows = UsageLedger.objects.order_by()
    since = window(allowance.window, now).since
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    match allowance.scope:
        case Budget.Scope.RUN:
            return rows.filter(run_id=spender.run_id) if spender.run_id else rows.none()
        case Budget.Scope.USER:
            return rows.filter(user_id=spender.user.pk)
        case Budget.Scope.GROUP:
            users = get_user_model()._default_manager
            members = users.filter(groups__name=allowance.group)
            return rows.filter(user_id__in=members.values("pk"))
        case _:
            return rows
