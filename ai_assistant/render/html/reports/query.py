"""What a report is asked for: a period and filters, as they stand in its address."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from ai_assistant.engine.accounting.daily import DAY, local_day, midnight
from ai_assistant.models import clock

DAYS = 30  # of which a report tells if nothing else is asked for
MOST_DAYS = 3660
# Of these a user's own name and that of a group are looked up.
FILTERS = ("user", "group", "model", "module", "agent", "tool")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportQuery:
    """From the `first` day to the `last`, both included; an empty filter is none."""

    first: date
    last: date
    by: str = ""
    user: str = ""
    group: str = ""
    model: str = ""
    module: str = ""
    agent: str = ""
    tool: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "ReportQuery":
        """Return what an address asks for; what is no date is as if it were not there."""
        today = local_day(clock.now())
        last = _date(given.get("last")) or today
        first = _date(given.get("first")) or last - timedelta(days=DAYS - 1)
        first, last = min(first, last), max(first, last)
        first = max(first, last - timedelta(days=MOST_DAYS))
        words = {name: str(given.get(name, "")).strip() for name in (*FILTERS, "by")}
        return cls(first=first, last=last, **words)

    def address(self, **changed: Any) -> str:
        """Return the part of an address behind `?` that asks for this, or what differs."""
        return urlencode({k: v for k, v in (asdict(self) | changed).items() if v})

    @property
    def since(self) -> Any:
        """The moment at which the period begins."""
        return midnight(self.first)

    @property
    def until(self) -> Any:
        """The moment at which it is over."""
        return midnight(self.last + DAY)

    def of_runs(self, prefix: str = "") -> dict[str, Any]:
        """Return the conditions of runs, or of rows that name theirs by `prefix`."""
        found: dict[str, Any] = {"created_at__gte": self.since}
        found["created_at__lt"] = self.until
        for name in ("module", "agent"):
            if value := getattr(self, name):
                found[name] = value
        if (users := self.users()) is not None:
            found["user__in"] = users
        return {f"{prefix}{name}": value for name, value in found.items()}

    def users(self) -> Any:
        """Return the keys of the users who are meant; None: of all."""
        users = get_user_model()._default_manager.order_by()
        named: dict[str, Any] = {}
        if self.user:
            named[get_user_model().USERNAME_FIELD] = self.user
        if self.group and has_groups():
            named["groups__name"] = self.group
        return users.filter(**named).values("pk") if named else None


def has_groups() -> bool:
    """Return whether the users of the site are in groups."""
    return hasattr(get_user_model(), "groups")


def group_names() -> list[str]:
    """Return the names of all groups."""
    if not has_groups():
        return []
    return list(Group.objects.order_by("name").values_list("name", flat=True))


def _date(text: Any) -> date | None:
    try:
        found = parse_date(str(text or ""))
    except ValueError:
        return None
    # Its neighbours have to be dates too.
    return found if found and date(1971, 1, 1) < found < date(9000, 1, 1) else None
