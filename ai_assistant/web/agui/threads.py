"""The conversation behind a client's thread, and its history for the client."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from ag_ui.core import BaseEvent, MessagesSnapshotEvent, StateSnapshotEvent
from django.utils.translation import gettext as _

from ai_assistant.engine.queries import (
    active_run,
    conversation_of,
    is_anothers,
    last_run,
    thread_of,
)
from ai_assistant.exceptions import Refused
from ai_assistant.render.agui.interrupts import open_interrupts
from ai_assistant.render.agui.messages import messages_of
from ai_assistant.render.agui.segment import before
from ai_assistant.render.agui.state import client_state

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation, Run


def own_id(thread: str) -> UUID | None:
    """Return the conversation id if the thread's name is one, else None."""
    try:
        conversation_id = UUID(thread)
    except ValueError:
        return None
    return conversation_id if str(conversation_id) == thread else None


def find_thread(user: Any, thread: str) -> "Conversation | None":
    """
    Return the conversation of `user` behind a thread; None if there is none yet.

    A thread named by an id like ours is that conversation, for everybody: Refused
    not_found if it is another's. Other names are each user's own.
    """
    if not thread:
        return None  # conversations of other channels have no thread id
    conversation_id = own_id(thread)
    if conversation_id is None:
        return thread_of(user.pk, thread)
    conversation = conversation_of(user.pk, conversation_id)
    if conversation is None and is_anothers(user.pk, conversation_id):
        raise no_thread(thread)
    return conversation


def no_thread(thread: str) -> Refused:
    """Return the error for a thread that does not exist, or is not the caller's."""
    return Refused(
        "not_found", _("There is no thread “%(thread)s”.") % {"thread": thread}
    )


STATE_KEY = "aia"


def whole_history(conversation: "Conversation", *, may_answer: bool) -> dict[str, Any]:
    """Return the messages, and what is open, as JSON. Asks the database."""
    run = active_run(conversation)
    history: dict[str, Any] = {
        "messages": [_json(message) for message in messages_of(conversation)],
        "title": conversation.title,
    }
    if run is not None:
        history["run"] = {"runId": client_name(run), "state": run.state}
        waits = open_interrupts(run, may_answer=may_answer)
        history["interrupts"] = [_json(interrupt) for interrupt in waits]
    return history


def history_events(
    conversation: "Conversation",
    run: "Run | None",
    state: Any,
) -> list[BaseEvent]:
    """
    Return the events that answer an input without messages, after its start.

    With a run under way these are the messages before its answer, which follows.
    """
    messages = (
        MessagesSnapshotEvent(messages=messages_of(conversation))
        if run is None
        else before(run)
    )
    return [_state(conversation, run, state), messages]


def client_name(run: "Run") -> str:
    """Return the newest name by which a client can ask for the stream of `run`."""
    last = run.client_runs.order_by("-pk").first()
    return last.client_id if last else str(run.pk)


def _state(conversation: "Conversation", run: "Run | None", state: Any) -> BaseEvent:
    """Return the client's own state, with the assistant's under a key of its own."""
    own_state: dict[str, Any] = {
        "conversation": str(conversation.pk),
        "title": conversation.title,
        "run": run.state if run else "",
    }
    last = last_run(conversation)
    kept = client_state(last.state_values if last else {})
    own_state |= kept.pop(STATE_KEY)
    sent = state if isinstance(state, dict) else {}
    return StateSnapshotEvent(snapshot={**kept, **sent, STATE_KEY: own_state})


def _json(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json")
