"""More to say: to a run under way, in the queue, or in place of what was said before."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import (
    conversations,
    get_or_404,
    messages,
    queued_messages,
    runs,
)
from ai_assistant.engine.service import (
    SendNowRequest,
    drop_queued,
    edited_submission,
    move_queued,
    regenerate_submission,
    send_now,
    switch,
    undo_summary,
)
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.web.rest.base import (
    ApiView,
    ApiViewSet,
    caller_of,
    carry_out,
    operation,
    user_key,
)
from ai_assistant.web.rest.conversations import MessageSerializer, QueuedSerializer
from ai_assistant.web.rest.runs import (
    OF_A_START,
    RunSerializer,
    StartBody,
    answer_started,
    told_runs,
)
from ai_assistant.web.rest.serializers import Body, Text
from ai_assistant.web.rest.starting import (
    Started,
    read_key,
    start,
    start_version,
    steer,
    version_of,
)

OF_A_TEXT = ("empty", "too_long", "binary")
OF_A_COMMAND = ("arguments", "answered", "command_failed", "timeout")
MOST_PLACES = 1000


class TextBody(Body):
    """What the user says."""

    text = Text(min_length=1, help_text="The message of the user.")


class QueueBody(StartBody):
    """A message for a conversation whose run is under way."""

    conversation = None  # the address names it


class MoveBody(Body):
    """Where a message goes in the queue."""

    by = serializers.IntegerField(
        min_value=-MOST_PLACES,
        max_value=MOST_PLACES,
        help_text="By so many places; below 0 it is started sooner.",
    )


class VersionBody(Body):
    """How the question is to be answered this time."""

    wish = Text(default="", allow_blank=True, help_text="`shorter`, or empty.")
    profile = Text(
        default="",
        allow_blank=True,
        help_text="A profile with a LABEL, whose model answers; empty: as before.",
    )


class RunSteerView(ApiView):
    """What a run under way is told."""

    @operation(
        id="runs_steer",
        body=TextBody,
        takes_key=True,
        answers={200: RunSerializer, 202: QueuedSerializer},
        problems=("not_found", "ended", "busy", "bad_key", *OF_A_TEXT, *OF_A_COMMAND),
        example={"text": "Leave the archived ones out."},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """
        Tell a run under way something.

        Its next step reads it. While the model writes, it waits for that: 202. If the run
        ends before, it is the next message of the queue.
        """
        body, key = self.read_body(), read_key(request)
        run = self.own_row(runs(user_key(request)), id)
        return answer_started(self, steer(caller_of(request), run, body["text"], key))


class MessageEditView(ApiView):
    """Another question in the place of one that was asked."""

    @operation(
        id="messages_edit",
        body=TextBody,
        takes_key=True,
        answers={201: RunSerializer, 200: RunSerializer},
        problems=(*OF_A_START, "busy", "not_ended", *OF_A_TEXT, *OF_A_COMMAND),
        example={"text": "And how many in March?"},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """
        Ask another question in the place of one of the user.

        The conversation branches there: the new run stands beside that of the message (the
        same `after`), and is shown. What was changed meanwhile stays changed.
        """
        body, key = self.read_body(), read_key(request)
        own = messages(user_key(request))
        message = self.own_row(own.filter(pk__in=Message.objects.questions()), id)
        version = version_of(caller_of(request), message.run_id, key)
        submission = edited_submission(version, body["text"])
        return answer_started(self, start_version(caller_of(request), submission))


class MessageUndoView(ApiView):
    """What was summed up, told to the model as it was said."""

    @operation(
        id="messages_undo",
        answers={200: MessageSerializer},
        problems=("not_found", "newer"),
    )
    def post(self, request: Request, id: UUID) -> Response:
        """
        Take a summary back.

        The model is told the messages themselves again. Nothing of them is lost, and
        the summary stays, with the state `undone`.
        """
        own = messages(user_key(request)).select_related("run")
        carry_out(undo_summary(user_key(request), self.own_row(own, id).pk))
        return self.answer_with(MessageSerializer, get_or_404(own, id))


class RunRegenerateView(ApiView):
    """Another answer to the question of a run."""

    @operation(
        id="runs_regenerate",
        body=VersionBody,
        takes_key=True,
        answers={201: RunSerializer, 200: RunSerializer},
        problems=(*OF_A_START, "busy", "not_ended"),
        example={"wish": "shorter"},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Ask the question of an ended run again, beside it (the same `after`)."""
        body, key = self.read_body(), read_key(request)
        run = self.own_row(runs(user_key(request)), id)
        version = version_of(caller_of(request), run.pk, key)
        submission = regenerate_submission(version, **body)
        return answer_started(self, start_version(caller_of(request), submission))


class RunShowView(ApiView):
    """The branch of a conversation that is shown, and goes on."""

    @operation(
        id="runs_show", answers={200: RunSerializer}, problems=("not_found", "busy")
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Show the branch through a run: the next message goes on from its end."""
        own = told_runs(user_key(request))
        carry_out(switch(user_key(request), self.own_row(own, id).pk))
        return self.answer_with(RunSerializer, get_or_404(own, id))


class QueueViewSet(ListModelMixin, ApiViewSet):
    """
    The messages that wait in a conversation, the next one first.

    Each is started when the run before it has succeeded. After one that ended otherwise
    they wait for a person.
    """

    queryset = QueuedMessage.objects.none()
    serializer_class = QueuedSerializer
    ordering = ("position", "pk")
    lookup_url_kwarg = "message"

    def get_queryset(self) -> QuerySet[QueuedMessage]:
        rows = conversations(user_key(self.request))
        return queued_messages(get_or_404(rows, self.kwargs["id"]).pk)

    def check_row(self, message: UUID) -> None:
        """Ask the permissions of the view for a message, if it is waiting still."""
        row: Any = self.get_queryset().filter(pk=message).first()
        if row is not None:
            self.check_object_permissions(self.request, row)

    @operation(
        id="queue_add",
        body=QueueBody,
        takes_key=True,
        answers={202: QueuedSerializer, 201: RunSerializer, 200: RunSerializer},
        problems=(
            *(*OF_A_START, "interrupts_open", "queue_full", "no_agent"),
            *(*OF_A_TEXT, *OF_A_COMMAND),
        ),
        example={"text": "Then list those of March."},
    )
    def create(self, request: Request, id: UUID) -> Response:
        """Add a message: 202. Where nothing is under way it starts a run at once: 201."""
        fields = {**self.read_body(), "conversation": id}
        started = start(caller_of(request), fields, read_key(request))
        return answer_started(self, started)

    @operation(id="queue_drop", answers={204: None}, problems=("not_found", "sent"))
    def destroy(self, request: Request, id: UUID, message: UUID) -> Response:
        """Drop a waiting message."""
        self.check_row(message)
        carry_out(drop_queued(user_key(request), id, message))
        return Response(status=204)

    @operation(
        id="queue_move",
        body=MoveBody,
        answers={200: QueuedSerializer},
        problems=("not_found", "sent"),
        example={"by": -1},
    )
    def partial_update(self, request: Request, id: UUID, message: UUID) -> Response:
        """Move a waiting message, at most to either end of the queue."""
        by = self.read_body()["by"]
        self.check_row(message)
        carry_out(move_queued(user_key(request), id, message, by))
        moved: Any = get_or_404(self.get_queryset(), message)  # or it is sent by now
        return self.answer_with(QueuedSerializer, moved)

    @operation(
        id="queue_send",
        answers={200: RunSerializer, 201: RunSerializer, 202: QueuedSerializer},
        problems=("not_found", "sent", "busy", "too_many_runs", "limited"),
    )
    @action(detail=True, methods=["post"])
    def send(self, request: Request, id: UUID, message: UUID) -> Response:
        """Send a waiting message now: to the run under way, or in a run of its own."""
        self.check_row(message)
        return self._sent(request, id, message)

    @operation(
        id="queue_resume",
        answers={200: RunSerializer, 201: RunSerializer, 202: QueuedSerializer},
        problems=("not_found", "sent", "busy", "too_many_runs", "limited"),
    )
    @action(detail=False, methods=["post"])
    def resume(self, request: Request, id: UUID) -> Response:
        """Let a queue continue that has paused."""
        return self._sent(request, id)

    def _sent(
        self, request: Request, id: UUID, message: UUID | None = None
    ) -> Response:
        wanted = SendNowRequest(
            user_id=user_key(request),
            conversation_id=id,
            stamp=caller_of(request).stamp,
            queued_id=message,
        )
        accepted = carry_out(send_now(wanted))
        rows: Any = self.get_queryset()
        queued = rows.filter(pk=accepted.queued).first() if accepted.queued else None
        started = Started(run_id=accepted.run_id, is_new=accepted.is_new, queued=queued)
        return answer_started(self, started)
