from typing import Any, ClassVar

from django.db.models import OuterRef, Q, QuerySet, Subquery
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import (
    conversations,
    get_or_404,
    has_news,
    hidden_runs,
    messages,
)
from ai_assistant.engine.service import delete, rename
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import UNFINISHED, Channel, Run
from ai_assistant.render.html.transcript.entries import shows_reasoning
from ai_assistant.web.rest import lists
from ai_assistant.web.rest.base import (
    ApiViewSet,
    caller_of,
    carry_out,
    operation,
    user_key,
)
from ai_assistant.web.rest.serializers import Body, ReadModelSerializer, Text

TITLE_CHARS = 200


class ConversationSerializer(ReadModelSerializer):
    """All messages about one matter."""

    active_run = serializers.UUIDField(
        allow_null=True, help_text="Its run that has not ended, if any."
    )
    unread = serializers.BooleanField(
        help_text="Whether an answer in the panel ended since its owner last saw it."
    )

    class Meta:
        model = Conversation
        fields = (
            *("id", "title", "active_run", "shown_run", "pinned_at", "archived_at"),
            *("unread", "created_at", "updated_at"),
        )
        extra_kwargs: ClassVar = {
            "shown_run": {
                "help_text": "The last run of the branch that is shown; null: the "
                "newest run."
            }
        }


class MessageSerializer(ReadModelSerializer):
    """One entry of a conversation."""

    text = serializers.CharField(
        help_text="All text of it, without reasoning and calls."
    )
    parts = serializers.SerializerMethodField(
        help_text="In order: `text` and `reasoning` with their `text`, `call` with the "
        "`call_id` of a tool call. The field `type` says which."
    )

    class Meta:
        model = Message
        fields = (
            *("id", "conversation", "run", "position", "role", "state", "text"),
            *("parts", "created_at"),
        )
        extra_kwargs: ClassVar = {
            "position": {"help_text": "From 0, within the conversation."}
        }

    def get_parts(self, row: Message) -> list[dict[str, Any]]:
        reasons = shows_reasoning(row.run)
        return [part for part in row.parts if reasons or part["type"] != "reasoning"]


class QueuedSerializer(ReadModelSerializer):
    """A message that waits for the end of a run."""

    door = serializers.ChoiceField(
        Channel.choices,
        source="channel",
        help_text="The interface through which it was sent.",
    )

    class Meta:
        model = QueuedMessage
        fields = (
            *("id", "conversation", "position", "text", "page_path", "page_title"),
            *("profile", "agent", "look_only", "door", "held", "created_at"),
        )
        extra_kwargs: ClassVar = {
            "position": {"help_text": "Those of a lower one are started before it."},
            "held": {
                "help_text": "Why it waits for a person to start it in the panel, or empty."
            },
        }


class TitleBody(Body):
    """What a conversation is called."""

    title = Text(min_length=1, max_length=TITLE_CHARS)


class ConversationFilter(lists.FilterSet):
    used_after = lists.MomentFilter("updated_at", "gt")
    active = lists.ConditionFilter(
        Q(active_run__isnull=False), help_text="Those with a run that has not ended."
    )


class ConversationViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """The own conversations, the last used first."""

    queryset = Conversation.objects.none()
    serializer_class = ConversationSerializer
    filterset_class = ConversationFilter
    ordering = ("-updated_at", "-pk")

    def get_queryset(self) -> QuerySet[Conversation]:
        """Return the conversations of the user, each with `active_run` and `unread`."""
        unfinished = Run.objects.filter(
            conversation=OuterRef("pk"), state__in=UNFINISHED
        )
        return conversations(user_key(self.request)).annotate(
            active_run=Subquery(unfinished.values("pk")[:1]), unread=has_news()
        )

    @operation(
        id="conversations_rename",
        body=TitleBody,
        problems=("not_found", "empty", "too_long", "binary"),
        example={"title": "Orders of March"},
    )
    def partial_update(self, request: Request, id: Any) -> Response:
        """Rename a conversation."""
        title, row = self.read_body()["title"], self.get_object()
        carry_out(rename(user_key(request), row.pk, title))
        return self.retrieve(request)

    @operation(
        id="conversations_delete",
        answers={204: None},
        problems=("not_found", "busy"),
    )
    def destroy(self, request: Request, id: Any) -> Response:
        """
        Delete a conversation.

        Its messages, runs, calls and images of changes go with it, so that what it
        changed cannot be undone any more. Its usage and the audit log are kept.
        """
        row, ip = self.get_object(), caller_of(request).stamp.ip
        carry_out(delete(user_key(request), row.pk, ip, for_good=True))
        return Response(status=204)


class MessageFilter(lists.FilterSet):
    run = lists.UUIDFilter()
    all = lists.FlagFilter(
        method=lambda rows, name, value: rows,
        help_text="All branches, not only the one that is shown.",
    )
    after = lists.NumberFilter(
        "position",
        "gt",
        min_value=0,
        max_value=2**31 - 1,
        help_text="Only messages with a higher position.",
    )

    def filter_queryset(self, queryset: Any) -> Any:
        """Return the rows: of the branch that is shown, if nothing else is asked for."""
        filters = self.form.cleaned_data
        if not (filters["run"] or filters["all"]):
            conversation = self.request.parser_context["kwargs"]["id"]
            queryset = queryset.exclude(run_id__in=hidden_runs(conversation))
        return super().filter_queryset(queryset)


class MessageViewSet(ListModelMixin, ApiViewSet):
    """
    The messages of a conversation, the oldest first.

    Those of the branch that is shown, if the conversation has several. A text that is still
    being written is among the events of its run.
    """

    queryset = Message.objects.none()
    serializer_class = MessageSerializer
    filterset_class = MessageFilter
    ordering = ("position", "pk")

    def get_queryset(self) -> QuerySet[Message]:
        user_id = user_key(self.request)
        conversation = get_or_404(conversations(user_id), self.kwargs["id"])
        return messages(user_id).filter(conversation=conversation).select_related("run")
