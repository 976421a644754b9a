import json
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import get_or_404, runs, waits_for_person
from ai_assistant.engine.service import next_prompt, prompts_of, stop
from ai_assistant.engine.storage.eventlog import StoredEvent, events_after
from ai_assistant.models.conversation import Feedback
from ai_assistant.models.run import FINAL, Channel, Run, RunState
from ai_assistant.render.html.transcript.entries import shows_reasoning
from ai_assistant.types import UserKey
from ai_assistant.web.panel.fields import MAX_PATH_CHARS, page_path
from ai_assistant.web.rest import lists
from ai_assistant.web.rest.base import (
    ApiView,
    ApiViewSet,
    caller_of,
    carry_out,
    operation,
    user_key,
)
from ai_assistant.web.rest.conversations import QueuedSerializer
from ai_assistant.web.rest.routes import api_reverse
from ai_assistant.web.rest.serializers import (
    Body,
    Flag,
    Id,
    ReadModelSerializer,
    ReadSerializer,
    Text,
)
from ai_assistant.web.rest.starting import Started, read_key, start, start_again

REASONING = "REASONING_MESSAGE_CONTENT"
MOST_EVENTS = 1000
OF_A_START = ("not_found", "too_many_runs", "limited", "key_reused", "bad_key")


class RunSerializer(ReadModelSerializer):
    """From one message of the user to the final answer."""

    is_final = serializers.BooleanField(help_text="Whether it has ended.")
    waits_for_person = serializers.SerializerMethodField(
        help_text="Whether it, or an agent that it has asked, continues only when its "
        "user answers."
    )
    stop_requested = serializers.BooleanField(source="is_stopping")
    last_event = serializers.SerializerMethodField(
        help_text="The number of its newest event."
    )
    door = serializers.ChoiceField(
        Channel.choices,
        source="channel",
        help_text="The interface through which it was started.",
    )
    rating = serializers.ChoiceField(
        ["", *Feedback.Value.values],
        help_text="What its user thinks of the answer: `up`, `down`, or empty.",
    )

    class Meta:
        model = Run
        fields = (
            *("id", "conversation", "kind", "continues", "after", "wish", "state"),
            *("is_final", "waits_for_person", "stop_requested"),
            *("error_code", "error_text", "opens_at"),
            *("last_event", "page_path", "page_title", "module", "profile"),
            *("fallback", "fallback_code", "agent", "look_only", "door", "rating"),
            *("context_rounds", "root"),
            *("created_at", "finished_at"),
        )
        extra_kwargs: ClassVar = {
            "kind": {
                "help_text": "`message`, or in place of one: `continue`, `retry`, "
                "`version`."
            },
            "continues": {"help_text": "The run that this one continues."},
            "after": {
                "help_text": "The run before it. Runs behind the same one are versions "
                "of each other: branches of the conversation."
            },
            "wish": {"help_text": "The requested style: `shorter`, or empty."},
            "error_code": {"help_text": "Why it did not succeed, or empty."},
            "error_text": {"help_text": "The same as a sentence."},
            "opens_at": {
                "help_text": "When the limit that ended it no longer applies."
            },
            "context_rounds": {
                "help_text": "For how many messages of the user the model is told it; "
                "null: for ever."
            },
            "root": {
                "help_text": "Of a run of an agent that was asked: the run of the "
                "user's message for which it works."
            },
            "fallback": {
                "help_text": "The profile whose model has answered in place of that of "
                "`profile`, or empty."
            },
            "fallback_code": {
                "help_text": "Why the model of `profile` could not, or empty."
            },
        }

    def get_last_event(self, row: Run) -> int:
        return row.next_seq - 1

    def get_waits_for_person(self, row: Run) -> bool:
        return bool(waits_for_person(row))


def told_runs(user_id: UserKey) -> QuerySet[Run]:
    """Return the runs of a user as RunSerializer reads them."""
    own = Feedback.objects.filter(run=OuterRef("pk"), user=user_id)
    rated = Coalesce(Subquery(own.values("value")[:1]), Value(""))
    return runs(user_id).annotate(rating=rated)


class EventSerializer(ReadSerializer):
    """A fact of a run; its type is an AG-UI 1.0 name, or `CUSTOM`."""

    number = serializers.IntegerField(source="seq", help_text="From 1, without gaps.")
    type = serializers.CharField()
    data = serializers.SerializerMethodField()

    def get_data(self, event: StoredEvent) -> dict[str, Any]:
        # Without what the model thinks, where that is hidden.
        is_hidden = event.type == REASONING and not self.context["reasons"]
        return {**event.payload, **({"delta": ""} if is_hidden else {})}


class EventsSerializer(ReadSerializer):
    """The events of a run after a number, and the run's state when they were read."""

    run = serializers.UUIDField(source="run.pk")
    state = serializers.ChoiceField(RunState.choices, source="run.state")
    is_final = serializers.BooleanField(source="run.is_final")
    last_event = serializers.IntegerField(
        help_text="There are more while this exceeds the last."
    )
    events = EventSerializer(many=True)


class EventsQuery(serializers.Serializer[Any]):
    """Which events."""

    after = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=2**31 - 1,
        help_text="Only those with a higher number.",
    )
    limit = serializers.IntegerField(default=500, min_value=1, max_value=MOST_EVENTS)


class PartSerializer(ReadSerializer):
    """A part of a prompt."""

    id = serializers.CharField()
    source = serializers.CharField(help_text="Who wrote it.")
    text = serializers.CharField()
    is_cacheable = serializers.BooleanField(
        help_text="Whether it is the same on all pages of a module."
    )
    tokens = serializers.IntegerField(help_text="About how many it has.")


class ShownPromptSerializer(ReadSerializer):
    """A prompt as the model gets it, without secrets."""

    parts = PartSerializer(many=True)
    tools = serializers.SerializerMethodField(help_text="Their schemas.")
    left_out = serializers.ListField(
        child=serializers.CharField(),
        help_text="The parts for which there was no room.",
    )
    tokens = serializers.IntegerField(help_text="About how many it has.")

    def get_tools(self, prompt: Any) -> list[dict[str, Any]]:
        return json.loads(prompt.tools or "[]")  # type: ignore[no-any-return]


class PromptSerializer(ReadSerializer):
    """The prompt of a model call."""

    step = serializers.IntegerField(help_text="From 0.")
    prompt = ShownPromptSerializer()


class PromptsSerializer(ReadSerializer):
    """The prompts of a run."""

    prompts = PromptSerializer(many=True)


class PromptQuery(serializers.Serializer[Any]):
    """Of which page."""

    page_path = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=MAX_PATH_CHARS,
        help_text="The page of this site on which the message would be sent.",
    )


class StartBody(Body):
    """A message of the user."""

    text = Text(min_length=1, help_text="The message of the user.")
    conversation = Id(
        default=None,
        allow_null=True,
        help_text="One of your conversations; without it a new one is created.",
    )
    page_path = Text(
        default="",
        allow_blank=True,
        max_length=MAX_PATH_CHARS,
        help_text="The page of this site that the user is on.",
    )
    look_only = Flag(default=False, help_text="This run may only read.")
    agent = Text(
        default=None,
        allow_null=True,
        allow_blank=True,
        help_text="The agent that answers; empty: none. Without it that of the "
        "conversation.",
    )

    def validate_page_path(self, path: str) -> str:
        if path and (page_path(path) != path or " " in path):
            detail = _("it is not the path of a page of this site; begin it with “/”")
            raise serializers.ValidationError(detail)
        return path


class RunFilter(lists.FilterSet):
    conversation = lists.UUIDFilter()
    state = lists.ChoiceFilter(choices=RunState.choices)
    final = lists.ConditionFilter(
        Q(state__in=FINAL), help_text="Those that ended, or the others."
    )
    created_after = lists.MomentFilter("created_at", "gt")
    root = lists.UUIDFilter(help_text="Those of agents that work for this run.")


class RunViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """The own runs, the newest first."""

    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunFilter

    def get_queryset(self) -> QuerySet[Run]:
        """Return the runs; a list leaves those of agents out, unless it asks for them."""
        rows = told_runs(user_key(self.request))
        is_all = self.action != "list" or "root" in self.request.query_params
        return rows if is_all else rows.filter(root=None)

    @operation(
        id="runs_start",
        body=StartBody,
        takes_key=True,
        answers={201: RunSerializer, 200: RunSerializer, 202: QueuedSerializer},
        problems=(
            *(*OF_A_START, "interrupts_open", "queue_full"),
            *("empty", "too_long", "binary", "no_agent"),
            *("arguments", "answered", "command_failed", "timeout"),
        ),
        example={"text": "How many orders are open?", "page_path": "/admin/"},
    )
    def create(self, request: Request) -> Response:
        """
        Start a run.

        The server executes it, whether the client stays or not. With an
        `Idempotency-Key`, a repeat of the same request answers 200 with the same run;
        the same key with another body is refused as `key_reused`. While another run of
        the conversation works, the message waits in its queue: 202. The same request
        then answers 200 with the run once it is started.
        """
        body, key = self.read_body(), read_key(request)
        return answer_started(self, start(caller_of(request), body, key))

    @operation(answers={200: RunSerializer}, problems=("not_found",))
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, id: UUID) -> Response:
        """
        Stop a run.

        Answers at once; `is_final` says whether the run has ended already. A run that
        has ended stays as it is.
        """
        carry_out(stop(user_key(request), self.get_object().pk))
        return self.retrieve(request)

    @operation(
        takes_key=True,
        answers={201: RunSerializer, 200: RunSerializer},
        problems=(*OF_A_START, "busy", "not_ended"),
    )
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, id: UUID) -> Response:
        """
        Retry or continue an ended run.

        A run that failed is asked its question again, by another version beside it (the
        same `after`); one that was stopped or limited is asked to go on. The answer is a
        new run that `continues` it.
        """
        key, run = read_key(request), self.get_object()
        return answer_started(self, start_again(caller_of(request), run.pk, key))

    @operation(answers={200: PromptsSerializer}, problems=("not_found",))
    @action(detail=True)
    def prompts(self, request: Request, id: UUID) -> Response:
        """
        Read the prompts of a run, one for each of its model calls.

        For superusers: they hold the words of the site.
        """
        run = self.get_object()  # that of another user is not found
        of_superusers(request)
        prompts = [
            {"step": index, "prompt": prompt} for index, prompt in prompts_of(run)
        ]
        return Response(PromptsSerializer({"prompts": prompts}).data)

    @operation(
        query=EventsQuery, answers={200: EventsSerializer}, problems=("not_found",)
    )
    @action(detail=True)
    def events(self, request: Request, id: UUID) -> Response:
        """
        Read the events of a run after a number.

        Ask again with the number of the last one; the run has ended when `is_final` is
        true and there are no more.
        """
        query = self.read_query()
        run = self.get_object()  # before its events: it may go on meanwhile
        events = events_after(run.pk, query["after"], most=query["limit"])
        page = {"run": run, "last_event": run.next_seq - 1, "events": events}
        context = {"reasons": shows_reasoning(run)}
        return Response(EventsSerializer(page, context=context).data)


def answer_started(view: ApiView, started: Started) -> Response:
    """Return the answer with the run, or with the message that waits for one."""
    queued = started.queued
    if queued is not None:
        address = api_reverse("queue-list", queued.conversation_id)
        return view.answer_with(QueuedSerializer, queued, 202, address)
    rows = told_runs(user_key(view.request))
    if isinstance(view, RunViewSet):
        rows = view.get_queryset()
    run = get_or_404(rows, started.run_id)
    status = 201 if started.is_new else 200
    address = api_reverse("runs-detail", run.pk)
    return view.answer_with(RunSerializer, run, status, address)


class NextPromptView(ApiView):
    """The prompt of a message that is not sent yet."""

    @operation(
        id="prompt_read", query=PromptQuery, answers={200: ShownPromptSerializer}
    )
    def get(self, request: Request) -> Response:
        """
        Read the prompt that the next message on a page would get.

        For superusers: it holds the words of the site. Nothing is sent.
        """
        of_superusers(request)
        query = self.read_query()
        prompt = carry_out(next_prompt(request.user, page_path(query["page_path"])))
        return Response(ShownPromptSerializer(prompt).data)


def of_superusers(request: Request) -> None:
    """Raise PermissionDenied for anybody else."""
    if not getattr(request.user, "is_superuser", False):
        raise exceptions.PermissionDenied
