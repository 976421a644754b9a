"""How much was changed, and how much of that was undone."""

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table, with_shares

NEWEST = 25


def undo_tables(query: ReportQuery, *, site: str) -> list[Table]:
    """Return the changes by tool, and the newest undos."""
    rows: Any = ChangeSet.objects.filter(
        created_at__gte=query.since, created_at__lt=query.until
    )
    if (users := query.users()) is not None:
        rows = rows.filter(user__in=users)
    for name in ("module", "agent"):
        if value := getattr(query, name):
            rows = rows.filter(**{f"run__{name}": value})
    return [_by_tool(rows), _newest(rows, site)]


def _by_tool(rows: Any) -> Table:
    undone = RowChange.objects.filter(change_set=OuterRef("pk"))
    undone = undone.exclude(undone_by=None)
    made = rows.filter(kind=ChangeSet.Kind.CALL).annotate(is_undone=Exists(undone))
    counted = (
        made.order_by()
        .values("tool")
        .annotate(
            changes=Count("pk"),
            undone=Count("pk", filter=Q(is_undone=True)),
            partial=Count("pk", filter=Q(is_partial=True)),
        )
    )
    found = []
    for row in counted.order_by("-changes", "tool"):
        share = row["undone"] * 100 / row["changes"]
        values = (row["tool"], row["changes"], row["undone"], share, row["partial"])
        found.append((Row(values=values), row["changes"]))
    return Table(
        name="tools",
        title=_("Changes by tool"),
        columns=(
            Column(_("Tool")),
            Column(_("Changes"), "count"),
            Column(_("Undone"), "count"),
            Column(_("Percent"), "percent"),
            Column(_("Only in part recorded"), "count"),
        ),
        rows=with_shares(found),
    )


def _newest(rows: Any, site: str) -> Table:
    undos = rows.exclude(kind=ChangeSet.Kind.CALL).select_related("user")
    return Table(
        name="undos",
        title=_("The newest undos"),
        columns=(
            Column(_("Time"), "time"),
            Column(_("Kind")),
            Column(_("Tool")),
            Column(_("User")),
        ),
        rows=[
            Row(
                values=(
                    one.created_at,
                    str(one.get_kind_display()),
                    one.label or one.tool,
                    str(one.user or ""),
                ),
                url=reverse(f"{site}:ai_assistant_changeset_change", args=[one.pk]),
            )
            for one in undos.order_by("-created_at")[:NEWEST]
        ],
    )
