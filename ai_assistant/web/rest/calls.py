from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.exceptions import Refused
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes.base import one_of
from ai_assistant.web.rest.shapes.calls import (
    CallDetailShape,
    CallPage,
    call_detail,
    call_shapes,
)

TOOL_NAME = r"^[a-zA-Z0-9_-]+$"
# Large, and not in a list.
LEFT_OUT = ("result", "result_text", "preview", "partial", "mark", "steps")


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
        "List the own tool calls",
        query=CallsQuery,
        answers={200: CallPage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of calls."""
        query = read_query(request, CallsQuery)
        rows = own_calls(user_key(request))
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
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - of the address
        """Return a call."""
        read_query(request, Query)
        rows = own_calls(user_key(request)).select_related("run", "step")
        found = rows.filter(pk=id).first()
        if found is None:
            raise Refused("not_found", "")
        return answered(call_detail(found))


def own_calls(user_id: UserKey) -> QuerySet[ToolCall]:
    """Return the calls of a user's runs, without those of deleted conversations."""
    return ToolCall.objects.filter(
        run__user_id=user_id, run__conversation__deleted_at=None
    )
