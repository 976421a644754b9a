"""The state of the run that the panel shows, and the messages that wait for its end."""

from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.lifecycle.queue import (
    SIGNED_OUT_AS,
    goes_on_after,
    last_ended_run,
)
from ai_assistant.engine.queries import waits_for_person
from ai_assistant.models.conversation import QueuedMessage
from ai_assistant.models.run import Channel, Run, RunState
from ai_assistant.render.html.transcript.entries import Entry

WORDS = {
    RunState.QUEUED: "thinking",
    RunState.WAITING_APPROVAL: "waiting-approval",
    RunState.WAITING_ANSWER: "waiting-answer",
    RunState.WAITING_BROWSER: "tool",
    RunState.WAITING_TASK: "tool",
    RunState.WAITING_RUN: "tool",
    RunState.WAITING_RETRY: "thinking",
    RunState.SUCCEEDED: "idle",
    RunState.CANCELLED: "stopped",
    RunState.FAILED: "error",
    RunState.NEEDS_REVIEW: "error",
    RunState.LIMITED: "limited",
}


def panel_state(
    run: Run | None, *, growing: bool = False, working: bool = False
) -> str:
    """
    Return the `data-state` of a panel that shows `run` as its last.

    `growing`: a text is being written; `working`: a call is under way.
    """
    if run is None:
        return "idle"
    if run.state == RunState.WAITING_RUN:
        return WORDS[RunState(waits_for_person(run) or run.state)]
    if run.state != RunState.RUNNING:
        return WORDS[RunState(run.state)]
    if run.is_stopping:
        return "stopping"
    if growing:
        return "streaming"
    return "tool" if working else "thinking"


EMPTY: Entry = {"messages": [], "why": "", "goes_on": True}


def queue_entry(conversation_id: UUID) -> Entry:
    """
    Return what waits in a conversation.

    `goes_on` says whether the next one will be sent without anyone's action.
    """
    rows = list(QueuedMessage.objects.waiting_in(conversation_id))
    if not rows:
        return EMPTY
    run = last_ended_run(conversation_id)
    told = run.pk if run is not None and not run.is_final else None
    return {
        "conversation": str(conversation_id),
        "messages": [_message(row, told) for row in rows],
        "why": _why(rows, run),
        "goes_on": not _is_paused(rows, run),
    }


def without_begun(queue: Entry, run: Run | None) -> Entry:
    """Return what still waits, of a queue that was read before `run` was."""
    key = run.idempotency_key if run else ""
    left = [one for one in queue["messages"] if one["key"] != key]
    return {**queue, "messages": left} if left else EMPTY


def as_left_by(queue: Entry, run: Run | None) -> Entry:
    """Return a queue, read while `run` may have worked, as the end of `run` has left it."""
    if run is None or not run.is_final or not queue["messages"]:
        return queue
    now = queue_entry(run.conversation_id)
    # What was begun meanwhile is not in the thread, and stays here.
    return {**now, "messages": queue["messages"]} if now["messages"] else queue


def _message(row: QueuedMessage, run_id: UUID | None) -> Entry:
    return {
        "id": str(row.pk),
        "key": row.key,
        "text": row.text,
        "of_code": row.channel == Channel.CODE,  # its words are no one's to send again
        "told": row.told_run is not None and row.told_run == run_id,
    }


def _is_paused(rows: list[QueuedMessage], run: Run | None) -> bool:
    if run is None or not run.is_final:
        return False
    return not goes_on_after(run) or any(row.held for row in rows)


def _why(rows: list[QueuedMessage], run: Run | None) -> str:
    if run is not None and not run.is_final:
        return _while_it_works(rows, run)
    held = next((row.held for row in rows if row.held), "")
    if held in SIGNED_OUT_AS:
        return _("Paused: the session in which you wrote this has ended.")
    if held:
        limited = _("Paused: a limit was reached.")
        refused = _("Paused: the next message could not be sent.")
        return limited if held == "limited" else refused
    return _("Not sent yet.") if run is None else _after(run)


def _after(run: Run) -> str:
    if run.state == RunState.SUCCEEDED and not goes_on_after(run):
        return _("Paused: the answer was stopped just as it ended.")
    sentences = {
        RunState.SUCCEEDED: _("Not sent yet."),
        RunState.CANCELLED: _("Paused: the answer was stopped."),
        RunState.LIMITED: _("Paused: a limit was reached."),
    }
    return sentences.get(RunState(run.state), _("Paused: the last answer failed."))


def _while_it_works(rows: list[QueuedMessage], run: Run) -> str:
    if any(row.told_run == run.pk for row in rows):
        return _("The assistant reads it in its next step.")
    if waits_for_person(run):
        return _("Paused until you answer.")
    return _("Sent when this answer ends.")
