"""
Messages that wait for the end of a run: rows, in order, in a conversation of a user.

They are started by `ai_assistant.engine.execution.dequeue`, one after another, each when the run
before it has succeeded. Any other end pauses them until the person continues.
"""

from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.engine.queries import conversations
from ai_assistant.engine.storage.units import unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.clock import Now
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import UNFINISHED, Channel, Run, RunState
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import UserKey

MOST = 50  # that wait in one conversation
REPEATS = timedelta(minutes=15)  # in which a browser may repeat what was dropped
SIGNED_OUT = "signed_out"
# What else it is called where it is seen only when the turn has come.
SIGNED_OUT_AS = (
    *(SIGNED_OUT, "session_expired", "session_removed", "password", "token"),
)


def add_to_queue(queued: QueuedMessage) -> None:
    """
    Store a message behind the others.

    Call it with the lock of its conversation. Raise Refused queue_full.
    """
    own = QueuedMessage.objects.filter(conversation=queued.conversation_id)
    if own.filter(dropped_at=None).count() >= MOST:
        raise Refused(
            "queue_full",
            _(
                "%(n)d messages are already waiting. Wait for their answers, or drop one."
            )
            % {"n": MOST},
        )
    QueuedMessage.objects.append(queued)


def next_up(conversation: Conversation) -> QueuedMessage | None:
    """
    Return the message that is to be started now, if there is one.

    None while a run is unfinished, after one that paused the queue, and where that was
    stopped by a refusal.
    """
    rows = QueuedMessage.objects.waiting_in(conversation.pk)
    first = rows.first()
    if first is None or rows.exclude(held="").exists():
        return None
    last = last_ended_run(conversation.pk)
    if last is None or not goes_on_after(last):
        return None
    is_busy = conversation.runs.filter(state__in=UNFINISHED).exists()
    return None if is_busy else first


def last_ended_run(conversation_id: UUID) -> Run | None:
    """Return the run after whose end the queue continues, or has paused."""
    runs = Run.objects.filter(conversation_id=conversation_id)
    return runs.select_related("stop_request").order_by("-created_at", "-pk").first()


def goes_on_after(run: Run) -> bool:
    """
    Return whether the next message may be started after a run.

    Not if a person pressed Stop, even if the run succeeded at the same moment.
    """
    return run.state == RunState.SUCCEEDED and not run.is_stopping


def told(active: Run, queued: QueuedMessage) -> None:
    """Note that a run's next step reads a message; delete one that was read."""
    if Message.objects.filter(
        conversation_id=queued.conversation_id, key=queued.key
    ).exists():
        queued.delete()
        return
    rows = QueuedMessage.objects.waiting_in(queued.conversation_id)
    before = rows.filter(position__lt=queued.position)
    rows.filter(pk=queued.pk).update(told_run=active.pk)
    others = before.exclude(told_run=active.pk).count()
    move_to_place(queued.conversation_id, queued.pk, by=-others)


def hold(conversation_id: UUID, code: str) -> None:
    """Pause the queue for a reason of its own: its next message was refused."""
    QueuedMessage.objects.waiting_in(conversation_id).update(held=code)


def hold_session(session_digest: str) -> None:
    """Pause what was written in a session that is being signed out."""
    _waiting_of(session_digest=session_digest).update(held=SIGNED_OUT)


def hold_token(token_id: UUID) -> None:
    """Pause what was sent with a token that was revoked."""
    _waiting_of(token_id=token_id).update(held=SIGNED_OUT)


def take_over(conversation_id: UUID, stamp: SessionStamp) -> None:
    """
    Let the queue continue for the session in which its person says so.

    Those in which its messages were written may have ended long ago.
    """
    QueuedMessage.objects.waiting_in(conversation_id).update(held="", **stamp.fields())


@unit
def drop(user_id: UserKey, conversation_id: UUID, queued_id: UUID) -> None:
    """Drop a waiting message. Raise Refused: not_found, or sent."""
    lock(user_id, conversation_id)
    queued = find(conversation_id, queued_id)
    # Its run has the words already, and reads them in its next step.
    if queued.told_run and _is_unfinished(queued.told_run):
        raise _gone()
    rows = QueuedMessage.objects.filter(conversation_id=conversation_id)
    rows.filter(dropped_at__lt=Now() - REPEATS).delete()
    # Its key stays a while: the browser may be about to send it again.
    rows.filter(pk=queued_id).update(
        dropped_at=Now(), text="", command={}, context={}, page_path="", page_title=""
    )


@unit
def move(user_id: UserKey, conversation_id: UUID, queued_id: UUID, *, by: int) -> None:
    """Move a message by so many places. Raise Refused: not_found, or sent."""
    lock(user_id, conversation_id)
    find(conversation_id, queued_id)
    move_to_place(conversation_id, queued_id, by=by)


def move_to_place(conversation_id: UUID, queued_id: UUID, *, by: int) -> None:
    """Move a message by so many places, at most to either end."""
    rows = list(QueuedMessage.objects.waiting_in(conversation_id))
    positions = [row.position for row in rows]
    here = next(index for index, row in enumerate(rows) if row.pk == queued_id)
    there = min(max(here + by, 0), len(rows) - 1)
    rows.insert(there, rows.pop(here))
    for row, position in zip(rows, positions, strict=True):
        if row.position != position:
            QueuedMessage.objects.filter(pk=row.pk).update(position=position)


def lock(user_id: UserKey, conversation_id: UUID) -> Conversation:
    """Return the user's conversation, with its lock. Raise Refused not_found."""
    own = conversations(user_id).filter(pk=conversation_id)
    if not own.lock_row():  # a message that comes now waits
        raise Refused("not_found", _("This conversation does not exist."))
    return own.get()


def find(conversation_id: UUID, queued_id: UUID) -> QueuedMessage:
    """Return a message that still waits. Raise Refused sent."""
    found = (
        QueuedMessage.objects.waiting_in(conversation_id).filter(pk=queued_id).first()
    )
    if found is None:
        raise _gone()
    return found


def _is_unfinished(run_id: UUID) -> bool:
    return Run.objects.filter(pk=run_id, state__in=UNFINISHED).exists()


def _gone() -> Refused:
    return Refused("sent", _("This message is no longer waiting."))


def _waiting_of(**session: object) -> "QuerySet[QueuedMessage]":
    """Return what waits of a session or token; code of the site has none."""
    rows = QueuedMessage.objects.filter(Q(**session), dropped_at=None)
    return rows.exclude(channel=Channel.CODE)
