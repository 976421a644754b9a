"""The name that a person gives a conversation."""

from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.db import unit
from ai_assistant.engine.start import clean_text
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.safety.redaction import redact_values
from ai_assistant.types import UserKey

NAME_CHARS = 200


def clean_name(said: str) -> str:
    """Return the name on one line. Raise Refused: empty, too_long, binary."""
    words = " ".join(said.split())
    if not words:
        raise Refused("empty", _("Write a name first."))
    if len(words) > NAME_CHARS:
        raise Refused(
            "too_long",
            _("This name has %(n)d characters; it may have %(most)d.")
            % {"n": len(words), "most": NAME_CHARS},
        )
    return redact_values(clean_text(words, NAME_CHARS))[:NAME_CHARS]


@unit
def rename(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """Give a conversation a name, which no other replaces. Raise Refused not_found."""
    own = Conversation.objects.own(user_id).filter(pk=conversation_id)
    if not own.update(title=name, is_renamed=True):
        raise Refused("not_found", _("This conversation does not exist."))
