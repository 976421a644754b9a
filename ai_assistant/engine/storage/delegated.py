"""Runs that another agent has asked for, and the log of the run for which they work."""

from contextlib import suppress
from functools import partial
from uuid import UUID

from django.db import transaction

from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.events import Custom
from ai_assistant.exceptions import LostLease
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import UNFINISHED, Run

ASK_AGENT = "ask_agent"  # the tool of such calls
SUBAGENT = "aia.subagent"  # the fact of a root: what became of a run below it
STARTED, STEPPED, WAITS = "started", "stepped", "waits"
FINISHED, FAILED = "finished", "failed"


def call_above(run: Run) -> ToolCall | None:
    """Return the call that has asked for a run, with the run of that call."""
    if run.root_id is None:
        return None
    calls = ToolCall.objects.select_related("run").defer("result", "result_text")
    return calls.filter(child_conversation=run.conversation_id).first()


def calls_above(run: Run) -> list[ToolCall]:
    """Return the calls that wait for a run: its own first, that of the root last."""
    calls = []
    while (call := call_above(run)) is not None:
        calls.append(call)
        run = call.run
    return calls


def child_of(call_id: UUID) -> Run | None:
    """Return the run that a call has asked for."""
    return Run.objects.filter(conversation__parent_call=call_id).first()


def unfinished_below(conversation_id: UUID) -> list[UUID]:
    """Return the unfinished runs that work for one of a conversation."""
    below = Run.objects.filter(root__conversation_id=conversation_id)
    return list(below.filter(state__in=UNFINISHED).values_list("pk", flat=True))


def conversation_shown(run: Run) -> UUID:
    """Return the conversation in which a person sees what a run does."""
    if run.root_id is None:
        return run.conversation_id
    shown = Run.objects.values_list("conversation_id", flat=True)
    return shown.get(pk=run.root_id)


def tell_root(run: Run, state: str, text: str = "") -> None:
    """
    Note in the log of the root what became of a run below it, with its lock.

    A root that has ended is told nothing. Call it in the transaction that does it.
    """
    calls = calls_above(run)
    if not calls:
        return
    root = calls[-1].run
    value = {
        "call_id": str(calls[-1].pk),
        "run_id": str(run.pk),
        "agent": run.agent,
        "state": state,
    }
    if len(calls) > 1:
        value["parent_run_id"] = str(calls[0].run_id)
    if text:
        value["text"] = text
    with suppress(LostLease):
        append_by_state(root.pk, [Custom(name=SUBAGENT, value=value)], epoch=root.epoch)
    group = notifications.group_name(root.user_id, root.conversation_id)
    transaction.on_commit(partial(notifications.ring_from_thread, group, root.pk))
