"""What the lists of conversations, runs and calls have in common."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.usage import VIEW_USAGE, UsageLedger
from ai_assistant.registry import registry
from ai_assistant.render.html.reports.table import money, seconds
from ai_assistant.render.html.run_texts import brief

VIEW_RUNS = "ai_assistant.view_run"
VIEW_CONVERSATIONS = "ai_assistant.view_conversation"
MOST_USERS = 100  # whose name fits to a search
OF_RUNS = ("run_link", "runs_table")  # columns that link runs
NOTHING = "\N{EN DASH}"


class KeysFirstPaginator(Paginator):  # type: ignore[type-arg] # its checker's
    """Finds the keys of a page, and only then its rows: those skipped are not read."""

    def page(self, number: int | str) -> Any:
        """Return a page; its rows are in a list."""
        page = super().page(number)
        found: Any = page.object_list
        keys = list(found.values_list("pk", flat=True))
        rows = found.model._default_manager.filter(pk__in=keys)
        rows.query.select_related = found.query.select_related
        by_key = {row.pk: row for row in rows}
        page.object_list = [by_key[key] for key in keys if key in by_key]
        return page


class ListedAdmin(ReadOnlyAdmin):
    """A list that says what each row is about, with links to what belongs to it."""

    paginator = KeysFirstPaginator
    show_facets = admin.ShowFacets.NEVER  # each would be counted over all rows

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Let the rows of a page get what it needs, in one query for each thing."""
        # Not by a list of our own: that of a theme goes before it.
        found = super().get_changelist_instance(request)
        rows = list(found.result_list)
        self.decorate(request, rows)
        found.result_list = rows
        return found

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Return the row's own: users are looked for by themselves."""
        return list(self.search_fields)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search the fields, and rows of users with such a name: not row by row."""
        rows, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term.strip():
            return rows, may_repeat
        name = f"{get_user_model().USERNAME_FIELD}__icontains"
        users = get_user_model()._default_manager.filter(**{name: search_term.strip()})
        keys = list(users.values_list("pk", flat=True)[:MOST_USERS])
        return (rows | self.of_users(queryset, keys) if keys else rows), may_repeat

    def of_users(self, queryset: QuerySet[Any], keys: list[Any]) -> QuerySet[Any]:
        """Return the rows of some users."""
        return queryset.filter(**{f"{self.user_field}__in": keys})

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add to the rows of a page what its columns show."""

    def get_list_display(self, request: HttpRequest) -> Any:
        """Leave out what leads to a page that the user may not open."""
        return self.seen(request, super().get_list_display(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Leave out the same on the page of a row."""
        return self.seen(request, super().get_fields(request, obj))

    def seen(self, request: HttpRequest, names: Any) -> list[Any]:
        """Return the columns without those of runs, for who may see none."""
        may_open = request.user.has_perm(VIEW_RUNS)
        return [name for name in names if may_open or name not in OF_RUNS]

    def link(self, name: str, key: object, text: str) -> SafeString:
        """Return a link to the page of another row."""
        url = reverse(f"{self.admin_site.name}:ai_assistant_{name}_change", args=[key])
        return format_html('<a href="{}">{}</a>', url, text)


class ToolFilter(admin.SimpleListFilter):
    """A tool that is registered; what is called so is not looked for in all rows."""

    title = _("tool")
    parameter_name = "tool"
    lookup = "tool"  # of the rows

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the tools, and the one that is asked for if it is gone."""
        names = {*registry.tools(), self.used_parameters.get(self.parameter_name)}
        return [(name, name) for name in sorted(filter(None, names))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the tool."""
        name = self.value()
        return queryset.filter(**{self.lookup: name}) if name else queryset


class NamedToolFilter(ToolFilter):
    """The same, of rows that hold it as their name."""

    parameter_name = lookup = "name"


def in_brief(field: Any) -> Callable[[Any], str]:
    """Return a column with the begin of a text, which may be pages long."""

    @admin.display(description=field.verbose_name, ordering=field.name)
    def column(row: Any) -> str:
        return brief(getattr(row, field.name))

    column.__name__ = field.name  # the styles know it by that
    return column


def sees_costs(request: HttpRequest) -> bool:
    """Return whether the user of a request may see tokens and costs."""
    return bool(request.user.has_perm(VIEW_USAGE))


def sees_texts(request: HttpRequest) -> bool:
    """Return whether the user of a request may see what others have asked."""
    return bool(request.user.has_perm(VIEW_CONVERSATIONS))


def costs_of(keys: Iterable[UUID], by: str = "run") -> Mapping[Any, Any]:
    """Return the cost of runs, or of what `by` names; None: no price is known."""
    rows: Any = UsageLedger.objects.filter(**{f"{by}__in": list(keys)}).order_by()
    return dict(rows.values_list(by).annotate(cost=Sum("cost_usd")))


def cost_text(cost: Any) -> str:
    """Return a cost for a column of a list."""
    return NOTHING if cost is None else money(cost)


def duration_text(begin: datetime | None, end: datetime | None) -> str:
    """Return how long something took, for a column of a list."""
    if begin is None or end is None:
        return NOTHING
    return seconds(max((end - begin).total_seconds(), 0.0))
