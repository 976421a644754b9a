"""Which answers their reader has not seen yet, and when one has."""

from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from ai_assistant.models.clock import Now
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Channel, Run
from ai_assistant.types import UserKey

MOST = 99  # that are counted


def unread(user_id: UserKey) -> QuerySet[Conversation]:
    """
    Return the conversations in which a run has ended since they were read.

    A program reads what it has asked for. One of before `read_at` counts as read.
    """
    # Each end of a run counts as a use: only what was used since is looked at.
    used = Conversation.objects.own(user_id).filter(updated_at__gt=F("read_at"))
    return used.filter(has_news())


def has_news() -> Exists:
    """Return the condition of a conversation that a run has ended since it was read."""
    ended = Run.objects.filter(
        conversation=OuterRef("pk"),
        channel=Channel.PANEL,
        finished_at__gt=OuterRef("read_at"),
    )
    return Exists(ended)


def count_unread(user_id: UserKey) -> int:
    """Return how many there are, MOST at most."""
    return unread(user_id)[:MOST].count()


def mark_read(user_id: UserKey, conversation_id: UUID) -> bool:
    """Note that its owner sees it now. Writes only if it was unread; tell whether."""
    seen = unread(user_id).filter(pk=conversation_id)
    return bool(seen.update(read_at=Now()))


def is_news(conversation: Conversation, run: Run) -> bool:
    """Tell whether `run` has ended since its conversation was read. Asks nothing."""
    read_at, ended_at = conversation.read_at, run.finished_at
    is_later = read_at is not None and ended_at is not None and ended_at > read_at
    return is_later and run.channel == Channel.PANEL
