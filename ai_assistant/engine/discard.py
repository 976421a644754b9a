"""A person lets go of a conversation, and of all that belongs to it."""

from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext as _

from ai_assistant.engine.db import unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED
from ai_assistant.safety.audit import record
from ai_assistant.types import UserKey


@unit
def discard(user_id: UserKey, conversation_id: UUID, ip: str = "") -> None:
    """
    Delete a conversation of the user; usage and audit stay.

    Raise Refused: not_found, or busy while a run of it is unfinished.
    """
    own = Conversation.objects.own(user_id).filter(pk=conversation_id)
    # A write first: it takes the lock, and a message that comes now waits.
    if not own.update(title=F("title")):
        raise Refused("not_found", _("This conversation does not exist."))
    if own.filter(runs__state__in=UNFINISHED).exists():
        raise Refused(
            "busy", _("The assistant is still working on this. Stop it first.")
        )
    own.delete()
    details = {"conversation": str(conversation_id)}
    record("conversation.deleted", user=user_id, details=details, ip=ip)
