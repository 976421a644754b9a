"""A message that waits is started: when its turn has come, or when its person says so."""

import logging
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from django.db.models import (
    BooleanField,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)

from ai_assistant.engine.intake.submission import begin, busy
from ai_assistant.engine.intake.values import Accepted, SentPage, Submission
from ai_assistant.engine.lifecycle import queue
from ai_assistant.engine.lifecycle.steering import take_along, take_as_answer
from ai_assistant.engine.storage.units import unit, unless_locked
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import UNFINISHED, Channel, Run, RunState
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.identity.session import (
    SessionStamp,
    check_may_write,
    check_user,
)
from ai_assistant.types import SentCommand, UserKey

logger = logging.getLogger("ai_assistant")

CONVERSATIONS_AT_ONCE = 50
ENDED_WELL = ExpressionWrapper(  # as far as the run's own row shows; see queue.next_up
    Q(state=RunState.SUCCEEDED, stop_requested=False), output_field=BooleanField()
)
LATER = ("too_many_runs", "session_unknown")  # tried again at the next look


@dataclass(frozen=True, kw_only=True, slots=True)
class SendNowRequest:
    """A message that a person wants to be sent now; the first one if none is named."""

    user_id: UserKey
    conversation_id: UUID
    stamp: SessionStamp
    queued_id: UUID | None = None


@dataclass(slots=True)
class _Looked:
    """Where the last look of this process came to, if it did not come to the end."""

    last: tuple[datetime, UUID] | None = None


_looked = _Looked()


def start_waiting() -> list[Accepted]:
    """
    Start the messages whose turn has come: of each conversation the first one.

    At most CONVERSATIONS_AT_ONCE at a time, those first that have waited longest.
    What cannot be started yet keeps nobody else waiting: the next look goes on behind it.
    Safe from any process, any time: of two one finds the run of the other.
    """
    started = []
    for conversation_id in _next_batch():
        try:
            accepted = unless_locked(_start_next, conversation_id)
        except Refused as refused:
            unless_locked(_refused, conversation_id, refused)
        except (OperationalError, InterfaceError):
            raise  # of the database, which is away for all of them
        except Exception:
            logger.exception("a message of %s could not be started", conversation_id)
            unless_locked(unit(queue.hold), conversation_id, "failed")
        else:
            started += [accepted] if accepted is not None else []
    return started


@unit
def send_now(wanted: SendNowRequest, *, owner: str = "") -> Accepted:
    """
    Send a message that waits.

    It is the answer to what is asked, is read by the next step of a run under way, or
    begins a run. Raise Refused: not_found, sent, busy if the run takes none, and what `accept` raises.
    """
    conversation = queue.lock(wanted.user_id, wanted.conversation_id)
    queue.take_over(conversation.pk, wanted.stamp)
    named = wanted.queued_id or _first(conversation.pk)
    queued = queue.find(conversation.pk, named)
    active = conversation.runs.filter(state__in=UNFINISHED).first()
    if active is None:
        return _begin(conversation, queued, owner)
    if wanted.queued_id is None:  # the queue continues by itself
        return _with(active, queued)
    message = Message.said(
        active, queued.key, queued.text, queued.command, label=queued.label
    )
    is_of_code = queued.channel == Channel.CODE  # which answers nothing
    if not is_of_code and take_as_answer(active, message, wanted.stamp):
        queued.delete()
        return Accepted(
            run_id=active.pk,
            conversation_id=conversation.pk,
            is_new=False,
            woken=True,
        )
    if not take_along(active, message, look_only=queued.look_only):
        raise busy()
    queue.told(active, queued)
    return _with(active, queued)


def _next_batch() -> list[UUID]:
    """Return the conversations behind those of the last look; from the first one again."""
    rows = _with_a_turn()
    if _looked.last is not None:
        since, pk = _looked.last
        rows = rows.filter(created_at__gte=since)
        rows = rows.filter(Q(created_at__gt=since) | Q(pk__gt=pk))
    found = list(rows[:CONVERSATIONS_AT_ONCE])
    whole = len(found) < CONVERSATIONS_AT_ONCE
    _looked.last = None if whole else (found[-1].created_at, found[-1].pk)
    return list(dict.fromkeys(row.conversation_id for row in found))


def _with_a_turn() -> "QuerySet[QueuedMessage]":
    """Return the row that waits longest of each conversation whose turn it is."""
    rows = QueuedMessage.objects.filter(dropped_at=None)
    beside = rows.filter(conversation=OuterRef("conversation"))
    in_front = Q(created_at__lt=OuterRef("created_at")) | ~Q(held="")
    runs = Run.objects.filter(conversation=OuterRef("conversation"))
    judged = runs.annotate(ended_well=ENDED_WELL).order_by("-created_at", "-pk")
    turns = rows.filter(~Exists(beside.filter(in_front)), conversation__deleted_at=None)
    ended = turns.filter(Subquery(judged.values("ended_well")[:1]))
    return ended.order_by("created_at", "pk").only("created_at", "conversation")


@unit
def _start_next(conversation_id: UUID) -> Accepted | None:
    conversation = _unlocked(conversation_id)
    queued = queue.next_up(conversation) if conversation else None
    if conversation is None or queued is None:
        return None
    # No request is behind it now: may the person who wrote it still send it?
    check_user(queued, fresh_user(queued.user_id))
    check_may_write(queued)
    return _begin(conversation, queued, "")


def _unlocked(conversation_id: UUID) -> Conversation | None:
    """Return the conversation, with its lock; None if it is deleted or somebody has it."""
    named = Conversation.objects.filter(pk=conversation_id, deleted_at=None)
    if connection.features.has_select_for_update_skip_locked:
        return named.select_for_update(skip_locked=True).first()
    named.lock_row()
    return named.first()


def _begin(conversation: Conversation, queued: QueuedMessage, owner: str) -> Accepted:
    if sent := _sent(queued):
        queued.delete()
        return sent
    submission = Submission(
        user_id=queued.user_id,
        conversation_id=conversation.pk,
        key=queued.key,
        text=queued.text,
        command=SentCommand(**queued.command) if queued.command else None,
        label=queued.label,
        run_id=queued.pk if queued.channel == Channel.CODE else None,
        start_depth=queued.start_depth,
        context_rounds=queued.context_rounds,
        page=SentPage(
            path=queued.page_path, title=queued.page_title, context=queued.context
        ),
        look_only=queued.look_only,
        profile=queued.profile,
        agent=queued.agent,
        channel=queued.channel,
        stamp=SessionStamp.of(queued),
    )
    with queued.as_sent():
        accepted = begin(conversation, submission, queued.text, owner)
    queued.delete()
    return accepted


def _sent(queued: QueuedMessage) -> Accepted | None:
    """Return the outcome of a send that two conversations received at once."""
    own = Message.objects.filter(conversation__owner_id=queued.user_id, key=queued.key)
    message = own.select_related("run").first()
    if message is None:
        return None
    run = message.run
    return Accepted(run_id=run.pk, conversation_id=run.conversation_id, is_new=False)


def _refused(conversation_id: UUID, refused: Refused) -> None:
    """Pause a queue whose next message was refused, unless that is over in a moment."""
    if refused.code not in LATER:
        unit(queue.hold)(conversation_id, refused.code)


def _first(conversation_id: UUID) -> UUID:
    first = QueuedMessage.objects.waiting_in(conversation_id).first()
    return first.pk if first else UUID(int=0)


def _with(active: Run, queued: QueuedMessage) -> Accepted:
    return Accepted(
        run_id=active.pk,
        conversation_id=active.conversation_id,
        is_new=False,
        queued=queued.pk,
    )
