"""What the end of a run means for the agent that has asked for it."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.base import close_interrupts, settle_wait
from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.engine.storage.delegated import (
    FAILED,
    FINISHED,
    call_above,
    tell_root,
)
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.events import Event
from ai_assistant.exceptions import LostLease
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, RunState
from ai_assistant.types import ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.lifecycle.finish import Ending


def answer_above(run: Run, ending: "Ending") -> None:
    """
    Give the call above its result, if a call has asked for this run.

    The run of that call goes on when it waits for nothing else. Call it in the
    transaction that ends `run`: its lock first, then those above it.
    """
    call = call_above(run)
    if call is None:
        return
    is_answer = ending.state == RunState.SUCCEEDED
    text = "" if is_answer else ending.text
    try:
        pass_by_state(call.run_id)
    except LostLease:
        return  # it was stopped, and its call with it
    facts: list[Event] = [*record_result(call, _result(run, ending))]
    tell_root(run, FINISHED if is_answer else FAILED, text)
    if facts:
        facts += close_interrupts(call.interrupts.all(), Interrupt.Status.DONE)
        settle_wait(call.run_id)
        append_by_state(call.run_id, facts, epoch=call.run.epoch)


def _result(run: Run, ending: "Ending") -> ToolResult:
    said = _answer_of(run)
    if ending.state == RunState.SUCCEEDED:
        return ToolResult(ok=True, data=said)
    error = _("The agent “%(agent)s” has not finished. %(text)s") % {
        "agent": run.agent,
        "text": ending.text or _("It was stopped."),
    }
    return ToolResult(
        ok=False,
        error=error.strip(),
        error_type=f"agent_{ending.state}",
        data=said or None,
        suggestion=_("Go on without it, or tell the user."),
    )


def _answer_of(run: Run) -> str:
    """Return what a run has said last."""
    said = Message.objects.filter(run=run, role=Message.Role.ASSISTANT)
    texts = (message.text.strip() for message in said.order_by("-position"))
    return next(filter(None, texts), "")
