"""Approvals: a person allows the exact call, as shown, in part or edited, or denies it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes import stored
from ai_assistant.changes.values import Changes, HiddenField, label, model_of_label
from ai_assistant.changes.verify.description import with_total
from ai_assistant.engine.accounting.audit import approval_asked, approval_closed
from ai_assistant.engine.interrupts.base import (
    Answer,
    Edited,
    PersonKind,
    close,
    let_go_on,
    register_kind,
)
from ai_assistant.engine.interrupts.results import record_result, tool_of_call
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Channel, RunState
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.text.redaction.redact import redact_values_json
from ai_assistant.tools.arguments import arguments_digest
from ai_assistant.types import JSON, ToolDefinition, ToolResult, UserKey

APPROVED = Interrupt.Status.APPROVED


class Approval(PersonKind):
    """
    Waits until a person approves the exact arguments of a call.

    `proposal` is what it would change, as it is shown: changes.values.Changes.
    """

    name = Interrupt.Kind.APPROVAL
    run_state = RunState.WAITING_APPROVAL

    def open(self, call: ToolCall, **columns: Any) -> Event:
        """Let the call wait, for at most APPROVAL_S."""
        lasts = timedelta(seconds=conf.get("TIMEOUTS", "APPROVAL_S"))
        return super().open(call, expires_at=clock.now() + lasts, **columns)

    def opened(self, interrupt: Interrupt) -> None:
        """Record the request in the audit log."""
        approval_asked(interrupt)

    def closed(self, interrupt: Interrupt, status: str) -> None:
        """Record the outcome in the audit log."""
        approval_closed(interrupt, status)

    def answer(self, interrupt: Interrupt, answer: Answer) -> list[Event]:
        """Approve or deny the call. Raise Refused: bad_decision, and what `approve` does."""
        if answer.decision == "edit" and answer.edited is None:
            raise Refused("bad_decision", _("Fill in the form, then approve it."))
        if answer.decision in ("approve", "approve_for_run", "edit"):
            return self.approve(interrupt, answer)
        if answer.decision == "deny":
            return self.deny(interrupt, answer.user_id, answer.text)
        raise Refused("bad_decision", _("Choose Approve or Deny."))

    def take_message(
        self, waits: Sequence[Interrupt], user_id: UserKey, text: str
    ) -> list[Event]:
        """Deny all of them with the message as the reason."""
        return [fact for wait in waits for fact in self.deny(wait, user_id, text)]

    def expire(self, interrupt: Interrupt) -> list[Event]:
        """Deny the call: no decision came in time."""
        facts = close(interrupt, Interrupt.Status.EXPIRED, None, None)
        result = ToolResult(
            ok=False,
            error=_("Nobody approved this in time. It was not carried out."),
            error_type="expired",
        )
        return facts + record_result(
            interrupt.call, result, status=CallStatus.DENIED, reason="expired"
        )

    def approve(self, interrupt: Interrupt, answer: Answer) -> list[Event]:
        """
        Approve the call: all of it, the chosen rows, or what the person wrote.

        With `approve_for_run` the same tool need not ask again on the same model. Raise
        Refused: stale, permission, policy, no_rows, not_for_run, already_answered.
        """
        call, rows = interrupt.call, answer.rows
        tool = tool_of_call(interrupt.run, call)
        digest = interrupt.arguments_digest
        if tool is None or digest != arguments_digest(call.name, call.arguments):
            raise Refused("stale", _("This has changed since it was shown."))
        if interrupt.proposal and stored.stored_changes(interrupt.proposal) is None:
            raise Refused("stale", _("This was shown by another release. Deny it."))
        _check_allowed(interrupt, tool, answer.user_id)
        if answer.edited is not None:
            _take_edited(interrupt, tool, answer.edited)
        elif rows is not None:
            _take_rows(interrupt, tool, answer)
        if answer.decision == "approve_for_run":
            _grant(interrupt, tool, answer.user_id)
        decision = {"edited": answer.edited is not None, "rows": rows and list(rows)}
        facts = close(interrupt, APPROVED, answer.user_id, decision)
        ToolCall.objects.filter(pk=call.pk).update(approved=True)
        return facts + let_go_on(call)

    def approve_by_grant(
        self, call: ToolCall, proposal: JSON, because: str
    ) -> list[Event]:
        """Approve by an earlier grant, bound to what the call would do."""
        Interrupt.objects.create(
            run_id=call.run_id,
            call=call,
            kind=self.name,
            status=APPROVED,
            arguments_digest=call.arguments_digest,
            proposal=proposal,
            decided_by_id=call.run.user_id,
            answer={"granted": True},
        )
        ToolCall.objects.filter(pk=call.pk).update(approved=True, asks_because=because)
        return let_go_on(call)

    def deny(self, interrupt: Interrupt, user_id: UserKey, reason: str) -> list[Event]:
        """Deny the call; the model is told the reason."""
        facts = close(interrupt, Interrupt.Status.DENIED, user_id, reason)
        result = ToolResult(
            ok=False,
            error=_denial(reason),
            error_type="denied",
            suggestion=_("Do not try it again unless you are asked to."),
        )
        return facts + record_result(
            interrupt.call, result, status=CallStatus.DENIED, reason="person"
        )


APPROVAL = register_kind(Approval())


def asked_approvals(**of: Any) -> QuerySet[Interrupt]:
    """Return all approvals that were ever asked for."""
    return Interrupt.objects.filter(kind=APPROVAL.name, **of)


def approved_of(call: ToolCall) -> QuerySet[Interrupt]:
    """Return the valid approvals of a call, oldest first."""
    rows = Interrupt.objects.filter(call=call, kind=APPROVAL.name, status=APPROVED)
    return rows.order_by("decided_at", "created_at")


def withdrawn_of(call: ToolCall | OuterRef) -> QuerySet[Interrupt]:
    """Return the withdrawn approvals of a call."""
    return Interrupt.objects.filter(
        call=call, kind=APPROVAL.name, status=Interrupt.Status.CANCELLED
    )


def _denial(reason: str) -> str:
    if not reason:
        return _("The person denied this. It was not carried out.")
    sentence = _("The person denied this: “%(reason)s”. It was not carried out.")
    return sentence % {"reason": reason}


def _check_allowed(
    interrupt: Interrupt, tool: ToolDefinition, user_id: UserKey
) -> None:
    user = fresh_user(user_id)
    if not may_call(user, tool):
        raise Refused("permission", _("You no longer have permission for this."))
    verdict = tool_verdict(tool, user=user, module=interrupt.run.module)
    if verdict.decision == "deny":
        raise Refused("policy", _("This site no longer allows this."))


def _take_edited(interrupt: Interrupt, tool: ToolDefinition, edited: Edited) -> None:
    """Replace the call's arguments by the person's own, which are not shown again."""
    if tool.approval.editor is None or edited.of_digest != interrupt.arguments_digest:
        raise Refused("stale", _("This has changed since it was shown."))
    _rewrite(interrupt, edited.arguments, edited.changes)


def _take_rows(interrupt: Interrupt, tool: ToolDefinition, answer: Answer) -> None:
    """Leave out the shown rows that were not chosen. Rows that were not shown stay."""
    name, rows = tool.approval.rows_argument, answer.rows or ()
    if not name or interrupt.proposal is None:
        raise Refused("bad_decision", _("There are no rows to choose from."))
    preview = stored.from_json(interrupt.proposal)
    shown_ids = {
        own for change in preview.objects if (own := preview.row_id(change)) is not None
    }
    ids = interrupt.call.arguments.get(name) or sorted(shown_ids)
    if answer.has_all_rows:
        shown_ids |= ids_beyond(preview, ids) & {str(row_id) for row_id in ids}
    if not shown_ids.intersection(rows):
        raise Refused("no_rows", _("Choose at least one row, or deny it."))
    dropped = shown_ids - set(rows)
    if not dropped:
        return
    model = model_of_label(preview.model)
    table = preview.model if model is None else label(model)  # behind a proxy
    # An id that is written in another way would bring back what was left out.
    beyond = ids_beyond(preview, ids) - shown_ids
    remaining = [row_id for row_id in ids if str(row_id) in beyond.union(rows)]
    if not remaining:
        raise Refused("no_rows", _("Choose at least one row, or deny it."))
    changes = replace(
        with_total(preview, len({str(row_id) for row_id in remaining})),
        objects=tuple(
            change
            for change in preview.objects
            if preview.row_id(change) not in dropped
        ),
        related=tuple(replace(relation, at_most=True) for relation in preview.related),
        versions={
            key: digest_
            for key, digest_ in preview.versions.items()
            if key not in {f"{table}:{left_out}" for left_out in dropped}
        },
        exact="",  # it was tried out with all rows
        hidden=tuple(_without(one, dropped) for one in preview.hidden),
    )
    _rewrite(interrupt, {**interrupt.call.arguments, name: remaining}, changes)


def _without(field: HiddenField, dropped: set[str]) -> HiddenField:
    """Return the values of hidden rows without those that were left out."""
    kept = {
        held: tuple(one for one in ids if one not in dropped)
        for held, ids in field.ids.items()
    }
    return replace(field, ids={held: ids for held, ids in kept.items() if ids})


def ids_beyond(preview: Changes, ids: list[Any]) -> set[str]:
    """Return the ids of all rows, shown or not, as the proposal spells them."""
    if preview.versions:
        return {key.partition(":")[2] for key in preview.versions}
    is_whole = preview.total <= len(preview.objects)
    return set() if is_whole else {str(row_id) for row_id in ids}


def _rewrite(interrupt: Interrupt, arguments: dict[str, Any], changes: Changes) -> None:
    """Bind call and interrupt to other arguments, decided by the person."""
    call = interrupt.call
    call.arguments = arguments
    call.arguments_digest = arguments_digest(call.name, arguments)
    call.save(update_fields=["arguments", "arguments_digest"])
    interrupt.arguments_digest = call.arguments_digest
    interrupt.proposal = redact_values_json(stored.to_json(changes))
    interrupt.save(update_fields=["arguments_digest", "proposal"])


def _grant(interrupt: Interrupt, tool: ToolDefinition, user_id: UserKey) -> None:
    is_of_code = interrupt.run.channel == Channel.CODE  # each write of it is asked for
    if tool.effect != "write" or tool.execution.external or is_of_code:
        raise Refused(
            "not_for_run",
            _("This has to be approved each time: code of this site has asked for it.")
            if is_of_code
            else _("This has to be approved each time: it may be impossible to undo."),
        )
    model = stored.from_json(interrupt.proposal).model if interrupt.proposal else ""
    Grant.objects.get_or_create(
        run_id=interrupt.run_id,
        tool=tool.name,
        model=model,
        defaults={"user_id": user_id},
    )


def revoke_grant(user_id: UserKey, grant_id: int) -> None:
    """Let a tool ask again that need not for the rest of a run."""
    Grant.objects.filter(user_id=user_id, pk=grant_id).delete()
