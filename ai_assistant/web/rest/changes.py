from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import changes, get_or_404, row_changes
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.diffs.changes import (
    SHOWN_ROWS,
    gap_sentences,
    readable_rows,
)
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.interrupts import ObjectShape, object_shape
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes import Page, Shape, operation


class ChangeShape(Shape):
    """What one tool call has changed, without its rows."""

    id: UUID
    run: UUID | None = Field(description="None once the conversation is deleted.")
    conversation: UUID | None
    call: UUID | None
    tool: str
    row_count: int
    is_partial: bool = Field(
        description="Something was changed that is not among the rows."
    )
    gaps: list[str] = Field(description="What that was, in sentences.")
    created_at: datetime


class ChangePage(Page[ChangeShape]):
    """Changes, the newest first."""


class RowShape(ObjectShape):
    """One row as it was and as it became; sensitive values are hidden."""

    order: int = Field(description="The order in which they happened, from 0.")


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
        "gaps": gap_sentences([one]),
        "created_at": one.created_at,
    }


class ChangesQuery(PageQuery):
    """Which changes."""

    run: UUID | None = None
    conversation: UUID | None = None
    call: UUID | None = None


class ChangesView(ApiView):
    """What the own runs have changed."""

    @operation(
        "changes_list",
        "List what your runs have changed",
        about="Changes outlive their conversation: then they name no run and no call.",
        query=ChangesQuery,
        answers={200: ChangePage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of changes, without their rows."""
        query = read_query(request, ChangesQuery)
        rows = _own_changes(user_key(request))
        if query.run is not None:
            rows = _of_kept(rows).filter(run_id=query.run)
        if query.conversation is not None:
            rows = _of_kept(rows).filter(run__conversation_id=query.conversation)
        if query.call is not None:
            rows = _of_kept(rows).filter(call_id=query.call)
        page = page_of(request, rows, "-created_at", ChangePage, change_shapes)
        return answered(page)


class ChangeView(ApiView):
    """What one call has changed."""

    @operation(
        "changes_read",
        "Read a change with the first of its rows",
        about=f"At most {SHOWN_ROWS} rows; `row_count` tells how many there are.",
        query=Query,
        answers={200: ChangeDetailShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a change."""
        read_query(request, Query)
        found = _own_change(user_key(request), id)
        rows = list(found.rows.order_by("order")[:SHOWN_ROWS])
        return answered(change_detail(found, rows))


class RowsView(ApiView):
    """The rows of a change."""

    @operation(
        "changes_rows",
        "List the rows of a change",
        query=PageQuery,
        answers={200: RowPage},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a page of rows, in the order in which they happened."""
        read_query(request, PageQuery)
        found = _own_change(user_key(request), id)
        rows = row_changes(user_key(request)).filter(change_set=found)
        return answered(page_of(request, rows, "order", RowPage, row_shapes))


def _own_changes(user_id: UserKey) -> QuerySet[ChangeSet, ChangeSet]:
    sets = changes(user_id)
    return sets.select_related("run__conversation").annotate(row_count=Count("rows"))


def _of_kept(sets: QuerySet[ChangeSet]) -> QuerySet[ChangeSet]:
    """Return those of conversations that are there."""
    return sets.filter(run__conversation__deleted_at=None)


def _own_change(user_id: UserKey, change_id: UUID) -> ChangeSet:
    return get_or_404(_own_changes(user_id), change_id)
