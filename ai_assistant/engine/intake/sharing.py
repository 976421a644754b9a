"""The link of a conversation: made and ended by its owner, opened by a colleague."""

import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from ai_assistant.engine.queries import conversations
from ai_assistant.engine.storage.units import unit
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.token import Share
from ai_assistant.safety.audit import record
from ai_assistant.safety.identity.permissions import may_read_shared, may_share
from ai_assistant.safety.identity.tokens import MARK, SECRET_BYTES, digest_of

SHARE_DAYS = (30, 7, 1, 0)  # for which a link is good; 0: until it is ended


@sensitive_variables("token")
@unit
def share(user: Any, conversation_id: UUID, days: int, ip: str = "") -> str:
    """
    Make the link of a conversation; return its token, which is shown only once.

    An earlier link no longer works. Raise Refused: not_found,
    permission, bad_request for other days than SHARE_DAYS.
    """
    if not may_share(user):
        raise Refused("permission", _("You may not share conversations."))
    if days not in SHARE_DAYS:
        raise Refused("bad_request", _("This page is out of date. Reload it."))
    _lock(user, conversation_id)
    token = MARK + secrets.token_urlsafe(SECRET_BYTES)
    Share.objects.filter(conversation=conversation_id).delete()
    Share.objects.create(
        conversation_id=conversation_id,
        digest=digest_of(token),
        expires_at=clock.now() + timedelta(days=days) if days else None,
    )
    details = {"conversation": str(conversation_id), "days": days}
    record("conversation.shared", user=user, details=details, ip=ip)
    return token


@unit
def stop_sharing(user: Any, conversation_id: UUID, ip: str = "") -> None:
    """End the link of a conversation, if it has one. Raise Refused not_found."""
    _lock(user, conversation_id)
    if Share.objects.filter(conversation=conversation_id).delete()[0]:
        details = {"conversation": str(conversation_id)}
        record("conversation.unshared", user=user, details=details, ip=ip)


@sensitive_variables("token")
@unit
def open_shared(reader: Any, token: str, ip: str = "") -> Conversation:
    """
    Return the conversation that a link leads to, and record that it was read.

    Raise Refused not_found, in the same words whether the link is wrong, over or
    ended, the conversation is deleted, its owner may no longer share, or the reader
    may not read what is shared.
    """
    found = Share.objects.select_related("conversation__owner")
    link = found.filter(digest=digest_of(token)).first()
    if link is None or not _is_open(link, reader):
        raise Refused("not_found", "")
    conversation = link.conversation
    details = {
        "conversation": str(conversation.pk),
        "of": conversation.owner.get_username(),
    }
    record("conversation.read", user=reader, details=details, ip=ip)
    return conversation


def _is_open(link: Share, reader: Any) -> bool:
    conversation = link.conversation
    if link.is_expired or conversation.deleted_at is not None:
        return False
    if not may_share(conversation.owner):
        return False
    return reader.pk == conversation.owner_id or may_read_shared(reader)


def _lock(user: Any, conversation_id: UUID) -> None:
    if not conversations(user.pk).filter(pk=conversation_id).lock_row():
        raise Refused("not_found", _("This conversation does not exist."))
