from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queue import waiting
from ai_assistant.engine.service import drop_queued
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.carrying import carry_out
from ai_assistant.web.rest.conversations import conversation_of
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import read_query
from ai_assistant.web.rest.shapes.queued import QueuedPage, queued_shape


class QueueView(ApiView):
    """What waits for the end of a run."""

    @operation(
        "queue_list",
        "List the messages that wait in a conversation",
        about="Each is started when the run before it has succeeded. After one that "
        "ended otherwise they wait for a person.",
        query=PageQuery,
        answers={200: QueuedPage},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - of the address
        """Return a page of messages, the next one first."""
        read_query(request, PageQuery)
        conversation_of(user_key(request), id)
        page = page_of(
            request,
            waiting(id),
            "position",
            QueuedPage,
            lambda found: map(queued_shape, found),
        )
        return answered(page)


class QueuedView(ApiView):
    """One of them."""

    @operation(
        "queue_drop",
        "Drop a message that waits",
        answers={204: None},
        problems=("not_found", "sent"),
    )
    def delete(self, request: Request, id: UUID, message: UUID) -> Response:  # noqa: A002
        """Drop it, unless it was started."""
        carry_out(drop_queued(user_key(request), id, message))
        return Response(status=204)
