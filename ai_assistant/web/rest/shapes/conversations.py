from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from pydantic import Field

from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.render.html.entries import shows_reasoning
from ai_assistant.web.rest.shapes.base import JSON, Page, Shape, one_of


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
        description="If an answer in the panel has ended since its owner saw it last."
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
