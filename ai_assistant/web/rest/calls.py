from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import calls, get_or_404
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes import JSON, Page, Shape, one_of, operation


class CallShape(Shape):
    """One request of the model, without its result."""

    id: UUID
    run: UUID
    conversation: UUID
    parent: UUID | None = Field(description="The call that made this one.")
    step: int = Field(description="From 0, within the run.")
    position: int = Field(description="From 0, within the step.")
    tool: str
    label: str
    effect: str
    status: str = one_of(CallStatus)
    reason: str = Field(description="expired, skipped, person, ... or empty")
    arguments: dict[str, JSON]
    background: bool
    asks: bool = Field(description="It has to be approved.")
    approved: bool
    progress: float | None = Field(description="0 to 1")
    progress_text: str
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class CallPage(Page[CallShape]):
    """Tool calls, the newest first."""


class CallDetailShape(CallShape):
    """One request of the model, and its one answer."""

    steps: list[JSON] = Field(description="The progress that the tool has reported.")
    result: JSON = Field(
        description="Its result, with `ok`, `data`, `message` and `error`; null while it "
        "is open."
    )


def call_shapes(rows: Iterable[ToolCall]) -> Iterable[CallShape]:
    """Return rows that were read with their step and run."""
    return (CallShape(**_fields(row)) for row in rows)


def call_detail(row: ToolCall) -> CallDetailShape:
    """Return a call with its result."""
    return CallDetailShape(**_fields(row), steps=row.steps, result=row.result)


def _fields(row: ToolCall) -> dict[str, Any]:
    return {
        "id": row.pk,
        "run": row.run_id,
        "conversation": row.run.conversation_id,
        "parent": row.parent_id,
        "step": row.step.index,
        "position": row.position,
        "tool": row.name,
        "label": row.label or row.name,
        "effect": row.effect,
        "status": row.status,
        "reason": row.reason,
        "arguments": row.arguments,
        "background": row.background,
        "asks": row.asks,
        "approved": row.approved,
        "progress": row.progress,
        "progress_text": row.progress_text,
        "error": row.error,
        "created_at": row.created_at,
        "started_at": row.started_at,
        "finished_at": row.finished_at,
    }


TOOL_NAME = r"^[a-zA-Z0-9_-]+$"
# Large, and not in a list.
LEFT_OUT = ("result", "result_text", "preview", "partial", "steps")


class CallsQuery(PageQuery):
    """Which calls."""

    run: UUID | None = None
    conversation: UUID | None = None
    status: CallStatus | None = one_of(CallStatus, default=None)
    tool: str | None = Field(None, min_length=1, max_length=64, pattern=TOOL_NAME)


class CallsView(ApiView):
    """What tools were called in the own runs."""

    @operation(
        "calls_list",
        "List your tool calls",
        query=CallsQuery,
        answers={200: CallPage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of calls."""
        query = read_query(request, CallsQuery)
        rows = calls(user_key(request))
        if query.run is not None:
            rows = rows.filter(run_id=query.run)
        if query.conversation is not None:
            rows = rows.filter(run__conversation_id=query.conversation)
        if query.status is not None:
            rows = rows.filter(status=query.status)
        if query.tool is not None:
            rows = rows.filter(name=query.tool)
        rows = rows.select_related("run", "step").defer(*LEFT_OUT)
        return answered(page_of(request, rows, "-created_at", CallPage, call_shapes))


class CallView(ApiView):
    """One call."""

    @operation(
        "calls_read",
        "Read a tool call with its result",
        query=Query,
        answers={200: CallDetailShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a call."""
        read_query(request, Query)
        rows = calls(user_key(request)).select_related("run", "step")
        return answered(call_detail(get_or_404(rows, id)))
