from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.admin.difference import difference
from ai_assistant.models.change import ChangeSet, RowChange

if TYPE_CHECKING:
    Inline = admin.StackedInline[Any, Any]
else:
    Inline = admin.StackedInline


class RowChangeInline(Inline):
    """Each changed row with its difference."""

    model = RowChange
    fields = ("kind", "model", "object_id", "difference")
    readonly_fields = fields
    extra = 0
    can_delete = False
    ordering = ("order",)

    def has_view_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:  # noqa: ANN401
        """Allow who may see the change: its rows are what it is."""
        return True

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:  # noqa: ANN401
        """Allow none."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:  # noqa: ANN401
        """Allow none."""
        return False

    @admin.display(description=_("difference"))
    def difference(self, row: RowChange) -> SafeString:
        """Return the fields that differ."""
        return difference(row)


@admin.register(ChangeSet)
class ChangeSetAdmin(ReadOnlyAdmin):
    """What calls have changed, row by row, also of conversations that are deleted."""

    list_display = ("named", "row_count", "user", "created_at", "is_partial", "run")
    list_filter = ("is_partial", "created_at", "tool")
    list_select_related = ("user", "run")
    date_hierarchy = "created_at"
    search_fields = ("=run__id", "tool", "rows__model", "rows__object_id", "rows__text")
    fields = ("created_at", "named", "user", "run", "call", "is_partial", "gaps")
    readonly_fields = ("named",)
    ordering = ("-created_at",)
    inlines = (RowChangeInline,)
    user_field = "user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChangeSet]:
        """Count the rows in the same query."""
        rows: QuerySet[ChangeSet] = super().get_queryset(request)
        return rows.annotate(row_count=Count("rows"))

    @admin.display(description=_("tool"), ordering="tool")
    def named(self, change: ChangeSet) -> str:
        """Return the name of the tool that did it."""
        return change.label or change.tool

    @admin.display(description=_("rows"), ordering="row_count")
    def row_count(self, change: Any) -> int:  # noqa: ANN401 - annotated
        """Return how many rows were changed."""
        return int(change.row_count)
