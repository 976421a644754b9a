from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from pydantic import AwareDatetime, Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import get_or_404, runs
from ai_assistant.engine.service import stop
from ai_assistant.engine.storage.eventlog import StoredEvent, events_after
from ai_assistant.models.run import FINAL, Channel, Run, RunState
from ai_assistant.render.html.transcript.entries import shows_reasoning
from ai_assistant.web.rest.base import ApiView, answered, caller_of, user_key
from ai_assistant.web.rest.conversations import QueuedShape, queued_shape
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import (
    Query,
    carry_out,
    read_body,
    read_key,
    read_query,
)
from ai_assistant.web.rest.shapes import JSON, Page, Shape, in_time, one_of, operation
from ai_assistant.web.rest.starting import StartBody, Started, start, start_again

REASONING = "REASONING_MESSAGE_CONTENT"


class RunShape(Shape):
    """From one message of the user to the final answer."""

    id: UUID
    conversation: UUID
    continues: UUID | None = Field(description="The run that this one continues.")
    after: UUID | None = Field(
        description="The run before it. Runs behind the same one are versions of each "
        "other: branches of the conversation."
    )
    wish: str = Field(description="The requested style: `shorter`, or empty.")
    state: str = one_of(RunState)
    is_final: bool = Field(description="Whether it has ended.")
    stop_requested: bool
    error_code: str = Field(description="Why it did not succeed, or empty.")
    error_text: str = Field(description="The same as a sentence.")
    opens_at: datetime | None = Field(
        description="When the limit that ended it no longer applies."
    )
    last_event: int = Field(description="The number of its newest event.")
    page_path: str
    page_title: str
    module: str
    profile: str
    look_only: bool
    door: str = one_of(Channel, "The interface through which it was started.")
    created_at: datetime
    finished_at: datetime | None


class RunPage(Page[RunShape]):
    """Runs, the newest first."""


class EventShape(Shape):
    """A fact of a run; its type is an AG-UI 1.0 name, or `CUSTOM`."""

    number: int = Field(description="From 1, without gaps.")
    type: str = Field(examples=["TEXT_MESSAGE_CONTENT"])
    data: dict[str, JSON]


class EventsShape(Shape):
    """The events of a run after a number, and the run's state when they were read."""

    run: UUID
    state: str = one_of(RunState)
    is_final: bool
    last_event: int = Field(description="There are more while this exceeds the last.")
    events: list[EventShape]


def run_shape(row: Run) -> RunShape:
    """Return a run."""
    return RunShape(
        id=row.pk,
        conversation=row.conversation_id,
        continues=row.continues_id,
        after=row.after_id,
        wish=row.wish,
        state=row.state,
        is_final=row.is_final,
        stop_requested=row.is_stopping,
        error_code=row.error_code,
        error_text=row.error_text,
        opens_at=row.opens_at,
        last_event=row.next_seq - 1,
        page_path=row.page_path,
        page_title=row.page_title,
        module=row.module,
        profile=row.profile,
        look_only=row.look_only,
        door=row.channel,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def events_shape(row: Run, events: Iterable[StoredEvent]) -> EventsShape:
    """Return `events` of a run; without what the model thinks, where that is hidden."""
    reasons = shows_reasoning(row)
    return EventsShape(
        run=row.pk,
        state=row.state,
        is_final=row.is_final,
        last_event=row.next_seq - 1,
        events=[
            EventShape(
                number=one.seq,
                type=one.type,
                data=one.payload
                if reasons or one.type != REASONING
                else {**one.payload, "delta": ""},
            )
            for one in events
        ],
    )


MOST_EVENTS = 1000
OF_A_START = ("not_found", "too_many_runs", "limited", "key_reused", "bad_key")


class RunsQuery(PageQuery):
    """Which runs."""

    conversation: UUID | None = None
    state: RunState | None = one_of(RunState, default=None)
    final: bool | None = Field(None, description="Those that ended, or the others.")
    created_after: AwareDatetime | None = in_time()


class EventsQuery(Query):
    """Which events."""

    after: int = Field(
        0, ge=0, lt=2**31, description="Only those with a higher number."
    )
    limit: int = Field(500, ge=1, le=MOST_EVENTS)


class RunsView(ApiView):
    """The own runs."""

    @operation("runs_list", "List your runs", query=RunsQuery, answers={200: RunPage})
    def get(self, request: Request) -> Response:
        """Return a page of runs."""
        query = read_query(request, RunsQuery)
        rows = runs(user_key(request))
        if query.conversation is not None:
            rows = rows.filter(conversation_id=query.conversation)
        if query.state is not None:
            rows = rows.filter(state=query.state)
        if query.final is not None:
            ended = rows.filter(state__in=FINAL)
            rows = ended if query.final else rows.exclude(state__in=FINAL)
        if query.created_after is not None:
            rows = rows.filter(created_at__gt=query.created_after)
        page = page_of(
            request, rows, "-created_at", RunPage, lambda found: map(run_shape, found)
        )
        return answered(page)

    @operation(
        "runs_start",
        "Start a run",
        about="The server executes it, whether the client stays or not. With an "
        "`Idempotency-Key`, a repeat of the same request answers 200 with the same "
        "run; the same key with another body is refused as `key_reused`. While another "
        "run of the conversation works, the message waits in its queue: 202. The same "
        "request then answers 200 with the run once it is started.",
        body=StartBody,
        takes_key=True,
        answers={201: RunShape, 200: RunShape, 202: QueuedShape},
        problems=(
            *(*OF_A_START, "interrupts_open", "queue_full"),
            *("empty", "too_long", "binary"),
        ),
        example={"text": "How many orders are open?", "page_path": "/admin/"},
    )
    def post(self, request: Request) -> Response:
        """Accept a message and have its run carried out."""
        body, key = read_body(request, StartBody), read_key(request)
        return _started(request, start(caller_of(request), body, key))


class RunView(ApiView):
    """One run."""

    @operation(
        "runs_read",
        "Read a run",
        query=Query,
        answers={200: RunShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a run."""
        read_query(request, Query)
        return answered(run_shape(get_or_404(runs(user_key(request)), id)))


class StopView(ApiView):
    """Stops a run."""

    @operation(
        "runs_stop",
        "Stop a run",
        about="Answers at once; `is_final` says whether the run has already ended. A "
        "run that has ended is not changed.",
        answers={200: RunShape},
        problems=("not_found",),
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Ask for the end of a run, and return it."""
        carry_out(stop(user_key(request), id))
        return answered(run_shape(get_or_404(runs(user_key(request)), id)))


class RetryView(ApiView):
    """Tries again, or goes on."""

    @operation(
        "runs_retry",
        "Retry or continue an ended run",
        about="A run that failed is retried as another version of its answer (the same "
        "`after`); one that was stopped or limited is continued. The answer is a "
        "new run that `continues` it.",
        takes_key=True,
        answers={201: RunShape, 200: RunShape},
        problems=(*OF_A_START, "busy", "not_ended"),
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Start the run that continues another."""
        key = read_key(request)
        return _started(request, start_again(caller_of(request), id, key))


class EventsView(ApiView):
    """What happened in a run."""

    @operation(
        "runs_events",
        "Read the events of a run after a number",
        about="Call it again with the number of the last one; the run has ended when "
        "`is_final` is true and there are no more.",
        query=EventsQuery,
        answers={200: EventsShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return events, in order."""
        query = read_query(request, EventsQuery)
        # Before its events: it may go on meanwhile.
        run = get_or_404(runs(user_key(request)), id)
        events = events_after(run.pk, query.after, most=query.limit)
        return answered(events_shape(run, events))


def _started(request: Request, started: Started) -> Response:
    if started.queued is not None:
        row = started.queued
        address = reverse("ai_assistant:api-queue", args=[row.conversation_id])
        return answered(queued_shape(row), 202, {"Location": address})
    run = get_or_404(runs(user_key(request)), started.run_id)
    address = reverse("ai_assistant:api-run", args=[run.pk])
    status = 201 if started.is_new else 200
    return answered(run_shape(run), status, {"Location": address})
