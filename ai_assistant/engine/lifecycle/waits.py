"""Open and close what a call waits for, and record what came of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.accounting.audit import (
    approval_asked,
    approval_closed,
    call_ended,
)
from ai_assistant.engine.lifecycle.questions import (
    ENDED_AS,
    storable_default,
    unanswered,
)
from ai_assistant.engine.storage.lease import database_now
from ai_assistant.events import CallResult, Custom, Event
from ai_assistant.exceptions import Ask, Refused
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import CLIENT_TAB, Interrupt
from ai_assistant.models.run import WAITING, Door, Run, RunState
from ai_assistant.text.redaction import redact, redact_json, redact_values_json
from ai_assistant.text.unicode import whole, whole_json
from ai_assistant.tools.result import preview, storable, text_for_model
from ai_assistant.types import JSON, ToolDefinition, ToolResult, UserKey

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


def close(
    interrupt: Interrupt, status: str, user_id: UserKey, said: JSON
) -> list[Event]:
    """Close an open interrupt as the person decided. Raise Refused if it is not open."""
    own = Interrupt.objects.filter(pk=interrupt.pk)
    facts = list(close_interrupts(own, status))
    if not facts:
        raise Refused(
            "already_answered", _("This was answered already, in another place.")
        )
    own.update(decided_by_id=user_id, decided_at=Now(), answer=said)
    return facts


def let_go_on(call: ToolCall) -> list[Event]:
    """Let a call that has waited for a person be carried out."""
    # Its time counts from now: until now the person was thinking.
    ToolCall.objects.filter(pk=call.pk).update(
        status=CallStatus.PENDING, sent_at=0, started_at=Now()
    )
    facts = [call_moved(call, CallStatus.PENDING)]
    if call.background:
        facts.append(open_interrupt(task_interrupt(call)))
    return facts


def task_interrupt(call: ToolCall) -> Interrupt:
    """Return the reason why a run waits for a background call."""
    return Interrupt(run_id=call.run_id, call=call, kind=Interrupt.Kind.TASK)


def approval(call: ToolCall, proposal: JSON = None) -> Event:
    """
    Let the call wait until a person approves its exact arguments.

    `proposal` is what it would change, as it is shown: changes.values.Changes.
    """
    _wait(call)
    expires_at = clock.now() + timedelta(seconds=conf.get("APPROVAL_TTL_S"))
    return open_interrupt(
        Interrupt(
            run_id=call.run_id,
            call=call,
            kind=Interrupt.Kind.APPROVAL,
            arguments_digest=call.arguments_digest,
            proposal=proposal,
            expires_at=expires_at,
        )
    )


def question(call: ToolCall, asked: Ask) -> Sequence[Event]:
    """
    Let the call wait for an answer.

    One that was left without an answer is not asked again for the same call.
    """
    text = whole(_again(call, asked) + str(asked.question))
    if left := _left_before(call, text):
        status, reason = ENDED_AS[left.status]
        return record_result(call, unanswered(left), status=status, reason=reason)
    _wait(call)
    ttl_s = conf.get("QUESTION_TTL_S")
    interrupt = Interrupt(
        run_id=call.run_id,
        call=call,
        kind=Interrupt.Kind.QUESTION,
        arguments_digest=call.arguments_digest,
        question=text,
        question_kind=asked.kind,
        options=whole_json(asked.choices),
        strict=asked.strict,
        default=storable_default(asked.default),
        key=asked.key,
        expires_at=clock.now() + timedelta(seconds=ttl_s) if ttl_s else None,
    )
    return [open_interrupt(interrupt)]


def page(call: ToolCall, tool: ToolDefinition, request: JSON) -> Event:
    """Let the call wait until a page has carried `request` out."""
    _wait(call)
    waits_s = tool.timeout_browser_s
    held: dict[str, Any] = {}
    if call.run.door == Door.AGUI:
        # No page can take it: it is the client's from the beginning.
        waits_s = float(conf.get("CLIENT_TOOL_TTL_S"))
        held = {"tab": CLIENT_TAB, "lease_until": database_now() + waits_s}
    return open_interrupt(
        Interrupt(
            run_id=call.run_id,
            call=call,
            kind=Interrupt.Kind.BROWSER,
            arguments_digest=call.arguments_digest,
            request=request,
            expires_at=clock.now() + timedelta(seconds=waits_s),
            **held,
        )
    )


def _again(call: ToolCall, asked: Ask) -> str:
    """Return why a question that was answered is asked again, if that is known."""
    answered = call.interrupts.filter(
        key=asked.key, status=Interrupt.Status.ANSWERED
    ).last()
    if answered is None or not asked.has_lost(answered.answer):
        return ""
    return _("What was chosen is not there any more.") + " "


def _left_before(call: ToolCall, text: str) -> Interrupt | None:
    left = Interrupt.objects.filter(
        run_id=call.run_id,
        kind=Interrupt.Kind.QUESTION,
        status__in=ENDED_AS,
        call__name=call.name,
        arguments_digest=call.arguments_digest,
        question=text,
    )
    return left.first()


def _wait(call: ToolCall) -> None:
    ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.WAITING)
    call.status = CallStatus.WAITING


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """`queued` means that the run can go on now."""

    run_id: UUID
    conversation_id: UUID
    queued: bool
