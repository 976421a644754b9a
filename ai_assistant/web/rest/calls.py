from typing import Any, ClassVar

from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin

from ai_assistant.engine.queries import calls
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.web.rest.base import ApiViewSet, user_key
from ai_assistant.web.rest.lists import (
    CharFilter,
    ChoiceFilter,
    FilterSet,
    UUIDFilter,
)
from ai_assistant.web.rest.serializers import ReadModelSerializer

TOOL_NAME = r"^[a-zA-Z0-9_-]+\Z"
# Large, and not in a list.
LEFT_OUT = ("result", "result_text", "preview", "partial", "mark", "steps")


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
            *("created_at", "started_at", "finished_at"),
        )
        extra_kwargs: ClassVar = {
            "parent": {"help_text": "The call that has made this one."},
            "position": {"help_text": "From 0, within the step."},
            "reason": {"help_text": "expired, skipped, person, ... or empty"},
            "asks": {"help_text": "It has to be approved."},
            "progress": {"help_text": "0 to 1"},
        }

    def get_title(self, row: ToolCall) -> str:
        return row.label or row.name


class CallDetailSerializer(CallSerializer):
    """One request of the model, and its one answer."""

    steps = serializers.ListField(help_text="What the tool has told of its work.")

    class Meta(CallSerializer.Meta):
        fields = (*CallSerializer.Meta.fields, "steps", "result")
        extra_kwargs: ClassVar = {
            **CallSerializer.Meta.extra_kwargs,
            "result": {
                "help_text": "What came of it, with `ok`, `data`, `message` and "
                "`error`; null while it is open."
            },
        }


class CallFilter(FilterSet):
    run = UUIDFilter()
    conversation = UUIDFilter("run__conversation_id")
    status = ChoiceFilter(choices=CallStatus.choices)
    tool = CharFilter(
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
