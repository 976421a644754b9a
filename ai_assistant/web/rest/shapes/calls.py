from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.web.rest.shapes.base import JSON, Page, Shape, one_of


class CallShape(Shape):
    """One request of the model, without its result."""

    id: UUID
    run: UUID
    conversation: UUID
    parent: UUID | None = Field(description="The call that has made this one.")
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

    steps: list[JSON] = Field(description="What the tool has told of its work.")
    result: JSON = Field(
        description="What came of it, with `ok`, `data`, `message` and `error`; null "
        "while it is open."
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
