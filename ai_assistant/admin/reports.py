"""The reports: use, tools, failures, approvals, feedback, budgets and undo, as pages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.usage import VIEW_USAGE, Report
from ai_assistant.render.html.reports.approvals import approvals_tables
from ai_assistant.render.html.reports.budgets import budgets_table
from ai_assistant.render.html.reports.failures import failed_runs_table, failures_table
from ai_assistant.render.html.reports.feedback import feedback_tables
from ai_assistant.render.html.reports.query import ReportQuery, group_names
from ai_assistant.render.html.reports.table import Table
from ai_assistant.render.html.reports.tools import tools_table
from ai_assistant.render.html.reports.undo import undo_tables
from ai_assistant.render.html.reports.usage import UsageReport, usage_names

DRAWN = 50  # rows of a table; the file has all
VIEW_CALLS = "ai_assistant.view_toolcall"
VIEW_CONVERSATIONS = "ai_assistant.view_conversation"
VIEW_RUNS = "ai_assistant.view_run"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a report is made from."""

    query: ReportQuery
    user: Any
    site: str  # the name of the AdminSite
    url: str  # of the page itself

    def list_url(self, name: str) -> str:
        """Return the address of a list of the app."""
        return reverse(f"{self.site}:ai_assistant_{name}_changelist")


def _usage(asked: Asked) -> dict[str, Any]:
    names = usage_names()
    by = asked.query.by if asked.query.by in names else "day"
    report = UsageReport(asked.query)
    query = asked.query
    return {
        "tables": [report.table(by, asked.url)],
        "chart": report.chart(),
        "choices": report.names(),
        "ways": [
            {
                "label": label,
                "url": f"?{query.address(by=name)}",
                "is_current": name == by,
            }
            for name, label in names.items()
        ],
    }


def _tools(asked: Asked) -> dict[str, Any]:
    calls = asked.list_url("toolcall")
    return {"tables": [tools_table(asked.query, calls_url=calls)]}


def _failures(asked: Asked) -> dict[str, Any]:
    may_read = asked.user.has_perm(VIEW_CONVERSATIONS)
    newest = failed_runs_table(asked.query, with_questions=may_read, site=asked.site)
    kinds = failures_table(asked.query, runs_url=asked.list_url("run"))
    return {"tables": [kinds, newest]}


def _approvals(asked: Asked) -> dict[str, Any]:
    return {"tables": approvals_tables(asked.query)}


def _feedback(asked: Asked) -> dict[str, Any]:
    tables = feedback_tables(
        asked.query,
        with_texts=asked.user.has_perm(VIEW_CONVERSATIONS),
        links_runs=asked.user.has_perm(VIEW_RUNS),
        site=asked.site,
    )
    return {"tables": tables}


def _budgets(asked: Asked) -> dict[str, Any]:
    return {"tables": [budgets_table(site=asked.site)]}


def _undo(asked: Asked) -> dict[str, Any]:
    return {"tables": undo_tables(asked.query, site=asked.site)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A report: who may see it, and by what it can be filtered."""

    name: str
    label: str | Promise
    make: Callable[[Asked], dict[str, Any]]
    permissions: tuple[str, ...]
    filters: tuple[str, ...] = ("user", "group", "module", "agent")

    def may_see(self, user: Any) -> bool:
        """Return whether a user has all permissions that the report needs."""
        return bool(user.has_perms(self.permissions))


PAGES = (
    Page(
        name="usage",
        label=gettext_lazy("Usage"),
        make=_usage,
        permissions=(VIEW_USAGE,),
        filters=("user", "group", "model", "module", "agent", "tool"),
    ),
    Page(
        name="tools",
        label=gettext_lazy("Tools"),
        make=_tools,
        permissions=(VIEW_CALLS,),
        filters=("user", "group", "model", "module", "agent"),
    ),
    Page(
        name="failures",
        label=gettext_lazy("Failures"),
        make=_failures,
        permissions=(VIEW_RUNS,),
    ),
    Page(
        name="approvals",
        label=gettext_lazy("Approvals"),
        make=_approvals,
        permissions=(VIEW_CALLS,),
    ),
    Page(
        name="feedback",
        label=gettext_lazy("Feedback"),
        make=_feedback,
        permissions=("ai_assistant.view_feedback",),
    ),
    Page(
        name="budgets",
        label=gettext_lazy("Budgets"),
        make=_budgets,
        permissions=("ai_assistant.view_budget", VIEW_USAGE),
        filters=(),
    ),
    Page(
        name="undo",
        label=gettext_lazy("Undo"),
        make=_undo,
        permissions=("ai_assistant.view_changeset",),
    ),
)


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    """The reports, each by the permissions of what it tells."""

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who may see one of them."""
        return conf.enabled() and bool(_seen_by(request.user))

    def get_urls(self) -> list[Any]:
        """Return the addresses of the reports alone: there are no rows to open."""
        view = self.admin_site.admin_view
        name = "ai_assistant_report"
        return [
            path("", view(self.changelist_view), name=f"{name}_changelist"),
            path("<slug:page>/", view(self.report_view), name=f"{name}_page"),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the first report that the user may see."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self.report_view(request, _seen_by(request.user)[0].name)

    def report_view(self, request: HttpRequest, page: str) -> HttpResponse:
        """Show a report, or return one of its tables as CSV."""
        found = next((one for one in PAGES if one.name == page), None)
        if found is None:
            raise Http404
        if not conf.enabled() or not found.may_see(request.user):
            raise PermissionDenied
        site = self.admin_site.name
        asked = Asked(
            query=ReportQuery.read(request.GET),
            user=request.user,
            site=site,
            url=reverse(f"{site}:ai_assistant_report_page", args=[page]),
        )
        made = found.make(asked)
        if wanted := request.GET.get("csv"):
            return _as_file(page, wanted, made["tables"], asked.query)
        return self._drawn(request, found, asked, made)

    def _drawn(
        self, request: HttpRequest, page: Page, asked: Asked, made: dict[str, Any]
    ) -> HttpResponse:
        query = asked.query
        # The list of the page itself, so that the filters stay from one to the next.
        tabs = [
            {
                "label": one.label,
                "url": reverse(
                    f"{asked.site}:ai_assistant_report_page", args=[one.name]
                )
                + f"?{query.address(by='')}",
                "is_current": one.name == page.name,
            }
            for one in _seen_by(request.user)
        ]
        context = {
            **self.admin_site.each_context(request),
            **made,
            "tables": [
                {
                    **table.entry(DRAWN),
                    "csv": f"{asked.url}?{query.address(csv=table.name)}",
                }
                for table in made["tables"]
            ],
            "title": _("Reports"),
            "subtitle": page.label,
            "opts": self.opts,
            "tabs": tabs,
            "query": query,
            "fields": _fields(query, page, made.get("choices", {})),
        }
        return TemplateResponse(request, "ai_assistant/admin/report.html", context)


def _seen_by(user: Any) -> list[Page]:
    return [page for page in PAGES if page.may_see(user)]


def _fields(
    query: ReportQuery, page: Page, choices: dict[str, list[str]]
) -> list[dict[str, Any]]:
    """Return the fields of the filters, each with what it holds."""
    labels = usage_names()
    known = {**choices, "group": group_names()}
    return [
        {
            "name": name,
            "label": labels[name],
            "value": getattr(query, name),
            # What was chosen stays, also where nothing is left of it.
            "choices": sorted({*known[name], getattr(query, name)} - {""})
            if name in known
            else None,
        }
        for name in page.filters
        if name in labels
    ]


def _as_file(
    page: str, wanted: str, tables: list[Table], query: ReportQuery
) -> HttpResponse:
    table = next((one for one in tables if one.name == wanted), None)
    if table is None:
        raise Http404
    response = HttpResponse(table.csv(), content_type="text/csv; charset=utf-8")
    name = f"{page}-{table.name}-{query.first}-{query.last}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
