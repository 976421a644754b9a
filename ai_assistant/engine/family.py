"""
The rows of calls that a tool makes: stored when they have ended, under their parent.

None is ever left open. A child is stored together with the children of its own.
"""

import json
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Max

from ai_assistant.engine.db import unit
from ai_assistant.engine.eventlog import append
from ai_assistant.engine.fence import pass_by_state
from ai_assistant.engine.records import record_result
from ai_assistant.engine.versions import remember
from ai_assistant.events import CallArguments, CallEnd, CallStart, Event
from ai_assistant.exceptions import LostLease, ToolFailed
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.run import UNFINISHED
from ai_assistant.registry import registry
from ai_assistant.tools.parse import digest
from ai_assistant.tools.result import REFUSALS, from_value
from ai_assistant.tools.version import version_of
from ai_assistant.types import WRITING, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.attempt import Attempt

FIRST_POSITION = 1000  # of children, after those that the model asked for
FACTS = 4  # of one child: start, arguments, end, result

Family = list[tuple[ToolCall, ToolResult]]


def child_call(
    parent: "Attempt", tool: ToolDefinition, arguments: dict[str, Any]
) -> ToolCall:
    """Return the row of a call of `tool` by `parent`, which is not stored yet."""
    plain = from_value(tool.name, arguments)
    if not plain.ok:
        raise ToolFailed(
            f"Tool {parent.tool.name!r} calls {tool.name!r} with arguments that have "
            "no JSON form."
        )
    above = parent.call
    return ToolCall(
        run_id=above.run_id,
        step_id=above.step_id,
        parent=above,
        depth=above.depth + 1,
        version=version_of(tool),
        name=tool.name,
        label=str(tool.label)[:200],
        effect=tool.effect,
        arguments=plain.data,
        arguments_digest=digest(tool.name, plain.data),
        approved=above.approved,
        status=CallStatus.EXECUTING,
        started_at=clock.now(),
    )


def keep(parent: "Attempt", child: "Attempt", result: ToolResult) -> None:
    """Store an ended child and its own; below another child that is done later."""
    is_undone = not result.ok and child.tool.effect in WRITING
    family = [(child.call, result), *([] if is_undone else child.family)]
    parent.family.extend(family)
    if parent.above is not None:
        return
    if parent.is_trial:
        return  # tried out, and taken back: neither run nor audit log is held for it
    if connection.in_atomic_block:
        _store(parent, family)
    else:
        unit(_store)(parent, family)


def _store(parent: "Attempt", family: Family) -> None:
    run = parent.run
    events = FACTS * len(family)
    first = pass_by_state(run.pk, tuple(UNFINISHED), events=events)
    message_id = str(_still_open(parent).step.message_id)
    siblings = ToolCall.objects.filter(run_id=run.pk, step_id=parent.call.step_id)
    last = siblings.aggregate(last=Max("position"))["last"] or 0
    facts: list[Event] = []
    for position, (call, result) in enumerate(family, max(last + 1, FIRST_POSITION)):
        call.position = position
        call.save(force_insert=True)
        facts += _facts(call, message_id)
        is_refused = result.error_type in REFUSALS
        facts += record_result(
            call,
            result,
            status=CallStatus.DENIED if is_refused else "",
            reason=result.error_type if is_refused else "",
        )
    remember(registry.tool(call.name) for call, _result in family)
    append(run.pk, facts, first_seq=first, epoch=run.epoch)


def _still_open(parent: "Attempt") -> ToolCall:
    """Return the row of the parent. Raise LostLease if it is not ours any more."""
    own = ToolCall.objects.filter(pk=parent.call.pk, status__in=OPEN_CALL)
    if parent.call.background:
        own = own.filter(epoch=parent.call.epoch)
    else:
        own = own.filter(run__epoch=parent.run.epoch)
    found = own.select_related("step").first()
    if found is None:
        raise LostLease(f"Call {parent.call.pk} is no longer carried out by us.")
    return found


def _facts(call: ToolCall, message_id: str) -> list[Event]:
    call_id = str(call.pk)
    said = json.dumps(call.arguments, ensure_ascii=False)
    return [
        CallStart(call_id=call_id, name=call.name, message_id=message_id),
        CallArguments(call_id=call_id, delta=said),
        CallEnd(call_id=call_id),
    ]
