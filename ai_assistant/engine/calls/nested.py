"""A tool that calls another tool: which it may call, how, and how that is stored."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from ai_assistant.engine.calls.progress import Report
from ai_assistant.engine.calls.recording import kept_changes
from ai_assistant.engine.calls.validation import check_valid
from ai_assistant.engine.calls.versions import remember
from ai_assistant.engine.calls.write_limit import with_write_limit
from ai_assistant.engine.interrupts.results import record_result, with_effect_of_call
from ai_assistant.engine.storage.eventlog import append_events
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import CallArguments, CallEnd, CallStart, Event
from ai_assistant.exceptions import Ask, LostLease, ToolFailed
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.limits import tool_opens_at
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.arguments import arguments_digest
from ai_assistant.tools.manifest import compute_tool_version
from ai_assistant.tools.result import REFUSALS, from_value, rate_limited
from ai_assistant.types import EFFECTS, WRITING, RunContext, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.calls.attempt import Attempt

MAX_DEPTH = 3
FIRST_POSITION = 1000  # of children, after those that the model asked for
FACTS = 4  # of one child: start, arguments, end, result

Family = list[tuple[ToolCall, ToolResult]]
CarryOut = Callable[["Attempt", RunContext, str], "ToolResult | Ask"]


def call_child(
    parent: "Attempt",
    context: RunContext,
    carry_out: CarryOut,
    name: str,
    arguments: dict[str, Any],
) -> ToolResult:
    """
    Execute a call of the tool `parent` and return its result, also a failed one.

    Raise ToolFailed if the tool may not be called from this one, and Ask if it
    asks: then the parent is called again, with the answer.
    """
    _off_the_loop()
    tool = _child_tool(parent, name, arguments)
    call = _child_call(parent, tool, arguments)
    ordinal = next(parent.numbers)  # in one step: no two threads get the same
    child = replace(
        parent,
        call=call,
        tool=with_write_limit(tool),
        report=Report(above=parent.report),
        above=parent,
        family=[],
        asked_by=_asked_by(parent, call, ordinal),
    )
    key = f"{context.idempotency_key}/{ordinal}"

    def work() -> ToolResult | Ask:
        outcome = _refusal(parent, tool) or _undone_if_failed(
            tool, lambda: carry_out(child, context, key)
        )
        if isinstance(outcome, ToolResult):
            _keep(parent, child, outcome)
        return outcome

    writes = tool.effect in WRITING and not tool.execution.external
    if writes and not connection.in_atomic_block:
        outcome = _in_transaction(parent, context, work)
    else:
        outcome = work()
    if isinstance(outcome, Ask):
        raise _named(outcome, child.asked_by)
    return outcome


# --- what is asked and answered below it ---


def _asked_by(parent: "Attempt", call: ToolCall, ordinal: int) -> str:
    """Return under which name a child asks: the same if it is called again."""
    # The digest is one of the name and the arguments.
    text = f"{parent.asked_by}/{ordinal}:{call.name}:{call.arguments_digest}"
    return hashlib.sha256(text.encode()).hexdigest()


def _named(asked: Ask, asked_by: str) -> Ask:
    """Return the question with the name of the call that has asked it."""
    # A copy: a tool may raise the same object twice.
    copy = type(asked).__new__(type(asked), *asked.args)
    copy.__dict__.update(asked.__dict__, asked_by=asked.asked_by or asked_by)
    return copy


# --- how it is executed ---


def _off_the_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ToolFailed(
        "context.call_tool() blocks, and cannot be called in an 'async def'. Make the "
        "tool a 'def', or await asyncio.to_thread(context.call_tool, ...)."
    )


def _undone_if_failed(
    tool: ToolDefinition, work: Callable[[], "ToolResult | Ask"]
) -> "ToolResult | Ask":
    """Do `work`; what a failed write has written is undone, and only that."""
    if tool.effect not in WRITING or tool.execution.external:
        return work()
    with transaction.atomic():
        outcome = work()
        if isinstance(outcome, Ask) or not outcome.ok:
            transaction.set_rollback(True)
    return outcome


def _in_transaction(
    parent: "Attempt", context: RunContext, work: Callable[[], "ToolResult | Ask"]
) -> "ToolResult | Ask":
    """Do `work` in a transaction of its own: the parent has none."""
    if parent.tool.execution.background and parent.above is None:
        with context.transaction():
            return work()
    if not parent.tool.execution.external:
        raise ToolFailed(
            f"Tool {parent.tool.name!r} calls a tool that writes in its 'prepare'. "
            "Call it in the function itself."
        )
    check = partial(check_valid, parent.tool, context)
    with (
        transaction.atomic(),
        kept_changes(parent.run, parent.call, context.user, check),
    ):
        return work()


# --- which tools it may call ---


def _child_tool(
    parent: "Attempt", name: str, arguments: dict[str, Any]
) -> ToolDefinition:
    """Return the tool named `name`. Raise ToolFailed if it is not for this parent."""
    tool = registry.tool(name)
    above = parent.tool.name
    if tool is None:
        raise ToolFailed(f"Tool {above!r} calls {name!r}, which is not registered.")
    tool = with_effect_of_call(tool, arguments)
    if len(_names_above(parent)) > MAX_DEPTH:
        raise ToolFailed(
            f"Tool {above!r} calls {name!r} too deeply: at most {MAX_DEPTH} calls "
            "may be nested."
        )
    if name in _names_above(parent):
        raise ToolFailed(f"Tool {above!r} calls {name!r}, which is already calling it.")
    if EFFECTS.index(tool.effect) > EFFECTS.index(parent.tool.effect):
        raise ToolFailed(
            f"Tool {above!r} has the effect {parent.tool.effect!r} and calls {name!r} "
            f"with {tool.effect!r}. Give it at least that effect."
        )
    if (
        tool.execution.background
        or tool.execution.browser
        or (tool.execution.external and not parent.tool.execution.external)
    ):
        raise ToolFailed(
            f"Tool {above!r} calls {name!r}, which cannot be part of another call. "
            "Let the model call it."
        )
    return tool


def _names_above(attempt: "Attempt | None") -> set[str]:
    names = set()
    while attempt is not None:
        names.add(attempt.tool.name)
        attempt = attempt.above
    return names


def _refusal(parent: "Attempt", tool: ToolDefinition) -> ToolResult | None:
    """Return why the site does not let it be a part of its parent, if so."""
    user_id, name = parent.run.user_id, tool.name
    decision = tool_verdict(
        tool, user=fresh_user(user_id), module=parent.run.module
    ).decision
    # What is tried out shows what an approval would be for.
    is_covered = parent.call.approved or parent.is_trial
    error = ""
    if decision == "deny":
        error = _("This site does not allow “%(name)s”.")
    elif parent.is_proposal and not parent.is_trial and tool.effect in WRITING:
        error = _("“%(name)s” writes data, which a preview must not do.")
    elif decision == "ask" and not is_covered:
        error = _(
            "“%(name)s” needs an approval, but “%(above)s”, which calls it, had none."
        )
    if error:
        named = {"name": name, "above": parent.tool.name}
        return ToolResult(ok=False, error=error % named, error_type="policy")
    opens_at = tool_opens_at(user_id, tool) if tool.execution.rate else None
    return rate_limited(name, opens_at) if opens_at else None


# --- how such calls are stored ---


def _child_call(
    parent: "Attempt", tool: ToolDefinition, arguments: dict[str, Any]
) -> ToolCall:
    """Return the row of a call of `tool` by `parent`, which is not stored yet."""
    plain = from_value(tool.name, arguments)
    if not plain.ok:
        raise ToolFailed(
            f"Tool {parent.tool.name!r} calls {tool.name!r} with arguments that are "
            "not JSON serializable."
        )
    above = parent.call
    return ToolCall(
        run_id=above.run_id,
        step_id=above.step_id,
        parent=above,
        version=compute_tool_version(tool),
        name=tool.name,
        label=str(tool.display.label)[:200],
        effect=tool.effect,
        arguments=plain.data,
        arguments_digest=arguments_digest(tool.name, plain.data),
        approved=above.approved,
        status=CallStatus.EXECUTING,
        started_at=clock.now(),
    )


def _keep(parent: "Attempt", child: "Attempt", result: ToolResult) -> None:
    """Store an ended child and its own; below another child that is done later."""
    is_undone = not result.ok and child.tool.effect in WRITING
    family = [(child.call, result), *([] if is_undone else child.family)]
    parent.family.extend(family)
    if parent.above is not None:
        return
    if parent.is_trial:
        return  # tried out, and rolled back: neither run nor audit log is held for it
    if connection.in_atomic_block:
        _store(parent, family)
    else:
        unit(_store)(parent, family)


def _store(parent: "Attempt", family: Family) -> None:
    run = parent.run
    events = FACTS * len(family)
    first = pass_by_state(run.pk, events=events)
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
    append_events(run.pk, facts, first_seq=first, epoch=run.epoch)


def _still_open(parent: "Attempt") -> ToolCall:
    """Return the row of the parent. Raise LostLease if it is no longer held."""
    own = ToolCall.objects.filter(pk=parent.call.pk, status__in=OPEN_CALL)
    if parent.call.background and not parent.is_proposal:
        own = own.filter(background_call__epoch=parent.call.background_call.epoch)
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
