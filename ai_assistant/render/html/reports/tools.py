"""Which tools are slow, and which fail."""

from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table, with_shares
from ai_assistant.render.html.reports.usage import UsageReport, UsageSum


def tools_table(query: ReportQuery, *, calls_url: str = "") -> Table:
    """Return the tools, the slowest first; with links to the calls that failed."""
    sums = UsageReport(query).sums("tool")
    slowest = sorted(sums, key=lambda pair: (-(pair[1].mean_s or 0.0), str(pair[0])))
    rows = [(_row(query, name, one, calls_url), one.mean_s) for name, one in slowest]
    return Table(
        name="tools",
        title=_("Slowest tools"),
        columns=(
            Column(_("Tool")),
            Column(_("Mean time"), "seconds"),
            Column(_("Longest time"), "seconds"),
            Column(_("Calls"), "count"),
            Column(_("Failed"), "count"),
            Column(_("Percent"), "percent"),
        ),
        rows=with_shares(rows),
        note=_("The time in which a person is waited for does not count."),
    )


def _row(query: ReportQuery, name: Any, one: UsageSum, calls_url: str) -> Row:
    share = one.failed * 100 / one.calls if one.calls else None
    longest = one.longest_s if one.timed else None
    values = (name, one.mean_s, longest, one.calls, one.failed, share)
    if not calls_url:
        return Row(values=values)
    named = f"{calls_url}?name={name}&created_at__gte={query.first}"
    urls = {4: f"{named}&status__exact=failed"} if one.failed else {}
    return Row(values=values, url=named, urls=urls)
