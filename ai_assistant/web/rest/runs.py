from uuid import UUID

from django.urls import reverse
from pydantic import AwareDatetime, Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.eventlog import events_after
from ai_assistant.engine.service import stop
from ai_assistant.exceptions import Refused
from ai_assistant.models.run import FINAL, Run, RunState
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, caller_of, user_key
from ai_assistant.web.rest.carrying import carry_out
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_body, read_key, read_query
from ai_assistant.web.rest.shapes.base import in_time, one_of
from ai_assistant.web.rest.shapes.queued import QueuedShape, queued_shape
from ai_assistant.web.rest.shapes.runs import (
    EventsShape,
    RunPage,
    RunShape,
    events_shape,
    run_shape,
)
from ai_assistant.web.rest.starting import StartBody, Started, start, start_again

MOST_EVENTS = 1000
OF_A_START = ("not_found", "too_many_runs", "limited", "key_reused", "bad_key")


class RunsQuery(PageQuery):
    """Which runs."""

    conversation: UUID | None = None
    state: RunState | None = one_of(RunState, default=None)
    final: bool | None = Field(None, description="Ended, or not ended.")
    created_after: AwareDatetime | None = in_time()


class EventsQuery(Query):
    """Which events."""

    after: int = Field(0, ge=0, lt=2**31, description="Only those of a higher number.")
    limit: int = Field(500, ge=1, le=MOST_EVENTS)


class RunsView(ApiView):
    """The own runs."""

    @operation(
        "runs_list", "List the own runs", query=RunsQuery, answers={200: RunPage}
    )
    def get(self, request: Request) -> Response:
        """Return a page of runs."""
        query = read_query(request, RunsQuery)
        rows = Run.objects.filter(
            user_id=user_key(request), conversation__deleted_at=None
        )
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
        about="The server carries it out, whether the client stays or not. With an "
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
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - of the address
        """Return a run."""
        read_query(request, Query)
        return answered(run_shape(_own_run(user_key(request), id)))


class StopView(ApiView):
    """Stops a run."""

    @operation(
        "runs_stop",
        "Stop a run",
        about="Answers at once; `is_final` says whether the run has ended already. A "
        "run that has ended stays as it is.",
        answers={200: RunShape},
        problems=("not_found",),
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Ask for the end of a run, and return it."""
        carry_out(stop(user_key(request), id))
        return answered(run_shape(_own_run(user_key(request), id)))


class RetryView(ApiView):
    """Tries again, or goes on."""

    @operation(
        "runs_retry",
        "Try an ended run again, or go on from it",
        about="A run that failed is asked its question again, by another version beside "
        "it (the same `after`); one that was stopped or limited is asked to go on. The "
        "answer is a new run that `continues` it.",
        takes_key=True,
        answers={201: RunShape, 200: RunShape},
        problems=(*OF_A_START, "busy", "not_ended"),
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start the run that continues another."""
        key = read_key(request)
        return _started(request, start_again(caller_of(request), id, key))


class EventsView(ApiView):
    """What happened in a run."""

    @operation(
        "runs_events",
        "Read the events of a run after a number",
        about="Ask again with the number of the last one; the run has ended when "
        "`is_final` is true and there are no more.",
        query=EventsQuery,
        answers={200: EventsShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return events, in order."""
        query = read_query(request, EventsQuery)
        run = _own_run(
            user_key(request), id
        )  # before its events: it may go on meanwhile
        events = events_after(run.pk, query.after, most=query.limit)
        return answered(events_shape(run, events))


def _own_run(user_id: UserKey, run_id: UUID) -> Run:
    found = Run.objects.filter(
        pk=run_id, user_id=user_id, conversation__deleted_at=None
    ).first()
    if found is None:
        raise Refused("not_found", "")
    return found


def _started(request: Request, started: Started) -> Response:
    if started.queued is not None:
        row = started.queued
        address = reverse("ai_assistant:api-queue", args=[row.conversation_id])
        return answered(queued_shape(row), 202, {"Location": address})
    run = _own_run(user_key(request), started.run_id)
    address = reverse("ai_assistant:api-run", args=[run.pk])
    status = 201 if started.is_new else 200
    return answered(run_shape(run), status, {"Location": address})
