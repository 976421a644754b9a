"""Conversations and their calls; all read-only."""

from collections import Counter
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.contrib.messages import WARNING
from django.db.models import F, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import AssistantAdmin
from ai_assistant.admin.lists.decorated import (
    NOTHING,
    ListedAdmin,
    NamedToolFilter,
    cost_text,
    costs_of,
    duration_text,
    sees_costs,
    sees_texts,
)
from ai_assistant.admin.lists.found import (
    MOST_FOUND,
    CostFilter,
    OutcomeFilter,
    UsedToolFilter,
    said_or_named,
)
from ai_assistant.admin.runs import run_title
from ai_assistant.engine.queries import has_changes
from ai_assistant.models.call import WORKED_CALL, ToolCall
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run, RunState
from ai_assistant.render.html.cards.body import shown_text
from ai_assistant.render.html.run_texts import brief, questions_of

NEWEST = 50  # runs of a conversation
TEXT_CHARS = 20_000  # of the arguments or the result of a call


@admin.register(Conversation)
class ConversationAdmin(ListedAdmin):
    """Conversations: who, about what, when, how it ended, and what it has cost."""

    list_filter = (OutcomeFilter, UsedToolFilter, CostFilter, "updated_at")
    list_select_related = ("owner",)
    search_fields = ("title",)
    search_help_text = _("Words of what was said, a user, or the path of a page.")
    user_field = "owner"
    when_empty = _(
        "Nobody has asked the assistant anything yet. Open a page of the admin, and begin."
    )

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns; costs only for who may see them."""
        cost = ("cost",) if sees_costs(request) else ()
        return ("about", "owner", "runs_told", "outcome", *cost, "updated_at")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the page."""
        own = ("title", "owner", "created_at", "updated_at", "runs_table")
        return self.seen(request, own)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the one that is made here."""
        return ("runs_table",)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Conversation | None:
        """Name one by its title, or by its first question."""
        row: Conversation | None = super().get_object(request, object_id, from_field)
        if row is not None and not row.title and sees_texts(request):
            keys = row.runs.order_by("created_at").values_list("pk", flat=True)[:1]
            row.asked = "".join(questions_of(list(keys)).values())
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Leave those of agents that were asked out of the list; name each."""
        rows: Any = super().get_queryset(request)
        if sees_texts(request):
            rows = rows.annotate(asked=F("title"))
        match = request.resolver_match
        name = (match.url_name if match else None) or ""
        is_list = name.endswith("_changelist")
        # Not `parent_call=None`: SQLite would read the rows by the index of that, and
        # then sort them all.
        found: QuerySet[Conversation] = (
            rows.exclude(parent_call__isnull=False) if is_list else rows
        )
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search what was said, titles, users and pages; of very many the newest."""
        if not search_term.strip():
            return queryset, False
        found = said_or_named(queryset, search_term)
        if len(found) == MOST_FOUND and request.GET.get(SEARCH_VAR) == search_term:
            sentence = gettext("More were found: the newest %(n)s are shown.")
            self.message_user(request, sentence % {"n": MOST_FOUND}, WARNING)
        return queryset.filter(pk__in=found), False

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add runs, the last outcome, and the cost."""
        keys = [row.pk for row in rows]
        runs = Run.objects.filter(conversation__in=keys).order_by("created_at")
        found = list(runs.values_list("pk", "conversation_id", "state"))
        counts = Counter(conversation for _run, conversation, _state in found)
        last = {conversation: state for _run, conversation, state in found}
        first: dict[Any, Any] = {}
        for run, conversation, _state in found:
            first.setdefault(conversation, run)
        untitled = [first[row.pk] for row in rows if not row.title and row.pk in first]
        asked: Any = questions_of(untitled) if untitled else {}
        costs = costs_of(keys, by="run__conversation") if sees_costs(request) else {}
        labels = dict(RunState.choices)
        for row in rows:
            row.run_count = counts[row.pk]
            row.last_state = str(labels.get(last.get(row.pk, ""), NOTHING))
            row.asked = row.title or asked.get(first.get(row.pk), "")
            row.cost_usd = costs.get(row.pk)

    @admin.display(description=_("title"), ordering="title")
    def about(self, row: Any) -> str:
        """Return the title, or the first question of one that has none yet."""
        return brief(row.asked) or gettext("empty")

    @admin.display(description=_("runs"))
    def runs_told(self, row: Any) -> int:
        """Return how many runs it has."""
        return int(row.run_count)

    @admin.display(description=_("outcome"))
    def outcome(self, row: Any) -> str:
        """Return the state of the last run."""
        return str(row.last_state)

    @admin.display(description=_("cost in USD"))
    def cost(self, row: Any) -> str:
        """Return what its runs have cost."""
        return cost_text(row.cost_usd)

    @admin.display(description=_("runs"))
    def runs_table(self, conversation: Conversation) -> SafeString:
        """Return its newest runs with their questions, each with a link."""
        runs = list(conversation.runs.order_by("-created_at")[:NEWEST])
        asked = questions_of([run.pk for run in runs])
        rows = (
            (
                self.link("run", run.pk, asked.get(run.pk) or run_title(run)),
                run.get_state_display(),
                duration_text(run.created_at, run.finished_at),
            )
            for run in runs
        )
        row = '<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>'
        lines = format_html_join("", row, rows)
        table = '<table class="aia-runs"><tbody>{}</tbody></table>'
        return format_html(table, lines)

    def render_delete_form(
        self, request: HttpRequest, context: dict[str, Any]
    ) -> HttpResponse:
        """Say what is kept, before the deletion is confirmed."""
        if has_changes(context["object"].pk):
            context["subtitle"] = _("The record of what was changed is kept.")
        return super().render_delete_form(request, context)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission to delete, while the assistant is on."""
        return AssistantAdmin.has_delete_permission(self, request, obj)


@admin.register(ToolCall)
class ToolCallAdmin(ListedAdmin):
    """Tool calls: tool, arguments, user and result."""

    list_display = (
        *("tool", "status", "what", "user", "effect", "created_at", "took", "run_link"),
    )
    list_filter = ("status", "effect", "approved", "created_at", NamedToolFilter)
    list_select_related = ("run__user",)
    search_fields = ("=name", "=run__id")
    search_help_text = _("A user, the name of a tool, or the id of a run.")
    fields = (
        "run_link",
        "user",
        "parent",
        "name",
        "effect",
        "status",
        "reason",
        "asks_because",
        "approved",
        "asked_with",
        "error",
        "told",
        "created_at",
        "started_at",
        "finished_at",
    )
    readonly_fields = ("user", "run_link", "asked_with", "told")
    ordering = ("-created_at",)
    user_field = "run__user"
    when_empty = _("The assistant has called no tool yet.")

    def of_users(self, queryset: QuerySet[Any], keys: list[Any]) -> QuerySet[Any]:
        """Return the calls of some users, without looking at the run of each."""
        runs = Run.objects.filter(user__in=keys).order_by()
        return queryset.filter(run__in=runs.values("pk"))

    @admin.display(description=_("tool"), ordering="name")
    def tool(self, call: ToolCall) -> str:
        """Return the label of the tool, or its name."""
        return call.label or call.name

    @admin.display(description=_("what happened"))
    def what(self, call: ToolCall) -> str:
        """Return what its card said, or why it has failed."""
        return brief(call.summary or call.error or call.reason) or NOTHING

    @admin.display(description=_("took"))
    def took(self, call: ToolCall) -> str:
        """Return how long it worked."""
        has_worked = call.status in WORKED_CALL
        began = call.work_started_at if has_worked else call.started_at
        return duration_text(began, call.finished_at)

    @admin.display(description=_("arguments"))
    def asked_with(self, call: ToolCall) -> SafeString:
        """Return its arguments, as they are read easily."""
        return _block(call.arguments or call.arguments_text)

    @admin.display(description=_("result"))
    def told(self, call: ToolCall) -> SafeString:
        """Return what the model was told of it."""
        return _block(call.result_text)

    @admin.display(description=_("user"), ordering="run__user")
    def user(self, call: ToolCall) -> str:
        """Return the user of the call."""
        return str(call.run.user)

    @admin.display(description=_("run"))
    def run_link(self, call: ToolCall) -> SafeString:
        """Return a link to the run."""
        return self.link("run", call.run_id, gettext("Open"))


def _block(value: Any) -> SafeString:
    if not value:
        return SafeString(NOTHING)
    shown = shown_text(value, TEXT_CHARS)
    return format_html('<pre class="aia-block" tabindex="0" dir="auto">{}</pre>', shown)
