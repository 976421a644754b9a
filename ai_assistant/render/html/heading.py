"""What a page is told of the conversation itself: its title, and that it is news."""

from django.utils.html import escape

from ai_assistant.engine.unread import is_news
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from ai_assistant.render.html.growth import Op


def titled(conversation: Conversation) -> Op:
    """Return how the title is drawn."""
    return ["replace", "aia-title", escape(conversation.title)]


def unseen(conversation: Conversation, run: Run) -> list[Op]:
    """Return how a page is told that what it shows was seen on no other."""
    return [["event", "unread", {}]] if is_news(conversation, run) else []
