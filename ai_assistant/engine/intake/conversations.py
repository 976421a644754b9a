"""The actions on a conversation: rename, pin, archive, rate, read, delete."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.intake.submission import clean_text
from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.queries import conversations, get_or_404, runs, unread
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.engine.storage.delegated import unfinished_below
from ai_assistant.engine.storage.units import unit, unless_locked
from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.clock import Now, free
from ai_assistant.models.conversation import (
    Conversation,
    ConversationQuerySet,
    Feedback,
)
from ai_assistant.models.run import UNFINISHED, Run, RunState
from ai_assistant.safety.audit import record
from ai_assistant.signals import conversation_deleted
from ai_assistant.text.redaction.redact import redact_values
from ai_assistant.types import UserKey

CONVERSATION_NAME_CHARS = 200
FLAGS = {
    "pin": ("pinned_at", True),
    "unpin": ("pinned_at", False),
    "archive": ("archived_at", True),
    "unarchive": ("archived_at", False),
}
FEEDBACK_CHARS = 2000


@unit
def rename(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """
    Give a conversation a name, which no other replaces.

    Raise Refused: not_found; empty, too_long or binary for the name.
    """
    _update(user_id, conversation_id, title=clean_name(name), is_renamed=True)


def clean_name(text: str) -> str:
    """Return a name on one line. Raise Refused: empty, too_long, binary."""
    words = " ".join(text.split())
    if not words:
        raise Refused("empty", _("Enter a name first."))
    if len(words) > CONVERSATION_NAME_CHARS:
        raise Refused(
            "too_long",
            _("This name has %(n)d characters; at most %(most)d are allowed.")
            % {"n": len(words), "most": CONVERSATION_NAME_CHARS},
        )
    return redact_values(clean_text(words, CONVERSATION_NAME_CHARS))[
        :CONVERSATION_NAME_CHARS
    ]


@unit
def flag(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """Pin or archive a conversation, or the reverse. Raise Refused not_found."""
    column, is_set = FLAGS[name]
    _update(user_id, conversation_id, **{column: Now() if is_set else None})


@unit
def mark_read(user_id: UserKey, conversation_id: UUID) -> bool:
    """Mark the conversation as read by its owner; return whether it was unread."""
    seen = unread(user_id).filter(pk=conversation_id)
    return bool(seen.update(read_at=Now()))


@unit
def rate(
    user_id: UserKey,
    run_id: UUID,
    value: str,
    reasons: Sequence[str] = (),
    text: str = "",
) -> None:
    """
    Keep what a user thinks of an answer, "up" or "down"; "" takes it back.

    Raise Refused: not_found, bad_request, not_ended; too_long or binary for `text`.
    """
    run = get_or_404(runs(user_id), run_id)
    if value and value not in Feedback.Value:
        raise Refused("bad_request", _("This page is out of date. Reload it."))
    if not run.is_final:
        raise Refused("not_ended", _("This answer is still being written."))
    own = Feedback.objects.filter(run=run, user_id=user_id)
    if not value:
        own.delete()
        return
    kept = {
        "value": value,
        "reasons": [one for one in Feedback.Reason.values if one in reasons],
        "text": redact_values(clean_text(text, FEEDBACK_CHARS)) if text.strip() else "",
    }
    Feedback.objects.update_or_create(run=run, user_id=user_id, defaults=kept)


def _update(user_id: UserKey, conversation_id: UUID, **values: object) -> None:
    if not conversations(user_id).filter(pk=conversation_id).update(**values):
        raise _missing()


def _missing() -> Refused:
    return Refused("not_found", _("This conversation does not exist."))


UNDO_S = 10.0  # for which the page offers to take a deletion back
GRACE_S = 5.0  # for a click in the last moment
LOOK_S = 10.0  # between two looks of a process for what has to go
PURGED_AT_ONCE = 20


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
def delete(
    user_id: UserKey, conversation_id: UUID, ip: str = "", *, for_good: bool = False
) -> list[UUID]:
    """
    Take a conversation from its owner; return its unfinished runs, to be stopped.

    The row goes when the time to undo it is over. `for_good` deletes it now; usage,
    changes and audit stay. Raise Refused: not_found, or busy if it is to be deleted
    for good while a run of it is unfinished.
    """
    own = conversations(user_id).filter(pk=conversation_id)
    if not own.lock_row():
        raise _missing()
    active = Run.objects.filter(conversation_id=conversation_id, state__in=UNFINISHED)
    unfinished = list(active.values_list("pk", flat=True))
    unfinished += unfinished_below(conversation_id)
    if for_good and unfinished:
        raise Refused(
            "busy", _("The assistant is still working on this. Stop it first.")
        )
    if for_good:
        own.delete()
    else:
        own.update(deleted_at=Now())
        _below(conversation_id).update(deleted_at=Now())
    details = {"conversation": str(conversation_id)}
    record("conversation.deleted", user=user_id, details=details, ip=ip)
    named = {"conversation_id": conversation_id, "for_good": for_good}
    announce(conversation_deleted, Conversation, **named)
    return unfinished


@unit
def restore(user_id: UserKey, conversation_id: UUID, ip: str = "") -> None:
    """Give a deleted conversation back. Raise Refused not_found if it is too late."""
    deleted = Conversation.objects.filter(pk=conversation_id, owner_id=user_id)
    if not deleted.exclude(deleted_at=None).update(deleted_at=None):
        raise Refused("not_found", _("This conversation has been deleted for good."))
    _below(conversation_id).update(deleted_at=None)
    details = {"conversation": str(conversation_id)}
    record("conversation.restored", user=user_id, details=details, ip=ip)


def _below(conversation_id: UUID) -> ConversationQuerySet:
    """Return the conversations of agents that were asked in this one."""
    runs = Run.objects.filter(root__conversation_id=conversation_id)
    return Conversation.objects.filter(pk__in=runs.values("conversation_id"))


def purge_deleted(*, now: bool = False) -> int:
    """
    Delete for good what can no longer be restored; return how many.

    A process looks every LOOK_S, or `now`. A conversation whose run is still being
    stopped waits for the next look.
    """
    if not now and not _is_due():
        return 0
    before = Now() - timedelta(seconds=UNDO_S + GRACE_S)
    late = Conversation.objects.filter(deleted_at__lt=before, parent_call=None)
    late = late.exclude(runs__state__in=UNFINISHED).order_by("deleted_at")
    late = late.exclude(runs__delegated__state__in=UNFINISHED)
    keys = list(late.values_list("pk", flat=True)[:PURGED_AT_ONCE])
    return sum(bool(unless_locked(_purge, key)) for key in keys)


def _is_due() -> bool:
    with _looked.lock:
        if time.monotonic() - _looked.at < LOOK_S:
            return False
        _looked.at = time.monotonic()
        return True


@unit
def purge_unused(conversation_id: UUID, before: datetime) -> bool:
    """
    Delete a conversation for good, with its changes, if nobody has used it since.

    Runs, events, messages and calls go with it; usage and audit stay.
    """
    own = Conversation.objects.filter(pk=conversation_id, updated_at__lt=before)
    # The lock first: a message that comes now waits.
    if not own.lock_row() or own.filter(runs__state__in=UNFINISHED).exists():
        return False
    ChangeSet.objects.filter(run__conversation_id=conversation_id).delete()
    own.delete()
    return True


@unit
def _purge(conversation_id: UUID) -> bool:
    gone = Conversation.objects.filter(pk=conversation_id).exclude(deleted_at=None)
    if not free(gone).lock_row():  # an undo that comes now waits
        return False
    gone.delete()
    return True
