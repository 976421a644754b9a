from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.changes import gap_sentences, readable_rows
from ai_assistant.web.rest.shapes.base import Page, Shape
from ai_assistant.web.rest.shapes.interrupts import ObjectShape, object_shape


class ChangeShape(Shape):
    """What one tool call has changed, without its rows."""

    id: UUID
    run: UUID | None = Field(description="None once the conversation is deleted.")
    conversation: UUID | None
    call: UUID | None
    tool: str
    row_count: int
    is_partial: bool = Field(
        description="Something happened that is not among the rows."
    )
    gaps: list[str] = Field(description="What that was, in sentences.")
    created_at: datetime


class ChangePage(Page[ChangeShape]):
    """Changes, the newest first."""


class RowShape(ObjectShape):
    """One row as it was and as it became; sensitive values are hidden."""

    order: int = Field(description="In which they happened, from 0.")


class RowPage(Page[RowShape]):
    """The rows of a change, in the order in which they happened."""


class ChangeDetailShape(ChangeShape):
    """What one tool call has changed, with the first of its rows."""

    rows: list[RowShape]


def change_shapes(sets: Iterable[ChangeSet]) -> Iterable[ChangeShape]:
    """Return rows that were read with conversation and `row_count`."""
    return (ChangeShape(**_fields(one)) for one in sets)


def change_detail(one: ChangeSet, rows: Sequence[RowChange]) -> ChangeDetailShape:
    """Return a change with `rows`."""
    return ChangeDetailShape(**_fields(one), rows=list(row_shapes(rows)))


def row_shapes(rows: Sequence[RowChange]) -> Iterable[RowShape]:
    """Return changed rows as a person reads them."""
    for row, change in zip(rows, readable_rows(rows), strict=True):
        shape = object_shape(change)
        yield RowShape(order=row.order, **dict(shape))


def _fields(one: ChangeSet) -> dict[str, Any]:
    run = one.run
    if run is not None and run.conversation.deleted_at is not None:
        run = None  # it is gone for its owner, and the row follows in seconds
    return {
        "id": one.pk,
        "run": run.pk if run else None,
        "conversation": run.conversation_id if run else None,
        "call": one.call_id if run else None,
        "tool": one.tool,
        "row_count": getattr(one, "row_count", 0),
        "is_partial": one.is_partial,
        "gaps": gap_sentences(one),
        "created_at": one.created_at,
    }
