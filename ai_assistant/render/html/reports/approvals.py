"""What people were asked to approve, what they answered, and how long that took."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Count, F, Max, Sum
from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.approval import asked_approvals
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table, with_shares

Status = Interrupt.Status
SHOWN = (Status.APPROVED, Status.DENIED, Status.EXPIRED, Status.OPEN)
DECIDED = (Status.APPROVED, Status.DENIED)


@dataclass(kw_only=True, slots=True)
class Asked:
    """The approvals of one tool, or of one person."""

    counts: Counter[str] = field(default_factory=Counter)  # by status
    answered: int = 0
    took: timedelta = timedelta()
    longest: timedelta = timedelta()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the counted rows of one status."""
        self.counts[row["status"]] += row["count"]
        if row["took"] is not None and row["status"] in DECIDED:
            self.answered += row["count"]
            self.took += row["took"]
            self.longest = max(self.longest, row["longest"])


def approvals_tables(query: ReportQuery) -> list[Table]:
    """Return the approvals of the runs of a period, by tool and by who answered."""
    by_tool: dict[str, Asked] = defaultdict(Asked)
    by_person: dict[str, Asked] = defaultdict(Asked)
    for row in _counted(query):
        by_tool[row["tool"]].add(row)
        if row["person"]:
            by_person[row["person"]].add(row)
    return [
        _table("tools", _("By tool"), _("Tool"), by_tool),
        _table("people", _("By who answered"), _("User"), by_person),
    ]


def _counted(query: ReportQuery) -> Iterable[dict[str, Any]]:
    """Count in one go: each difference of times is a call of Python on SQLite."""
    took = F("decided_at") - F("created_at")
    rows: Any = asked_approvals(**query.of_runs("run__")).order_by()
    grouped = rows.values(
        "status",
        tool=F("call__name"),
        person=F(f"decided_by__{get_user_model().USERNAME_FIELD}"),
    )
    counted: Iterable[dict[str, Any]] = grouped.annotate(
        count=Count("pk"), took=Sum(took), longest=Max(took)
    )
    return counted


def _table(name: str, title: str, head: str, asked: Mapping[str, Asked]) -> Table:
    rows = []
    for what, one in sorted(asked.items(), key=_most_first):
        total = one.counts.total()
        counts = [one.counts[status] for status in SHOWN]
        mean = one.took.total_seconds() / one.answered if one.answered else None
        longest = one.longest.total_seconds() if one.answered else None
        rows.append((Row(values=(what, total, *counts, mean, longest)), total))
    return Table(
        name=name,
        title=title,
        columns=(
            Column(head),
            Column(_("Asked"), "count"),
            Column(_("Approved"), "count"),
            Column(_("Denied"), "count"),
            Column(_("Expired"), "count"),
            Column(_("Waiting"), "count"),
            Column(_("Mean time to answer"), "seconds"),
            Column(_("Longest"), "seconds"),
        ),
        rows=with_shares(rows),
    )


def _most_first(pair: tuple[str, Asked]) -> tuple[int, str]:
    name, one = pair
    return -one.counts.total(), name
