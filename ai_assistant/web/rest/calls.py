"""Tool calls, and what they have changed."""

from typing import Any, ClassVar
from uuid import UUID

from django.core.validators import RegexValidator
from django.db.models import Count, QuerySet
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from ai_assistant.engine.queries import calls, changes, get_or_404, row_changes
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.diffs.changes import (
    SHOWN_ROWS,
    gap_sentences,
)
from ai_assistant.render.html.diffs.rows import readable_rows
from ai_assistant.web.rest import lists
from ai_assistant.web.rest.base import ApiViewSet, user_key
from ai_assistant.web.rest.interrupts import ObjectSerializer
from ai_assistant.web.rest.serializers import ReadModelSerializer

TOOL_NAME = r"^[a-zA-Z0-9_-]+\Z"
# Large, and not in a list.
LEFT_OUT = ("result", "result_text", "preview", "partial", "steps")


class CallSerializer(ReadModelSerializer):
    """One request of the model, without its result."""

    conversation = serializers.UUIDField(source="run.conversation_id")
    step = serializers.IntegerField(
        source="step.index", help_text="From 0, within the run."
    )
    tool = serializers.CharField(source="name")
    label = serializers.SerializerMethodField(method_name="get_title")
    arguments = serializers.DictField()

    class Meta:
        model = ToolCall
        fields: tuple[str, ...] = (
            *("id", "run", "conversation", "parent", "step", "position", "tool"),
            *("label", "effect", "status", "reason", "arguments", "background"),
            *("asks", "approved", "progress", "progress_text", "error"),
            "context_rounds",
            *("created_at", "started_at", "finished_at"),
        )
        extra_kwargs: ClassVar = {
            "parent": {"help_text": "The call that made this one."},
            "position": {"help_text": "From 0, within the step."},
            "reason": {"help_text": "expired, skipped, person, ... or empty"},
            "asks": {"help_text": "It has to be approved."},
            "context_rounds": {
                "help_text": "For how many messages of the user the model is told its "
                "result; null: for ever."
            },
            "progress": {"help_text": "0 to 1"},
        }

    def get_title(self, row: ToolCall) -> str:
        return row.label or row.name


class CallDetailSerializer(CallSerializer):
    """One request of the model, and its one answer."""

    steps = serializers.ListField(help_text="The progress that the tool has reported.")

    class Meta(CallSerializer.Meta):
        fields = (*CallSerializer.Meta.fields, "steps", "result")
        extra_kwargs: ClassVar = {
            **CallSerializer.Meta.extra_kwargs,
            "result": {
                "help_text": "Its result, with `ok`, `data`, `message` and `error`; null while "
                "it is open."
            },
        }


class CallFilter(lists.FilterSet):
    run = lists.UUIDFilter()
    conversation = lists.UUIDFilter("run__conversation_id")
    status = lists.ChoiceFilter(choices=CallStatus.choices)
    tool = lists.CharFilter(
        "name", strip=False, max_length=64, validators=[RegexValidator(TOOL_NAME)]
    )


class CallViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """The own tool calls, the newest first."""

    queryset = ToolCall.objects.none()
    filterset_class = CallFilter

    def get_serializer_class(self) -> Any:
        return CallSerializer if self.action == "list" else CallDetailSerializer

    def get_queryset(self) -> Any:
        rows = calls(user_key(self.request)).select_related("run", "step")
        return rows.defer(*LEFT_OUT) if self.action == "list" else rows


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

    order = serializers.IntegerField(
        help_text="The order in which they happened, from 0."
    )

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
            *("id", "kind", "run", "conversation", "call", "tool", "row_count"),
            *("is_partial", "gaps", "created_at"),
        )
        extra_kwargs: ClassVar = {
            "kind": {"help_text": "Whether it is that of a call, an undo or a redo."},
            "is_partial": {
                "help_text": "Something was changed that is not among the rows."
            },
        }

    def get_run(self, row: ChangeSet) -> UUID | None:
        return row.run_id if _has_conversation(row) else None

    def get_conversation(self, row: ChangeSet) -> UUID | None:
        return row.run.conversation_id if row.run and _has_conversation(row) else None

    def get_call(self, row: ChangeSet) -> UUID | None:
        return row.call_id if _has_conversation(row) else None

    def get_gaps(self, row: ChangeSet) -> list[str]:
        return gap_sentences([row])


class ChangeDetailSerializer(ChangeSerializer):
    """What one tool call has changed, with the first of its rows."""

    rows = RowSerializer(many=True)

    class Meta(ChangeSerializer.Meta):
        fields = (*ChangeSerializer.Meta.fields, "rows")


class ChangeFilter(lists.FilterSet):
    """A change whose conversation is deleted names no run and no call."""

    run = lists.UUIDFilter()
    conversation = lists.UUIDFilter("run__conversation_id")
    call = lists.UUIDFilter()

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
        change_set = get_or_404(changes(user_id), self.kwargs["id"])
        return row_changes(user_id).filter(change_set=change_set)


def _has_conversation(row: ChangeSet) -> bool:
    """Return whether the conversation is there; its row follows it in seconds."""
    return row.run is not None and row.run.conversation.deleted_at is None
