"""Runs that did not end well: by kind, and the newest of them."""

from typing import Any

from django.db.models import Count, Max
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from ai_assistant.models.run import Run, RunState
from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table, with_shares
from ai_assistant.render.html.run_texts import questions_of

FAILED = (RunState.FAILED, RunState.NEEDS_REVIEW, RunState.LIMITED)
NEWEST = 25


def failures_table(query: ReportQuery, *, runs_url: str) -> Table:
    """Return the kinds of failures, the most frequent first, each with its runs."""
    runs: Any = Run.objects.filter(**query.of_runs(), state__in=FAILED).order_by()
    counted = runs.values("state", "error_code").annotate(
        count=Count("pk"), users=Count("user", distinct=True), last=Max("created_at")
    )
    labels = dict(RunState.choices)
    rows = []
    for row in counted.order_by("-count", "error_code"):
        named = {"state__exact": row["state"], "error_code": row["error_code"]}
        period = {"created_at__gte": query.since, "created_at__lt": query.until}
        url = f"{runs_url}?{urlencode({k: v for k, v in named.items() if v} | period)}"
        code = row["error_code"] or row["state"]
        values = (code, str(labels[row["state"]]), row["count"], row["users"])
        rows.append((Row(values=(*values, row["last"]), url=url), row["count"]))
    return Table(
        name="kinds",
        title=_("Failures by kind"),
        columns=(
            Column(_("Kind")),
            Column(_("State")),
            Column(_("Runs"), "count"),
            Column(_("Users"), "count"),
            Column(_("Last"), "time"),
        ),
        rows=with_shares(rows),
    )


def failed_runs_table(query: ReportQuery, *, with_questions: bool, site: str) -> Table:
    """Return the newest failed runs; what was asked only if that may be seen."""
    runs = Run.objects.filter(**query.of_runs(), state__in=FAILED)
    newest = list(runs.select_related("user").order_by("-created_at")[:NEWEST])
    asked = questions_of([run.pk for run in newest]) if with_questions else {}
    rows = [
        Row(
            values=(
                run.created_at,
                run.error_code or run.state,
                str(run.user),
                *((asked.get(run.pk, ""),) if with_questions else ()),
                run.error_text,
            ),
            url=reverse(f"{site}:ai_assistant_run_change", args=[run.pk]),
        )
        for run in newest
    ]
    question = (Column(_("Question")),) if with_questions else ()
    return Table(
        name="runs",
        title=_("The newest failed runs"),
        columns=(
            Column(_("Time"), "time"),
            Column(_("Kind")),
            Column(_("User")),
            *question,
            Column(_("What the user was told")),
        ),
        rows=rows,
    )
