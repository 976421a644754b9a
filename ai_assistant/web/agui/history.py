"""A thread as a client gets it back, that comes new or again."""

from typing import Any

from ag_ui.core import (
    BaseEvent,
    MessagesSnapshotEvent,
    RunFinishedEvent,
    StateSnapshotEvent,
)

from ai_assistant.models.client_run import ClientRun
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.render.agui.interrupts import open_interrupts
from ai_assistant.render.agui.messages import messages_of
from ai_assistant.render.agui.segment import Names, before

STATE_KEY = "aia"


def whole_history(conversation: Conversation, *, may_answer: bool) -> dict[str, Any]:
    """Return the messages, and what is open, as JSON. Asks the database."""
    run = conversation.runs.filter(state__in=UNFINISHED).first()
    found: dict[str, Any] = {
        "messages": [_json(one) for one in messages_of(conversation)],
        "title": conversation.title,
    }
    if run is not None:
        found["run"] = {"runId": client_name(run), "state": run.state}
        waits = open_interrupts(run, may_answer=may_answer)
        found["interrupts"] = [_json(one) for one in waits]
    return found


def history_events(
    conversation: Conversation,
    run: Run | None,
    state: Any,  # noqa: ANN401 - any JSON of the client
) -> list[BaseEvent]:
    """
    Return what an input without messages is answered with, after its start.

    With a run under way these are the messages before its answer, which follows.
    """
    told = (
        MessagesSnapshotEvent(messages=messages_of(conversation))
        if run is None
        else before(run)
    )
    return [_state(conversation, run, state), told]


def end_of(names: Names) -> BaseEvent:
    """Return the end of an answer that needed no run."""
    return RunFinishedEvent(thread_id=names.thread, run_id=names.run)


def client_name(run: Run) -> str:
    """Return how a client would ask for the stream of `run`: its newest name."""
    last = ClientRun.objects.filter(run=run).order_by("-pk").first()
    return last.client_id if last else str(run.pk)


def _state(conversation: Conversation, run: Run | None, state: Any) -> BaseEvent:  # noqa: ANN401
    """Return the client's own state, with ours under a key of its own."""
    own = {
        "conversation": str(conversation.pk),
        "title": conversation.title,
        "run": run.state if run else "",
    }
    kept = state if isinstance(state, dict) else {}
    return StateSnapshotEvent(snapshot={**kept, STATE_KEY: own})


def _json(model: Any) -> Any:  # noqa: ANN401 - a model of the protocol
    return model.model_dump(by_alias=True, mode="json")
