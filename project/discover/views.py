"""The explorer. What it tells the assistant and lends it stands here, beside it."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic import TemplateView

import ai_assistant
from ai_assistant import AssistantMixin, ContextItem, ModelRetry, RunContext
from project.discover.language import FIELDS, MAX_CHARS, QueryError, run
from project.discover.models import ExplorerQuery, LogLine

PERMISSION = "discover.view_logline"
MAX_ROWS = 50
MAX_TOLD = 10
DESCRIPTION_CHARS = 200


@ai_assistant.tool(effect="ui", permission=PERMISSION, label=gettext_lazy("Query logs"))
def execute_query(
    context: RunContext,
    query: str,
    *,
    auto_execute: bool = True,
    description: str = "",
) -> dict[str, Any]:
    """
    Put a query into the user's log explorer, and run it.

    query: words and terms such as level:error service:api status:>=500 duration:>1000,
        all of which must hold; -level:info leaves out.
    auto_execute: false only sets the query, and the user runs it.
    description: one sentence on what the query looks for.
    """
    try:
        found = run(query)
    except QueryError as error:
        raise ModelRetry(f"query {query!r} cannot be run: {error}") from error
    ExplorerQuery.objects.update_or_create(
        user=context.user,
        defaults={
            "query": query.strip(),
            "description": description[:DESCRIPTION_CHARS],
            "is_run": auto_execute,
        },
    )
    set_query = {"query": query.strip(), "executed": auto_execute, "path": _path()}
    return {**set_query, **_told(found)} if auto_execute else set_query


class ExploreView(AssistantMixin, PermissionRequiredMixin, TemplateView):
    """The latest log lines that match the query of the address, or the one set."""

    template_name = "discover/explore.html"
    permission_required = PERMISSION
    raise_exception = True
    assistant_tools: ClassVar = [execute_query]
    assistant_suggestions: ClassVar = [gettext_lazy("Which services report errors?")]

    def assistant_context(self, context: RunContext, opened: Any = None) -> Any:
        """Return the query that the user sees, and the first of its lines."""
        if not context.user.has_perm(PERMISSION):
            return None
        address = QueryDict(context.page.path.partition("?")[2])
        shown = _shown(address, context.user)
        value = {"query": shown["query"], "run": shown["is_run"], "error": ""}
        value["fields"] = list(FIELDS)
        try:
            value |= _told(run(shown["query"])) if shown["is_run"] else {}
        except QueryError as error:
            value["error"] = str(error)
        return ContextItem(
            id="discover.query",
            title=_("Query"),
            description=_("The log explorer: its query and what it has found."),
            value=value,
            priority=50,
        )

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown = _shown(self.request.GET, self.request.user)
        lines, error = LogLine.objects.none(), ""
        if shown["is_run"]:
            try:
                lines = run(shown["query"])
            except QueryError as wrong:
                error = str(wrong)
        return {
            **super().get_context_data(**kwargs),
            **admin.site.each_context(self.request),
            **shown,
            "title": _("Discover"),
            "total": lines.count(),
            "lines": lines[:MAX_ROWS],
            "error": error,
        }


def _shown(address: QueryDict, user: Any) -> dict[str, Any]:
    """Return the query of the address; without one, the one that was set."""
    if "q" in address:
        query = address.get("q", "")[: MAX_CHARS + 1].strip()
        return {"query": query, "is_run": True, "description": ""}
    stored = ExplorerQuery.objects.filter(user=user).first() or ExplorerQuery()
    return {
        "query": stored.query,
        "is_run": stored.is_run,
        "description": stored.description,
    }


def _told(found: Any) -> dict[str, Any]:
    fields = ("time", "level", "service", "message", "status", "duration_ms")
    return {"total": found.count(), "lines": list(found.values(*fields)[:MAX_TOLD])}


def _path() -> str:
    return reverse("admin:discover_logline_explore")
