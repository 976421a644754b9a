"""
Messages to a run that is active: the model reads them in its next step.

While calls are executed, a message is stored after them at once. While the model
writes, it waits in the queue until the reply is stored, and takes its place after the
reply's calls. A reply without calls is the answer: then the message was not read, and
it is the next one of the queue (see `engine.lifecycle.queue`).
"""

from ai_assistant.engine.interrupts.answers import answer_by_message
from ai_assistant.engine.interrupts.base import store_facts
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import LostLease
from ai_assistant.models.call import OPEN_CALL
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.models.run import Run, RunState
from ai_assistant.safety.identity.session import SessionStamp

MOST = 5  # that wait for one step


def take_as_answer(run: Run, message: Message, session: SessionStamp) -> bool:
    """
    Take a user's message as the answer to what `run` waits for, and store it.

    False if the run waits for no person. Call it in a transaction.
    """
    facts = answer_by_message(run, message.typed, session)
    if facts is None:
        return False
    store_facts(run, [*facts, _store(message)])
    return True


def take_along(run: Run, message: Message, *, look_only: bool) -> bool:
    """
    Return whether the next step of an unfinished run reads a user's message.

    It is stored, unless the model writes: then call `queue.told`.
    False if it reads none: it was asked to stop, it may do more than the person
    wants by now, or too many wait already. Call it in a transaction.
    """
    try:
        pass_by_state(run.pk)
    except LostLease:
        return False
    run.refresh_from_db()
    if Message.objects.filter(
        conversation_id=run.conversation_id, key=message.key
    ).exists():
        return True  # read meanwhile
    if run.is_stopping or (look_only and not run.look_only):
        return False
    writes = _model_writes(run)
    waiting = QueuedMessage.objects.told_to(run).exclude(key=message.key)
    if (waiting.count() if writes else _unread(run)) >= MOST:
        return False
    if writes:
        return True
    fact = _store(message)
    append_by_state(run.pk, [fact], epoch=run.epoch)
    return True


def told_along(run: Run, waiting: list[QueuedMessage]) -> list[Event]:
    """
    Store the messages that wait for the next step; return the events.

    Requires the lease. Call it after a reply with calls was stored.
    """
    for queued in waiting:
        queued.delete()
    return [
        _store(Message.said(run, one.key, one.text, one.command, label=one.label))
        for one in waiting
    ]


def _model_writes(run: Run) -> bool:
    """Return whether the model has been asked already: this reply cannot know of it."""
    is_open = run.calls.filter(parent=None, status__in=OPEN_CALL)
    return run.state == RunState.RUNNING and not is_open.exists()


def _unread(run: Run) -> int:
    """Return how many messages follow the last reply, or the question."""
    own = run.messages.order_by("position")
    last = own.filter(role=Message.Role.ASSISTANT).last() or own.first()
    if last is None:
        return 0
    said = own.filter(role=Message.Role.USER)
    return said.filter(position__gt=last.position).count()


def _store(message: Message) -> Event:
    Message.objects.append(message)
    return Custom(name="aia.message", value={"message_id": str(message.pk)})
