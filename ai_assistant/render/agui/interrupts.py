"""The interrupts and pending calls of a waiting run, as AG-UI reports them."""

from collections.abc import Mapping
from typing import Any

from ag_ui.core import Interrupt as ClientInterrupt
from django.utils.translation import gettext as _

from ai_assistant.changes import stored
from ai_assistant.changes.values import Changes
from ai_assistant.engine.interrupts.base import waiting_below
from ai_assistant.engine.interrupts.browser import open_requests
from ai_assistant.engine.storage.delegated import calls_above
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run


class Form:
    """The form of a kind of interrupt for a client, and its answer: a text."""

    reason = "input_required"
    left = "skip"  # the decision of a client that gives no answer

    def message(self, interrupt: Interrupt) -> str:
        """Return the sentence for the person."""
        return interrupt.question

    def schema(self, interrupt: Interrupt) -> dict[str, Any]:
        """Return the schema of the answer."""
        return _object({"answer": {"type": "string"}}, "answer")

    def read(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the engine's Answer that a valid payload gives."""
        return {"text": payload["answer"]}


class ApprovalForm(Form):
    """Approve or deny a call of a tool."""

    reason = "tool_call"
    left = "deny"

    def message(self, interrupt: Interrupt) -> str:
        """Ask for the approval of what would change."""
        preview = stored.stored_changes(interrupt.proposal)
        name = interrupt.call.label or interrupt.call.name
        title = preview.title if preview else name
        return _("Approve “%(title)s”?") % {"title": title}

    def schema(self, interrupt: Interrupt) -> dict[str, Any]:
        """Return a yes or no, with the reason."""
        reason = {"type": "string", "description": "Why it is refused."}
        return _object({"approved": {"type": "boolean"}, "reason": reason}, "approved")

    def read(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the decision and the reason."""
        decision = "approve" if payload["approved"] else "deny"
        return {"decision": decision, "text": payload.get("reason", "")}


class QuestionForm(Form):
    """Answer a question by a text, yes or no, or by options."""

    def schema(self, interrupt: Interrupt) -> dict[str, Any]:
        """Return the schema of the answers to this question."""
        kind, kinds = interrupt.question_kind, Interrupt.QuestionKind
        ids = [option["id"] for option in interrupt.options]
        answer: dict[str, Any] = {"type": "string"}
        if kind == kinds.CONFIRM:
            answer = {"type": "boolean"}
        elif kind == kinds.SELECT and interrupt.strict:
            answer = {"type": "string", "enum": ids}
        elif kind == kinds.MULTI_SELECT:
            item = {"type": "string", "enum": ids} if interrupt.strict else answer
            answer = {"type": "array", "items": item, "minItems": 1}
        return _object({"answer": answer}, "answer")

    def read(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return a text, or the ids of options."""
        answer = payload["answer"]
        if isinstance(answer, bool):
            return {"text": "yes" if answer else "no"}
        if isinstance(answer, list):
            return {"chosen": tuple(answer)}
        return {"text": answer}


# By the name of the kind; a kind that is not here is answered by a text.
FORMS: dict[str, Form] = {
    Interrupt.Kind.APPROVAL: ApprovalForm(),
    Interrupt.Kind.QUESTION: QuestionForm(),
}
PLAIN = Form()


def form_of(interrupt: Interrupt) -> Form:
    """Return the form in which a client answers an interrupt."""
    return FORMS.get(interrupt.kind, PLAIN)


def _object(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [required],
        "additionalProperties": False,
    }


def open_interrupts(run: Run, *, may_answer: bool) -> list[ClientInterrupt]:
    """Return what a person has to decide before the run continues."""
    waits = waiting_below(run).select_related("call", "run")
    return [client_interrupt(interrupt, may_answer=may_answer) for interrupt in waits]


def pending_calls(run: Run) -> list[str]:
    """Return the ids of the calls that the client is to execute, in order."""
    waits = open_requests(run, of_client=True).values("call")
    calls = ToolCall.objects.filter(pk__in=waits, status=CallStatus.WAITING)
    return [str(call.pk) for call in calls.order_by("step__index", "position")]


def interrupt_id(interrupt: Interrupt, *, may_answer: bool) -> str:
    """
    Return the id by which a client answers; it is unguessable.

    A program whose token may not answer is given an id that is not valid for answers.
    """
    pk = str(interrupt.pk)
    return f"{pk}.{interrupt.nonce}" if may_answer else pk


def client_interrupt(interrupt: Interrupt, *, may_answer: bool) -> ClientInterrupt:
    """Return one open interrupt in the protocol's form."""
    form, expires = form_of(interrupt), interrupt.expires_at
    call = _root_call(interrupt)
    run = interrupt.run
    return ClientInterrupt(
        id=interrupt_id(interrupt, may_answer=may_answer),
        subagent_run_id=str(run.pk) if run.root_id else None,
        reason=form.reason,
        message=form.message(interrupt),
        tool_call_id=str(call.pk),
        response_schema=form.schema(interrupt),
        expires_at=expires.isoformat() if expires else None,
        metadata={"aia": _details(interrupt)},
    )


def _root_call(interrupt: Interrupt) -> ToolCall:
    """Return the call that the client knows: the one that the model of the run made."""
    call = interrupt.call
    above = calls_above(interrupt.run)
    if above:
        return above[-1]
    while call.parent is not None:
        call = call.parent
    return call


def _details(interrupt: Interrupt) -> dict[str, Any]:
    call = interrupt.call
    details: dict[str, Any] = {
        "kind": interrupt.kind,
        "tool": call.name,
        "label": call.label,
        "effect": call.effect,
        "because": call.asks_because,
    }
    preview = stored.stored_changes(interrupt.proposal)
    if preview is not None:
        details["changes"] = _preview_json(preview)
    if interrupt.options:
        details["options"] = interrupt.options
    return {key: value for key, value in details.items() if value}


def _preview_json(changes: Changes) -> dict[str, Any]:
    """Return the changes as JSON, without the values used to verify them."""
    return {
        "title": changes.title,
        "button": changes.verb or changes.title,
        "total": changes.total,
        "undoable": changes.undoable,
        "undoLimits": list(changes.undo_limits),
        "warnings": list(changes.warnings),
        "objects": [
            {
                "kind": change.kind,
                "model": change.model,
                "id": change.object_id,
                "text": change.text,
                "fields": [
                    {
                        "name": field.name,
                        "label": field.label,
                        "before": field.before,
                        "after": field.after,
                    }
                    for field in change.fields
                ],
            }
            for change in changes.objects
        ],
        "related": [
            {
                "model": relation.model,
                "label": relation.label,
                "kind": relation.kind,
                "count": relation.count,
                "texts": list(relation.texts),
            }
            for relation in changes.related
        ],
    }
