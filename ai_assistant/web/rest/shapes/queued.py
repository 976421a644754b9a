from datetime import datetime
from uuid import UUID

from pydantic import Field

from ai_assistant.models.queued import QueuedMessage
from ai_assistant.models.run import Door
from ai_assistant.web.rest.shapes.base import Page, Shape, one_of


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
    door: str = one_of(Door, "Through which it was sent.")
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
        door=row.door,
        held=row.held,
        created_at=row.created_at,
    )
