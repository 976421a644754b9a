"""Audit entries of a run. Each is recorded in the transaction that it describes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ai_assistant import conf
from ai_assistant.changes.undo.values import Choice, UndoRow
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Channel, Run, RunState
from ai_assistant.registry import registry
from ai_assistant.safety.audit import record
from ai_assistant.safety.identity.session import people_behind
from ai_assistant.safety.policy.sensitive import mask_secrets
from ai_assistant.types import ToolResult

OBJECTS = 20  # named; of more only the count is given
# What a person or a clock decided is in the entry of its approval.
OF_APPROVAL = ("person", "expired")


def call_ended(call: ToolCall, result: ToolResult, *, status: str, reason: str) -> None:
    """Record that a call has its result, if that is a matter of the log."""
    if not _matters(call, status, reason):
        return
    record(
        "call.refused" if status == CallStatus.DENIED else f"call.{status}",
        user=call.run.user_id,
        tool=call.name,
        run_id=call.run_id,
        call_id=call.pk,
        details=lambda: _of_call(call, result, reason),
    )


def approval_asked(interrupt: Interrupt) -> None:
    """Record that a person is asked to approve a call."""
    _approval(interrupt, "asked")


def approval_closed(interrupt: Interrupt, status: str) -> None:
    """Record how an approval ended: approved, denied, expired or cancelled."""
    _approval(interrupt, status)


def run_started(run: Run, ip: str = "") -> None:
    """Record that a person has started a run, or code of the site for them."""
    of_code = {"channel": run.channel} if run.channel == Channel.CODE else {}
    record(
        "run.started",
        user=run.user_id,
        run_id=run.pk,
        details={
            "page": run.page_path,
            "module": run.module,
            "profile": run.profile,
            "look_only": run.look_only,
            **of_code,
            **_behind(run.pk),
        },
        ip=ip,
    )


def run_ended(run: Run) -> None:
    """Record the end of a run, unless it is the ordinary one."""
    if run.state == RunState.SUCCEEDED:
        return
    record(
        f"run.{run.state}",
        user=run.user_id,
        run_id=run.pk,
        details={"code": run.error_code},
    )


def change_undone(
    change: ChangeSet | None,
    rows: Sequence[UndoRow],
    target: Mapping[str, str],
    choice: Choice,
    ip: str = "",
) -> None:
    """Record that a person has undone changes; `change` is what that has changed."""
    if change is None:
        return
    record(
        "change.undone",
        user=change.user_id,
        run_id=change.run_id,
        details={
            **target,
            "change": str(change.pk),
            "objects": [f"{row.action} {row.key}" for row in rows[:OBJECTS]],
            "objects_total": len(rows),
            "overruled": sorted(choice.overruled)[:OBJECTS],
        },
        ip=ip,
    )


def _matters(call: ToolCall, status: str, reason: str) -> bool:
    if status == CallStatus.DENIED:
        return reason not in OF_APPROVAL
    if call.effect not in ("", "read") or conf.get("AUDIT", "READS"):
        return status != CallStatus.CANCELLED or call.started_at is not None
    tool = registry.tool(call.name)
    return tool is not None and tool.execution.external


def _of_call(
    call: ToolCall, result: ToolResult, reason: str
) -> Mapping[str, Any] | None:
    # The transaction of the tool that called it may have been rolled back since.
    if call.parent_id and not ToolCall.objects.filter(pk=call.pk).exists():
        return None
    told = json.dumps([result.data, result.message], sort_keys=True, default=str)
    details: dict[str, Any] = {
        "arguments": mask_secrets(call.arguments),
        "arguments_digest": call.arguments_digest,
        "effect": call.effect,
    }
    if result.ok:
        details["result_sha256"] = hashlib.sha256(told.encode()).hexdigest()
    else:
        details["error"] = result.error_type
    if reason:
        details["reason"] = reason
    return {
        **details,
        **_objects(call),
        **_approval_of(call),
        **_behind(call.run_id),
    }


def _behind(run_id: UUID) -> dict[str, list[str]]:
    people = people_behind(run_id)
    return {"behind": people} if people else {}


def _objects(call: ToolCall) -> dict[str, Any]:
    """Return the objects of which the change is stored with images."""
    if not call.effect or call.effect == "read":
        return {}
    rows = RowChange.objects.filter(change_set__call_id=call.pk).order_by("order")
    # One more than is named shows whether they are all.
    found = list(rows.values_list("kind", "model", "object_id")[: OBJECTS + 1])
    if not found:
        return {}
    named = [f"{kind} {model}:{own}" for kind, model, own in found[:OBJECTS]]
    return {"objects": named, "objects_total": _total(rows, found)}


def _total(rows: Any, found: list[Any]) -> int:
    return len(found) if len(found) <= OBJECTS else int(rows.count())


def _approval_of(call: ToolCall) -> dict[str, str]:
    if not call.approved:
        return {}
    given = call.interrupts.filter(status=Interrupt.Status.APPROVED)
    last = given.order_by("created_at").values_list("pk", flat=True).last()
    return {"approval": str(last)} if last else {}


def _approval(interrupt: Interrupt, status: str) -> None:
    call = interrupt.call
    record(
        f"approval.{status}",
        user=interrupt.run.user_id,
        tool=call.name,
        run_id=interrupt.run_id,
        call_id=call.pk,
        details=lambda: _of_approval(interrupt),
    )


def _of_approval(interrupt: Interrupt) -> Mapping[str, Any]:
    # As it is now: who decides may have written other arguments.
    now = Interrupt.objects.select_related("call").get(pk=interrupt.pk)
    said = now.answer
    return {
        "approval": str(now.pk),
        "arguments": mask_secrets(now.call.arguments),
        "arguments_digest": now.arguments_digest,
        **({"said": said} if said else {}),
        **_behind(now.run_id),
    }
