from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from pydantic import AwareDatetime, Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.queries import (
    conversations,
    has_news,
    hidden_runs,
    messages,
    queued_messages,
)
from ai_assistant.engine.service import delete, drop_queued, rename
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import UNFINISHED, Channel, Run
from ai_assistant.render.html.transcript.entries import shows_reasoning
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, caller_of, user_key
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Body, Query, carry_out, read_body, read_query
from ai_assistant.web.rest.shapes import JSON, Page, Shape, in_time, one_of, operation


class ConversationShape(Shape):
    """All messages about one matter."""

    id: UUID
    title: str
    active_run: UUID | None = Field(description="Its run that has not ended, if any.")
    shown_run: UUID | None = Field(
        description="The last run of the branch that is shown; null: the newest run."
    )
    pinned_at: datetime | None
    archived_at: datetime | None
    unread: bool = Field(
        description="Whether an answer in the panel ended since its owner last saw it."
    )
    created_at: datetime
    updated_at: datetime


class ConversationPage(Page[ConversationShape]):
    """Conversations, the last used first."""


class MessageShape(Shape):
    """One entry of a conversation."""

    id: UUID
    conversation: UUID
    run: UUID
    position: int = Field(description="From 0, within the conversation.")
    role: str = one_of(Message.Role)
    state: str = one_of(Message.State)
    text: str = Field(description="All text of it, without reasoning and calls.")
    parts: list[dict[str, JSON]] = Field(
        description="In order: `text` and `reasoning` with their `text`, `call` with "
        "the `call_id` of a tool call. The field `type` says which."
    )
    created_at: datetime


class MessagePage(Page[MessageShape]):
    """Messages of a conversation, the oldest first."""


def conversation_shapes(rows: Iterable[Conversation]) -> Iterable[ConversationShape]:
    """Return rows that were read with `active_run` and `unread` beside them."""
    for row in rows:
        yield ConversationShape(
            id=row.pk,
            title=row.title,
            active_run=getattr(row, "active_run", None),
            shown_run=row.shown_run_id,
            pinned_at=row.pinned_at,
            archived_at=row.archived_at,
            unread=getattr(row, "unread", False),
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


def message_shapes(rows: Iterable[Message]) -> Iterable[MessageShape]:
    """Return rows that were read with their run."""
    for row in rows:
        reasons = shows_reasoning(row.run)
        yield MessageShape(
            id=row.pk,
            conversation=row.conversation_id,
            run=row.run_id,
            position=row.position,
            role=row.role,
            state=row.state,
            text=row.text,
            parts=[
                part for part in row.parts if reasons or part["type"] != "reasoning"
            ],
            created_at=row.created_at,
        )


TITLE_CHARS = 200


class ConversationsQuery(PageQuery):
    """Which conversations."""

    used_after: AwareDatetime | None = in_time()
    active: bool | None = Field(None, description="Those with an unfinished run.")


class MessagesQuery(PageQuery):
    """Which messages."""

    run: UUID | None = None
    all: bool = Field(
        default=False, description="All branches, not only the one that is shown."
    )
    after: int | None = Field(
        None, ge=0, lt=2**31, description="Only messages with a higher position."
    )


class TitleBody(Body):
    """What a conversation is called."""

    title: str = Field(min_length=1, max_length=TITLE_CHARS)


class ConversationsView(ApiView):
    """The own conversations."""

    @operation(
        "conversations_list",
        "List your conversations",
        query=ConversationsQuery,
        answers={200: ConversationPage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of conversations."""
        query = read_query(request, ConversationsQuery)
        rows = own_conversations(user_key(request))
        if query.used_after is not None:
            rows = rows.filter(updated_at__gt=query.used_after)
        if query.active is not None:
            active = Q(active_run__isnull=False)
            rows = rows.filter(active if query.active else ~active)
        page = page_of(
            request, rows, "-updated_at", ConversationPage, conversation_shapes
        )
        return answered(page)


class ConversationView(ApiView):
    """One conversation."""

    @operation(
        "conversations_read",
        "Read a conversation",
        answers={200: ConversationShape},
        query=Query,
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a conversation."""
        read_query(request, Query)
        return answered(conversation_of(user_key(request), id))

    @operation(
        "conversations_rename",
        "Rename a conversation",
        body=TitleBody,
        answers={200: ConversationShape},
        problems=("not_found", "empty", "too_long", "binary"),
        example={"title": "Orders of March"},
    )
    def patch(self, request: Request, id: UUID) -> Response:
        """Store the title and return the conversation."""
        title = read_body(request, TitleBody).title
        carry_out(rename(user_key(request), id, title))
        return answered(conversation_of(user_key(request), id))

    @operation(
        "conversations_delete",
        "Delete a conversation",
        about="Its messages, runs, calls and images of changes go with it, so that what "
        "it changed cannot be undone any more. Its usage and the audit log are kept.",
        answers={204: None},
        problems=("not_found", "busy"),
    )
    def delete(self, request: Request, id: UUID) -> Response:
        """Delete a conversation that has no unfinished run."""
        ip = caller_of(request).stamp.ip
        carry_out(delete(user_key(request), id, ip, for_good=True))
        return Response(status=204)


class MessagesView(ApiView):
    """What was said in a conversation."""

    @operation(
        "conversations_messages",
        "List the messages of a conversation",
        about="Those of the branch that is shown, if the conversation has several. A "
        "text that is still being written is among the events of its run.",
        query=MessagesQuery,
        answers={200: MessagePage},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return a page of messages, the oldest first."""
        query = read_query(request, MessagesQuery)
        conversation_of(user_key(request), id)
        rows = messages(user_key(request)).filter(conversation_id=id)
        rows = rows.select_related("run")
        if query.run is not None:
            rows = rows.filter(run_id=query.run)
        elif not query.all:
            rows = rows.exclude(run_id__in=hidden_runs(id))
        if query.after is not None:
            rows = rows.filter(position__gt=query.after)
        page = page_of(request, rows, "position", MessagePage, message_shapes)
        return answered(page)


def own_conversations(user_id: UserKey) -> QuerySet[Conversation, Any]:
    """Return the conversations of a user, each with `active_run` and `unread`."""
    unfinished = Run.objects.filter(conversation=OuterRef("pk"), state__in=UNFINISHED)
    return conversations(user_id).annotate(
        active_run=Subquery(unfinished.values("pk")[:1]), unread=has_news()
    )


def conversation_of(user_id: UserKey, conversation_id: UUID) -> ConversationShape:
    """Return a conversation of the user. Raise Refused not_found."""
    found = own_conversations(user_id).filter(pk=conversation_id)
    for shape in conversation_shapes(found):
        return shape
    raise Refused("not_found", "")


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
    door: str = one_of(Channel, "The interface through which it was sent.")
    held: str = Field(
        description="Why it waits for a person to start it in the panel, or empty."
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
        "List the waiting messages of a conversation",
        about="Each is started when the run before it has succeeded. If that run ends "
        "in any other way, they wait for a person.",
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
        "Drop a waiting message",
        answers={204: None},
        problems=("not_found", "sent"),
    )
    def delete(self, request: Request, id: UUID, message: UUID) -> Response:
        """Drop it, unless it was started."""
        carry_out(drop_queued(user_key(request), id, message))
        return Response(status=204)
