"""What a run waits for, as AG-UI tells a client: interrupts and pending calls."""

from typing import Any

from ag_ui.core import Interrupt as ClientInterrupt
from django.utils.translation import gettext as _

from ai_assistant.changes import values
from ai_assistant.changes.values import Changes
from ai_assistant.engine.interrupts.answers import FOR_A_PERSON
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.interrupt import CLIENT_TAB, Interrupt
from ai_assistant.models.run import Run

APPROVAL_SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string", "description": "Why it is refused."},
    },
    "required": ["approved"],
    "additionalProperties": False,
}


def open_interrupts(run: Run, *, may_answer: bool) -> list[ClientInterrupt]:
    """Return what a person has to decide before the run goes on."""
    waits = _open(run).filter(kind__in=FOR_A_PERSON).select_related("call")
    return [client_interrupt(one, may_answer=may_answer) for one in waits]


def pending_calls(run: Run) -> list[str]:
    """Return the ids of calls that the client carries out, in the order made."""
    waits = _open(run).filter(kind=Interrupt.Kind.BROWSER, tab=CLIENT_TAB)
    calls = ToolCall.objects.filter(
        pk__in=waits.values("call"), status=CallStatus.WAITING
    )
    return [str(call.pk) for call in calls.order_by("step__index", "position")]


def interrupt_id(interrupt: Interrupt, *, may_answer: bool) -> str:
    """
    Return the id by which a client answers: only who was told of it has it.

    A program whose token is not for answers is told an id that is good for none.
    """
    own = str(interrupt.pk)
    return f"{own}.{interrupt.nonce}" if may_answer else own


def client_interrupt(interrupt: Interrupt, *, may_answer: bool) -> ClientInterrupt:
    """Return one open interrupt as the protocol has it."""
    is_question = interrupt.kind == Interrupt.Kind.QUESTION
    expires = interrupt.expires_at
    call = _told_call(interrupt.call)
    return ClientInterrupt(
        id=interrupt_id(interrupt, may_answer=may_answer),
        reason="input_required" if is_question else "tool_call",
        message=interrupt.question if is_question else _sentence(interrupt),
        tool_call_id=str(call.pk),
        response_schema=answer_schema(interrupt),
        expires_at=expires.isoformat() if expires else None,
        metadata={"aia": _details(interrupt)},
    )


def _open(run: Run) -> Any:
    return run.interrupts.filter(status=Interrupt.Status.OPEN).order_by("created_at")


def _told_call(call: ToolCall) -> ToolCall:
    """Return the call that the client knows: the one that the model made."""
    while call.parent is not None:
        call = call.parent
    return call


def _sentence(interrupt: Interrupt) -> str:
    shown = values.readable(interrupt.proposal)
    name = interrupt.call.label or interrupt.call.name
    title = shown.title if shown else name
    return _("Approve “%(title)s”?") % {"title": title}


def _details(interrupt: Interrupt) -> dict[str, Any]:
    call = interrupt.call
    found: dict[str, Any] = {
        "kind": interrupt.kind,
        "tool": call.name,
        "label": call.label,
        "effect": call.effect,
        "because": call.asks_because,
    }
    shown = values.readable(interrupt.proposal)
    if shown is not None:
        found["changes"] = _shown(shown)
    if interrupt.options:
        found["options"] = interrupt.options
    return {key: value for key, value in found.items() if value}


def _shown(changes: Changes) -> dict[str, Any]:
    """Return the difference, without what it is checked by."""
    return {
        "title": changes.title,
        "button": changes.verb or changes.title,
        "total": changes.total,
        "undoable": changes.undoable,
        "warnings": list(changes.warnings),
        "objects": [
            {
                "kind": one.kind,
                "model": one.model,
                "id": one.object_id,
                "text": one.text,
                "fields": [
                    {
                        "name": field.name,
                        "label": field.label,
                        "before": field.before,
                        "after": field.after,
                    }
                    for field in one.fields
                ],
            }
            for one in changes.objects
        ],
        "related": [
            {
                "model": one.model,
                "label": one.label,
                "kind": one.kind,
                "count": one.count,
                "texts": list(one.texts),
            }
            for one in changes.related
        ],
    }


def answer_schema(interrupt: Interrupt) -> dict[str, Any]:
    """Return the schema of the answer."""
    if interrupt.kind != Interrupt.Kind.QUESTION:
        return APPROVAL_SCHEMA
    kind = interrupt.question_kind
    ids = [option["id"] for option in interrupt.options]
    answer: dict[str, Any] = {"type": "string"}
    if kind == Interrupt.QuestionKind.CONFIRM:
        answer = {"type": "boolean"}
    elif kind == Interrupt.QuestionKind.SELECT and interrupt.strict:
        answer = {"type": "string", "enum": ids}
    elif kind == Interrupt.QuestionKind.MULTI_SELECT:
        one = {"type": "string", "enum": ids} if interrupt.strict else answer
        answer = {"type": "array", "items": one, "minItems": 1}
    return {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }
