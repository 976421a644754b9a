"""Small pieces of transactions: how a call, an interrupt or a wait is recorded."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from django.db.models import QuerySet

from ai_assistant.engine.auditing import approval_asked, approval_closed, call_ended
from ai_assistant.events import CallResult, Custom, Event
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import WAITING, Run, RunState
from ai_assistant.safety.redaction import redact, redact_json, redact_values_json
from ai_assistant.tools.preview import preview
from ai_assistant.tools.result import storable, text_for_model
from ai_assistant.types import ToolResult

WAIT_BY_KIND = {
    Interrupt.Kind.APPROVAL: RunState.WAITING_APPROVAL,
    Interrupt.Kind.QUESTION: RunState.WAITING_ANSWER,
    Interrupt.Kind.BROWSER: RunState.WAITING_BROWSER,
    Interrupt.Kind.TASK: RunState.WAITING_TASK,
}


def record_result(
    call: ToolCall, result: ToolResult, *, status: str = "", reason: str = ""
) -> list[CallResult]:
    """
    Give an open call its one result; return the facts, none if it had one.

    `status` is complete or failed by the result, unless it is given.
    """
    result = storable(result)
    status = status or (CallStatus.COMPLETE if result.ok else CallStatus.FAILED)
    text = text_for_model(result)
    changed = ToolCall.objects.filter(pk=call.pk, status__in=OPEN_CALL).update(
        status=status,
        reason=reason,
        result=asdict(result),
        result_text=text,
        preview=preview(result),
        error="" if result.ok else result.error,
        traceback="" if result.ok else call.traceback,
        finished_at=Now(),
        owner="",
    )
    if not changed:
        return []
    call_ended(call, result, status=status, reason=reason)
    return [CallResult(call_id=str(call.pk), status=status, content=text)]


def call_moved(call: ToolCall, status: str) -> Event:
    """Return the fact that a call has a new status."""
    return Custom(name="aia.call", value={"call_id": str(call.pk), "status": status})


def open_interrupt(interrupt: Interrupt) -> Event:
    """Store a new interrupt and return the fact."""
    interrupt.question = redact(interrupt.question)
    interrupt.options = redact_json(interrupt.options)
    # What is to be shown or done exactly loses the site's own secrets only.
    interrupt.proposal = redact_values_json(interrupt.proposal)
    interrupt.request = redact_values_json(interrupt.request)
    interrupt.save(force_insert=True)
    approval_asked(interrupt)
    return _interrupt_fact(interrupt)


def close_interrupts(interrupts: QuerySet[Interrupt], status: str) -> Sequence[Event]:
    """Close the open ones of `interrupts`; return the facts."""
    is_open = interrupts.filter(status=Interrupt.Status.OPEN)
    found = list(is_open.select_related("call", "run"))
    Interrupt.objects.filter(pk__in=[item.pk for item in found]).update(
        status=status, decided_at=Now()
    )
    for item in found:
        approval_closed(item, status)
    return [_interrupt_fact(item) for item in found]


def wait_state(run_id: UUID) -> RunState | None:
    """Return the state in which the run has to wait, or None if it need not."""
    kinds = set(
        Interrupt.objects.filter(
            run_id=run_id, status=Interrupt.Status.OPEN
        ).values_list("kind", flat=True)
    )
    states = {WAIT_BY_KIND[Interrupt.Kind(kind)] for kind in kinds}
    return next((state for state in WAITING if state in states), None)


def has_runnable(run_id: UUID) -> bool:
    """Tell whether a call of the run can be carried out now, by its executor."""
    return ToolCall.objects.filter(
        run_id=run_id, status=CallStatus.PENDING, background=False
    ).exists()


def settle_wait(run_id: UUID) -> bool:
    """
    Bring a waiting run's state up to date; True if it is queued to go on.

    While only a page is waited for, what a person has approved is carried out
    already; while a person is, it keeps its place in the model's order. Call it behind
    the fence, after an interrupt was closed.
    """
    state = wait_state(run_id) or RunState.QUEUED
    if state == RunState.WAITING_BROWSER and has_runnable(run_id):
        state = RunState.QUEUED
    waiting = Run.objects.filter(pk=run_id, state__in=WAITING)
    return bool(waiting.update(state=state)) and state == RunState.QUEUED


def _interrupt_fact(interrupt: Interrupt) -> Event:
    value = {"interrupt_id": str(interrupt.pk), "call_id": str(interrupt.call_id)}
    return Custom(name="aia.interrupt", value=value)
