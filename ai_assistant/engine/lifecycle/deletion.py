"""Delete a conversation: at once, or after the time in which it can be undone."""

import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext as _

from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.storage.units import unit, unless_locked
from ai_assistant.exceptions import Refused
from ai_assistant.models.clock import Now, free
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED, Run, RunState
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


UNDO_S = 10.0  # for which the page offers to take it back
GRACE_S = 5.0  # for a click in the last moment
LOOK_S = 10.0  # between two looks of a process for what has to go
BATCH = 20


@dataclass(slots=True)
class _Looked:
    at: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


_looked = _Looked()


def deleted_ending() -> Ending:
    """Return how a run ends whose conversation is deleted."""
    return Ending(
        state=RunState.CANCELLED,
        code="deleted",
        text=_("Stopped: the conversation was deleted."),
    )


@unit
def delete(user_id: UserKey, conversation_id: UUID, ip: str = "") -> list[UUID]:
    """
    Take a conversation from its owner; return its unfinished runs, to be stopped.

    Raise Refused not_found.
    """
    own = Conversation.objects.own(user_id).filter(pk=conversation_id)
    if not own.update(deleted_at=Now()):
        raise Refused("not_found", _("This conversation does not exist."))
    details = {"conversation": str(conversation_id)}
    record("conversation.deleted", user=user_id, details=details, ip=ip)
    unfinished = Run.objects.filter(
        conversation_id=conversation_id, state__in=UNFINISHED
    )
    return list(unfinished.values_list("pk", flat=True))


@unit
def restore(user_id: UserKey, conversation_id: UUID, ip: str = "") -> None:
    """Give a deleted conversation back. Raise Refused not_found if it is too late."""
    deleted = Conversation.objects.filter(pk=conversation_id, owner_id=user_id)
    if not deleted.exclude(deleted_at=None).update(deleted_at=None):
        raise Refused("not_found", _("This conversation is deleted for good by now."))
    details = {"conversation": str(conversation_id)}
    record("conversation.restored", user=user_id, details=details, ip=ip)


def let_go_of_deleted(*, now: bool = False) -> int:
    """
    Delete for good what nobody can take back any more; return how many.

    A process looks every LOOK_S, or `now`. A conversation whose run is still being
    stopped waits for the next look.
    """
    if not now and not _is_due():
        return 0
    before = Now() - timedelta(seconds=UNDO_S + GRACE_S)
    late = Conversation.objects.filter(deleted_at__lt=before)
    late = late.exclude(runs__state__in=UNFINISHED).order_by("deleted_at")
    keys = list(late.values_list("pk", flat=True)[:BATCH])
    return sum(bool(unless_locked(_let_go, key)) for key in keys)


def _is_due() -> bool:
    with _looked.lock:
        if time.monotonic() - _looked.at < LOOK_S:
            return False
        _looked.at = time.monotonic()
        return True


@unit
def _let_go(conversation_id: UUID) -> bool:
    # A write first: it takes the lock, and an undo that comes now waits.
    gone = Conversation.objects.filter(pk=conversation_id).exclude(deleted_at=None)
    if not free(gone).update(title=F("title")):
        return False
    gone.delete()
    return True
