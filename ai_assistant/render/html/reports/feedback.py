"""What people think of answers, with the conversation that it is about."""

from collections import Counter
from typing import Any

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from ai_assistant.models.conversation import Feedback
from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table, with_shares
from ai_assistant.render.html.run_texts import answers_of, questions_of

NEWEST = 100


def feedback_tables(
    query: ReportQuery, *, with_texts: bool, links_runs: bool, site: str
) -> list[Table]:
    """Return the ratings by reason, and the newest; texts only if they may be seen."""
    rows: Any = Feedback.objects.filter(**_given(query)).order_by("-created_at")
    return [_by_reason(rows), _newest(rows, with_texts, links_runs, site)]


def _given(query: ReportQuery) -> dict[str, Any]:
    """Return the conditions: the rating is of the period, the rest is of its run."""
    found = {f"run__{name}": value for name, value in query.of_runs().items()}
    since, until = (
        found.pop(name) for name in ("run__created_at__gte", "run__created_at__lt")
    )
    return {**found, "created_at__gte": since, "created_at__lt": until}


def _by_reason(rows: Any) -> Table:
    values, labels = dict(Feedback.Value.choices), dict(Feedback.Reason.choices)
    counted: Counter[str] = Counter()
    for value, reasons in rows.values_list("value", "reasons"):
        counted[str(values[value])] += 1
        counted.update(str(labels.get(reason, reason)) for reason in reasons)
    return Table(
        name="reasons",
        title=_("Ratings and reasons"),
        columns=(Column(_("What")), Column(_("Answers"), "count")),
        rows=with_shares((Row(values=pair), pair[1]) for pair in counted.most_common()),
    )


def _newest(rows: Any, with_texts: bool, links_runs: bool, site: str) -> Table:  # noqa: FBT001
    newest = list(rows.select_related("user", "run")[:NEWEST])
    keys = [one.run_id for one in newest]
    asked = questions_of(keys) if with_texts else {}
    said = answers_of(keys) if with_texts else {}
    return Table(
        name="newest",
        title=_("The newest"),
        columns=(
            Column(_("Time"), "time"),
            Column(_("Rating")),
            Column(_("Comment")),
            Column(_("User")),
            *((Column(_("Question")), Column(_("Answer"))) if with_texts else ()),
        ),
        rows=[
            Row(
                values=(
                    one.created_at,
                    str(one.get_value_display()),
                    Truncator(one.text).chars(200),
                    str(one.user),
                    *(
                        (asked.get(one.run_id, ""), said.get(one.run_id, ""))
                        if with_texts
                        else ()
                    ),
                ),
                url=_url(site, "run", one.run_id) if links_runs else "",
                urls={4: _url(site, "conversation", one.run.conversation_id)}
                if with_texts
                else {},
            )
            for one in newest
        ],
    )


def _url(site: str, name: str, key: Any) -> str:
    return reverse(f"{site}:ai_assistant_{name}_change", args=[key])
