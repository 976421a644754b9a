"""Tokens and costs, by day, user, group, model, module, agent and tool."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max, QuerySet, Sum
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.daily import (
    DAY,
    live_sums,
    local_day,
    summed_until,
)
from ai_assistant.models import clock
from ai_assistant.models.usage import DailyUsage
from ai_assistant.render.html.reports.query import ReportQuery, has_groups
from ai_assistant.render.html.reports.table import (
    Column,
    Row,
    Table,
    columns_of_chart,
    money,
    with_shares,
)
from ai_assistant.render.html.transcript.entries import Entry

ADDED = (
    *("calls", "failed", "unpriced", "input_tokens", "output_tokens", "cost_usd"),
    *("timed", "seconds"),
)


@dataclass(kw_only=True, slots=True)
class UsageSum:
    """What was used, of one name."""

    calls: int = 0
    failed: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    timed: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0

    @property
    def known_usd(self) -> Decimal | None:
        """The cost, or None if no price of it is known."""
        is_known = not self.calls or self.unpriced < self.calls or self.cost_usd
        return self.cost_usd if is_known else None

    @property
    def mean_s(self) -> float | None:
        """The mean time of a call, or None if none is known."""
        return self.seconds / self.timed if self.timed else None

    def add(self, **columns: Any) -> None:
        """Add what other rows have summed."""
        for name in ADDED:
            setattr(self, name, getattr(self, name) + (columns[name] or 0))
        self.longest_s = max(self.longest_s, columns["longest_s"] or 0.0)


def usage_names() -> dict[str, str]:
    """Return what usage is told by, with its label."""
    names = {
        "day": _("Day"),
        "user": _("User"),
        "group": _("Group"),
        "model": _("Model"),
        "module": _("Module"),
        "agent": _("Agent"),
        "tool": _("Tool"),
    }
    if not has_groups():
        del names["group"]
    return names


def lately_called() -> list[str]:
    """Return the names of the models of the last days; not looked for in all rows."""
    return UsageReport(ReportQuery.read({})).names()["model"]


class UsageReport:
    """What was used in a period, of what its filters leave."""

    def __init__(self, query: ReportQuery) -> None:
        self.query = query
        self._found: dict[str, dict[Any, UsageSum]] = {}  # by the column

    def table(self, by: str, path: str) -> Table:
        """Return what was used by `by`, what cost most first; days go by their date."""
        label = usage_names()[by]
        rows = [
            (_row(self.query, by, path, name, one), _weight(one))
            for name, one in self.sums(by)
        ]
        calls = _("Calls of the tool") if by == "tool" else _("Model calls")
        note = {
            "group": _("Who is in several groups counts in each of them."),
            "tool": _("Each tool has its share of the model calls that asked for it."),
        }
        return Table(
            name=by,
            title=label,
            columns=(
                Column(label, "time" if by == "day" else "text"),
                Column(calls, "count"),
                Column(_("Input tokens"), "count"),
                Column(_("Output tokens"), "count"),
                Column(_("Cost in USD"), "money"),
            ),
            rows=with_shares(rows),
            note=note.get(by, ""),
        )

    def chart(self) -> Entry:
        """Return the columns of the days, and what the whole period took."""
        query, by_day = self.query, dict(self.sums("day"))
        is_cost = any(one.cost_usd for one in by_day.values())
        whole = UsageSum()
        days = []
        for number in range((query.last - query.first).days + 1):
            day = query.first + timedelta(days=number)
            one = by_day.get(day) or UsageSum()
            whole.add(**_columns_of(one))
            amount = one.cost_usd if is_cost else one.input_tokens + one.output_tokens
            said = money(amount) if is_cost else str(amount)
            days.append((f"{date_format(day)}: {said}", amount))
        return {
            "columns": list(columns_of_chart(days)),
            "title": _("Cost in USD by day") if is_cost else _("Tokens by day"),
            "calls": whole.calls,
            "tokens": whole.input_tokens + whole.output_tokens,
            "cost": whole.known_usd,
            "unpriced": whole.unpriced,
        }

    def sums(self, by: str) -> list[tuple[Any, UsageSum]]:
        """Return name and sum, of the days that are kept and of those that are not."""
        if by == "group":
            return sorted(self._of_groups().items(), key=_by_weight)
        if by == "user":
            return _named_users(self._sums("user_id"))
        order = _by_day if by == "day" else _by_weight
        return sorted(self._sums(by).items(), key=order)

    def names(self) -> dict[str, list[str]]:
        """Return the models, modules and agents of the period, to choose from."""
        kept = self._days().filter(tool="").order_by()
        rows = set(kept.values_list("model", "module", "agent").distinct())
        rows |= {(one.model, one.module, one.agent) for one in self._live}
        names = ("model", "module", "agent")
        return {
            name: sorted({row[place] for row in rows} - {""})
            for place, name in enumerate(names)
        }

    def _days(self) -> QuerySet[DailyUsage]:
        query = self.query
        return DailyUsage.objects.filter(day__gte=query.first, day__lte=query.last)

    def _sums(self, key: str) -> dict[Any, UsageSum]:
        if key not in self._found:
            sums: dict[Any, UsageSum] = defaultdict(UsageSum)
            for row in self._kept(key):
                sums[row[key]].add(**row)
            for one in self._live_of(key):
                sums[getattr(one, key)].add(**_columns_of(one))
            self._found[key] = sums
        return self._found[key]

    def _kept(self, key: str) -> QuerySet[Any]:
        rows = self._days()
        rows = rows.exclude(tool="") if self._is_of_tools(key) else self._of_tool(rows)
        for name in ("model", "module", "agent"):
            if value := getattr(self.query, name):
                rows = rows.filter(**{name: value})
        if (users := self.query.users()) is not None:
            rows = rows.filter(user__in=users)
        sums: Any = {name: Sum(name) for name in ADDED}
        grouped: Any = rows.order_by().values(key)
        kept: QuerySet[Any] = grouped.annotate(**sums, longest_s=Max("longest_s"))
        return kept

    def _is_of_tools(self, key: str) -> bool:
        return key == "tool" and not self.query.tool

    def _of_tool(self, rows: QuerySet[DailyUsage]) -> QuerySet[DailyUsage]:
        return rows.filter(tool=self.query.tool)

    @cached_property
    def _live(self) -> list[DailyUsage]:
        """The sums of the days that are not kept yet: today's at least."""
        until = summed_until()
        first = self.query.first
        first = first if until is None else max(first, until + DAY)
        last = min(self.query.last, local_day(clock.now()))
        return live_sums(first, last) if first <= last else []

    @cached_property
    def _users(self) -> set[Any] | None:
        users = self.query.users()
        return None if users is None else set(users.values_list("pk", flat=True))

    def _live_of(self, key: str) -> Iterator[DailyUsage]:
        query, is_of_tools = self.query, self._is_of_tools(key)
        for one in self._live:
            fits = bool(one.tool) if is_of_tools else one.tool == query.tool
            for name in ("model", "module", "agent"):
                fits = fits and getattr(query, name) in ("", getattr(one, name))
            if fits and (self._users is None or one.user_id in self._users):
                yield one

    def _of_groups(self) -> dict[str | None, UsageSum]:
        """Return the sums of groups, by those of their users: that is quicker."""
        groups = self._groups()
        sums: dict[str | None, UsageSum] = defaultdict(UsageSum)
        for user, one in self._sums("user_id").items():
            for name in groups.get(user) or [None]:
                sums[name].add(**_columns_of(one))
        return sums

    def _groups(self) -> dict[Any, list[str | None]]:
        """Return the groups of each user, or the one that is asked for."""
        members = get_user_model()._default_manager.exclude(groups=None).order_by()
        if self.query.group:
            members = members.filter(groups__name=self.query.group)
        found: dict[Any, list[str | None]] = defaultdict(list)
        for user, name in members.values_list("pk", "groups__name"):
            found[user].append(name)
        return found


def _columns_of(one: UsageSum | DailyUsage) -> dict[str, Any]:
    return {name: getattr(one, name) for name in (*ADDED, "longest_s")}


def _named_users(sums: dict[Any, UsageSum]) -> list[tuple[str, UsageSum]]:
    name = get_user_model().USERNAME_FIELD
    users = get_user_model()._default_manager.filter(
        pk__in=[key for key in sums if key]
    )
    names = dict(users.values_list("pk", name))
    named = [(str(names.get(key, "")), one) for key, one in sums.items()]
    return sorted(named, key=_by_weight)


def _weight(one: UsageSum) -> Any:
    """Return what makes the bar: the cost, or tokens where no price is known."""
    return one.cost_usd or (one.input_tokens + one.output_tokens) / Decimal(10**9)


def _by_weight(pair: tuple[Any, UsageSum]) -> Any:
    name, one = pair
    return (-_weight(one), -one.calls, str(name))


def _by_day(pair: tuple[Any, UsageSum]) -> int:
    day: date = pair[0]
    return -day.toordinal()


def _row(query: ReportQuery, by: str, path: str, name: Any, one: UsageSum) -> Row:
    if by == "day":
        chosen = {"first": name, "last": name, "by": "user"}
    else:
        chosen = {by: name, "by": "day"}
    url = f"{path}?{query.address(**chosen)}" if name else ""
    values = (
        name or None,
        one.calls,
        one.input_tokens,
        one.output_tokens,
        one.known_usd,
    )
    return Row(values=values, url=url)
