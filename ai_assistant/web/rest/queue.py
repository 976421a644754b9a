from datetime import datetime
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import queued_messages
from ai_assistant.engine.service import drop_queued
from ai_assistant.models.conversation import QueuedMessage
from ai_assistant.models.run import Channel
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.conversations import conversation_of
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import carry_out, read_query
from ai_assistant.web.rest.shapes import Page, Shape, one_of, operation


class QueuedShape(Shape):
    """A message that waits for the end of a run."""

    id: UUID
    conversation: UUID
    position: int = Field(description="Those of a lower one are started before it.")
    text: str
    page_path: str
    page_title: str
    profile: str
    look_only: bool
    door: str = one_of(Channel, "Through which it was sent.")
    held: str = Field(
        description="Why it is not started before a person says so in the panel, or empty."
    )
    created_at: datetime


class QueuedPage(Page[QueuedShape]):
    """The messages that wait in a conversation, the next one first."""


def queued_shape(row: QueuedMessage) -> QueuedShape:
    """Return a message that waits."""
    return QueuedShape(
        id=row.pk,
        conversation=row.conversation_id,
        position=row.position,
        text=row.text,
        page_path=row.page_path,
        page_title=row.page_title,
        profile=row.profile,
        look_only=row.look_only,
        door=row.channel,
        held=row.held,
        created_at=row.created_at,
    )


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
    def get(self, request: Request, id: UUID) -> Response:
        """Return a page of messages, the next one first."""
        read_query(request, PageQuery)
        conversation_of(user_key(request), id)
        page = page_of(
            request,
            queued_messages(id),
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
    def delete(self, request: Request, id: UUID, message: UUID) -> Response:
        """Drop it, unless it was started."""
        carry_out(drop_queued(user_key(request), id, message))
        return Response(status=204)
