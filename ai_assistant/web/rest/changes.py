from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Count, QuerySet
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from ai_assistant.engine.queries import changes, get_or_404, row_changes
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.diffs.changes import (
    SHOWN_ROWS,
    gap_sentences,
    readable_rows,
)
from ai_assistant.web.rest.base import ApiViewSet, user_key
from ai_assistant.web.rest.interrupts import ObjectSerializer
from ai_assistant.web.rest.lists import FilterSet, UUIDFilter
from ai_assistant.web.rest.serializers import ReadModelSerializer


class ReadableRows(serializers.ListSerializer[Any]):
    """Changed rows as a person reads them: those of a page, or the first of a change."""

    def to_representation(self, data: Any) -> list[Any]:
        """Return the rows, each with its number."""
        is_page = isinstance(data, list)
        rows = data if is_page else data.order_by("order")[:SHOWN_ROWS]
        names = [str(name) for name in ObjectSerializer().fields]
        return super().to_representation(
            [
                {"order": row.order} | {name: getattr(change, name) for name in names}
                for row, change in zip(rows, readable_rows(rows), strict=True)
            ]
        )


class RowSerializer(ObjectSerializer):
    """One row as it was and as it became; sensitive values are hidden."""

    order = serializers.IntegerField(help_text="In which they happened, from 0.")

    class Meta:
        list_serializer_class = ReadableRows


class ChangeSerializer(ReadModelSerializer):
    """What one tool call has changed, without its rows."""

    run = serializers.SerializerMethodField(
        help_text="Null once the conversation is deleted."
    )
    conversation = serializers.SerializerMethodField()
    call = serializers.SerializerMethodField()
    row_count = serializers.IntegerField()
    gaps = serializers.SerializerMethodField(help_text="What that was, in sentences.")

    class Meta:
        model = ChangeSet
        fields: tuple[str, ...] = (
            *("id", "run", "conversation", "call", "tool", "row_count"),
            *("is_partial", "gaps", "created_at"),
        )
        extra_kwargs: ClassVar = {
            "is_partial": {
                "help_text": "Something happened that is not among the rows."
            }
        }

    def get_run(self, row: ChangeSet) -> UUID | None:
        return row.run_id if _is_kept(row) else None

    def get_conversation(self, row: ChangeSet) -> UUID | None:
        return row.run.conversation_id if row.run and _is_kept(row) else None

    def get_call(self, row: ChangeSet) -> UUID | None:
        return row.call_id if _is_kept(row) else None

    def get_gaps(self, row: ChangeSet) -> list[str]:
        return gap_sentences(row)


class ChangeDetailSerializer(ChangeSerializer):
    """What one tool call has changed, with the first of its rows."""

    rows = RowSerializer(many=True)

    class Meta(ChangeSerializer.Meta):
        fields = (*ChangeSerializer.Meta.fields, "rows")


class ChangeFilter(FilterSet):
    """A change whose conversation is deleted names no run and no call."""

    run = UUIDFilter()
    conversation = UUIDFilter("run__conversation_id")
    call = UUIDFilter()

    def filter_queryset(self, queryset: Any) -> Any:
        """Return the rows; by what a deleted conversation held, none is found."""
        if any(self.form.cleaned_data.values()):
            queryset = queryset.filter(run__conversation__deleted_at=None)
        return super().filter_queryset(queryset)


class ChangeViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """
    The changes of the own runs, the newest first.

    Changes outlive their conversation: then they name no run and no call. One is read
    with the first 50 of its rows; `row_count` tells how many there are.
    """

    queryset = ChangeSet.objects.none()
    filterset_class = ChangeFilter

    def get_serializer_class(self) -> Any:
        return ChangeSerializer if self.action == "list" else ChangeDetailSerializer

    def get_queryset(self) -> QuerySet[ChangeSet]:
        sets = changes(user_key(self.request)).select_related("run__conversation")
        return sets.annotate(row_count=Count("rows"))


class RowViewSet(ListModelMixin, ApiViewSet):
    """The rows of a change, in the order in which they happened."""

    queryset = RowChange.objects.none()
    serializer_class = RowSerializer
    ordering = ("order", "pk")

    def get_queryset(self) -> QuerySet[RowChange]:
        user_id = user_key(self.request)
        found = get_or_404(changes(user_id), self.kwargs["id"])
        return row_changes(user_id).filter(change_set=found)


def _is_kept(row: ChangeSet) -> bool:
    """Tell whether the conversation is there; its row follows it in seconds."""
    return row.run is not None and row.run.conversation.deleted_at is None
