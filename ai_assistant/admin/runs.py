"""Runs, and what happened in each; read-only."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant import conf
from ai_assistant.admin.lists.decorated import (
    VIEW_RUNS,
    ListedAdmin,
    cost_text,
    costs_of,
    duration_text,
    sees_costs,
    sees_texts,
)
from ai_assistant.admin.prompts import PromptPages
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.reports.table import seconds
from ai_assistant.render.html.run_texts import questions_of
from ai_assistant.render.html.trace.rows import trace_rows
from ai_assistant.render.html.trace.steps import hook_failures, step_entries
from ai_assistant.render.html.trace.timeline import timeline_entry
from ai_assistant.render.played_again import source_of
from ai_assistant.safety.identity.permissions import may_view, may_view_prompts

EMPTY: tuple[Any, ...] = (None, "", [], {})
OF_OPERATORS = ("id", "root", "error_detail", "state_values", "attempts")


@admin.register(Run)
class RunAdmin(PromptPages, ListedAdmin):
    """Runs: what was asked, their state, and why they ended as they did."""

    list_filter = ("state", "created_at")
    list_select_related = ("user", "conversation")
    search_fields = ("=id", "=error_code", "page_path")
    search_help_text = _("A user, the code of an error, or the path of a page.")
    fields = (
        "conversation",
        "user",
        "kind",
        "continues",
        "page_path",
        "profile",
        "agent",
        "root",
        "state",
        "error_code",
        "error_text",
        "error_detail",
        "state_values",
        "opens_at",
        "attempts",
        "worked",
        "created_at",
        "finished_at",
        "id",
    )
    readonly_fields = ("worked",)
    ordering = ("-created_at",)
    user_field = "user"
    when_empty = _(
        "Nobody has asked the assistant anything yet. Each question is a run here."
    )
    change_form_template = "ai_assistant/admin/run.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        """Read whose it is along with it: its page names both."""
        rows: QuerySet[Run] = super().get_queryset(request)
        return rows.select_related(*self.list_select_related)

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns; costs only for who may see them."""
        cost = ("cost",) if sees_costs(request) else ()
        return ("about", "state", "error_code", "user", "created_at", "took", *cost)

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add what was asked, and the cost."""
        keys = [row.pk for row in rows]
        asked = questions_of(keys) if sees_texts(request) else {}
        costs = costs_of(keys) if sees_costs(request) else {}
        for row in rows:
            row.asked, row.cost_usd = asked.get(row.pk, ""), costs.get(row.pk)

    @admin.display(description=_("question"))
    def about(self, run: Any) -> str:
        """Return what was asked, or what kind of run it is."""
        return run.asked or run_title(run)

    @admin.display(description=_("took"))
    def took(self, run: Run) -> str:
        """Return how long it took, with the time in which it waited."""
        return duration_text(run.created_at, run.finished_at)

    @admin.display(description=_("cost in USD"))
    def cost(self, run: Any) -> str:
        """Return what it has cost."""
        return cost_text(run.cost_usd)

    # --- the page of one ---

    @admin.display(description=_("worked for"))
    def worked(self, run: Run) -> str:
        """Return how long it worked, without the time in which it waited."""
        return seconds(run.running_s)

    def get_urls(self) -> list[Any]:
        """Add the page with the test of a run."""
        view = self.admin_site.admin_view(self.test_view)
        own = path("<uuid:run_id>/test/", view, name="ai_assistant_run_test")
        return [own, *super().get_urls()]

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission; of their own runs, who sees their answers."""
        is_own = obj is not None and _is_own(request, obj)
        return is_own or super().has_view_permission(request, obj)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Run | None:
        """Name a run by what was asked, for who may see that."""
        run: Run | None = super().get_object(request, object_id, from_field)
        if run is not None:
            shows = self._shows(request, run)["shows_texts"]
            keys = [run.pk] if shows else []
            run.asked = questions_of(keys).get(run.pk) or run_title(run)
            if shows:
                run.conversation.asked = run.conversation.title
        return run

    def get_fields(self, request: HttpRequest, obj: Run | None = None) -> Any:
        """Leave out what is empty, as errors mostly are, and what is for operators."""
        fields: Any = super().get_fields(request, obj)
        if not request.user.has_perm(VIEW_RUNS):
            fields = [name for name in fields if name not in OF_OPERATORS]
        return [f for f in fields if obj is None or getattr(obj, f, obj) not in EMPTY]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add what the run did, and when; each part for who may see it."""
        run = kwargs["obj"]
        shows = self._shows(request, run)
        context |= {**shows, "subtitle": str(run)}
        rows = trace_rows(run)
        context["trace"] = timeline_entry(rows)
        if shows["shows_texts"] or shows["shows_arguments"] or shows["shows_costs"]:
            names = shows["names_objects"]
            context["steps"] = step_entries(rows, names_objects=names)
        if request.user.has_perm(VIEW_RUNS):
            context["hook_failures"] = hook_failures(run)
        return super().render_change_form(request, context, *args, **kwargs)

    def _shows(self, request: HttpRequest, run: Run) -> dict[str, bool]:
        """Return which parts the user may see; of their own run what the panel shows."""
        is_own = _is_own(request, run)
        shows_calls = self._may_view(request, ToolCall)
        shows_changes = self._may_view(request, ChangeSet)
        return {
            "shows_costs": self._may_view(request, UsageLedger),
            "shows_prompts": may_view_prompts(request.user),
            "shows_texts": is_own or self._may_view(request, Conversation),
            "shows_arguments": is_own or shows_calls,
            "shows_calls": shows_calls,
            "shows_changes": shows_changes,
            "names_objects": is_own or shows_changes,
            "shows_audit": self._may_view(request, AuditEntry),
        }

    def test_view(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """Show the Python source of a test that plays a run again."""
        run = self.get_object(request, str(run_id))
        if run is None:
            raise Http404
        shows = self._shows(request, run)
        may_read = shows["shows_texts"] and shows["shows_arguments"]
        if not (may_read and self.has_view_permission(request, run)):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("A test of the run"),
            "run": run,
            "source": source_of(run),
        }
        return TemplateResponse(request, "ai_assistant/admin/run_test.html", context)

    def _may_view(self, request: HttpRequest, model: type[Model]) -> bool:
        page = self.admin_site._registry.get(model)
        return page is not None and page.has_view_permission(request)


def _is_own(request: HttpRequest, run: Any) -> bool:
    user: Any = request.user
    return conf.enabled() and run.user_id == user.pk and may_view(user)


def run_title(run: Run) -> str:
    """Return what a run is called whose question is not shown."""
    name = {"kind": capfirst(run.get_kind_display()), "user": run.user}
    return gettext("%(kind)s, %(user)s") % name
