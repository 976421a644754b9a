from uuid import UUID

from django.db.models import Count, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.changes import SHOWN_ROWS
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes.changes import (
    ChangeDetailShape,
    ChangePage,
    RowPage,
    change_detail,
    change_shapes,
    row_shapes,
)


class ChangesQuery(PageQuery):
    """Which changes."""

    run: UUID | None = None
    conversation: UUID | None = None
    call: UUID | None = None


class ChangesView(ApiView):
    """What the own runs have changed."""

    @operation(
        "changes_list",
        "List what the own runs have changed",
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
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - of the address
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
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return a page of rows, in the order in which they happened."""
        read_query(request, PageQuery)
        found = _own_change(user_key(request), id)
        rows = RowChange.objects.filter(change_set=found)
        return answered(page_of(request, rows, "order", RowPage, row_shapes))


def _own_changes(user_id: UserKey) -> QuerySet[ChangeSet, ChangeSet]:
    sets = ChangeSet.objects.filter(user_id=user_id)
    return sets.select_related("run__conversation").annotate(row_count=Count("rows"))


def _of_kept(sets: QuerySet[ChangeSet]) -> QuerySet[ChangeSet]:
    """Return those of conversations that are there."""
    return sets.filter(run__conversation__deleted_at=None)


def _own_change(user_id: UserKey, change_id: UUID) -> ChangeSet:
    found = _own_changes(user_id).filter(pk=change_id).first()
    if found is None:
        raise Refused("not_found", "")
    return found
