"""Store a step: the whole reply of a model, its calls, and what it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.prompts import ShownPrompt, record_prompt
from ai_assistant.engine.calls.availability import Offer, not_here, use_one_of
from ai_assistant.engine.calls.provenance import consent, granted, is_granted
from ai_assistant.engine.calls.versions import remember
from ai_assistant.engine.execution.answer import carry_out_beside, is_answer
from ai_assistant.engine.execution.hooked_calls import HookedCall
from ai_assistant.engine.interrupts.approval import APPROVAL
from ai_assistant.engine.interrupts.results import (
    record_result,
    tool_of,
    with_effect_of_call,
)
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.engine.lifecycle.finish import SUCCEEDED, finish, look_at_end, succeed
from ai_assistant.engine.lifecycle.steering import told_along
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.engine.storage.delegated import STEPPED, tell_root
from ai_assistant.events import (
    CallArguments,
    CallEnd,
    CallResult,
    CallStart,
    Custom,
    Event,
    StepFinished,
)
from ai_assistant.exceptions import ModelRetry
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.models.raw_sql import insert_row
from ai_assistant.models.run import Run, Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.safety.budgets.ledger import ledger_row, settle
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.limits import tool_opens_at
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.signals import step_finished
from ai_assistant.text.redaction.redact import redact_json
from ai_assistant.tools.arguments import (
    MAX_ARGUMENTS_CHARS,
    arguments_digest,
    parse_arguments,
    schema_error,
    validate_arguments,
)
from ai_assistant.tools.manifest import compute_tool_version
from ai_assistant.tools.result import (
    HOOK,
    REFUSALS,
    from_exception,
    permission_denied_result,
    rate_limited,
)
from ai_assistant.types import (
    WRITING,
    ModelReply,
    RequestedCall,
    ToolDefinition,
    ToolResult,
    Verdict,
)

STORED_NAME_CHARS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReply:
    """
    The whole reply of step `index`, and how it was asked for.

    `offer` is what the model was offered; the versions of tools that were offered
    first stay the run's.
    """

    index: int
    reply: ModelReply
    model: str
    offer: Offer | None = None
    prompt: ShownPrompt = field(default_factory=ShownPrompt)
    profile: str = ""  # whose model it is; empty: that of the run
    fallback_code: str = ""  # why it is another one's
    is_reserved: bool = True  # its cost, by a row of the ledger
    hooked: Mapping[int, HookedCall] = field(default_factory=dict)  # by position


def store_reply(run_id: UUID, own: StepReply) -> list[Event]:
    """
    Store a reply as a step; return the events. Requires the lease.

    A call that cannot be executed gets its result here, one that needs a person
    its interrupt; the others are `pending`. Beside an answer none is: all have their
    result then.
    """
    run = Run.objects.get(pk=run_id)
    pinned = _pinned(run, own)
    news = {} if pinned == run.tool_versions else {"tool_versions": pinned}
    Run.objects.filter(pk=run_id).update(attempts=0, **news)
    reply = own.reply
    calls = [_new_call(run, requested) for requested in reply.calls]
    remember(_tool(run, call.name) for call in calls)
    step, _row = _store_step(run, own, calls)
    facts = _note_fallback(run, own)
    user = fresh_user(run.user_id) if calls else None
    for call, requested in zip(calls, reply.calls, strict=True):
        call.step = step
        hooked = own.hooked.get(call.position)
        if hooked is not None:
            call.hooked = redact_json(hooked.noted(requested))
        facts += _store_call(call, _as_hooked(requested, hooked), own, user, hooked)
    if is_answer(reply):
        return [*facts, StepFinished(index=own.index)] if calls else facts
    tell_root(run, STEPPED)
    told = list(QueuedMessage.objects.told_to(run))
    return facts + told_along(run, told) if told else facts


@dataclass(kw_only=True, slots=True)
class Conclusion:
    """
    The reply that ends a run, stored together with its end.

    Of most runs it is the only one: then `run` is as it was read at the start, and
    `told` gets what the followers want to know of its usage.
    """

    run: Run
    own: StepReply
    running_s: float
    told: dict[str, Any] = field(default_factory=dict)
    has_queue: bool = True  # a message waits for the end, or may wait

    def store(self) -> list[Event]:
        """Store both; return the events. Requires the lease."""
        run, own = self.run, self.own
        seen = look_at_end(run)
        self.has_queue = seen.has_queue
        if not seen.is_plain or own.reply.calls:
            facts = store_reply(run.pk, own)
            return [*facts, *finish(run.pk, SUCCEEDED, running_s=self.running_s)]
        if own.index:
            # By an earlier step.
            run.refresh_from_db(fields=["tool_versions", "fallback"])
        run.tool_versions = _pinned(run, own)
        _step, row = _store_step(run, own, [])
        facts = _note_fallback(run, own)
        if not own.index and run.epoch == 1:  # it was all that the run has used
            self.told["usage"] = [row]
        return [*facts, *succeed(run, running_s=self.running_s)]


def _pinned(run: Run, own: StepReply) -> dict[str, str]:
    return {**(own.offer.versions if own.offer else {}), **run.tool_versions}


def _store_step(
    run: Run, own: StepReply, calls: list[ToolCall]
) -> tuple[Step, UsageLedger]:
    """Store message and step of a reply, and what it took."""
    reply = own.reply
    message = _message(run, reply, calls)
    Message.objects.append(message)
    step = Step(
        run=run,
        index=own.index,
        message=message,
        model=own.model[:200],
        finish_reason=reply.finish_reason[:40],
        provider_fields=dict(reply.provider_fields),
        prompt=record_prompt(run, own.prompt),
    )
    insert_row(step)
    if is_answer(reply):  # of others it is told when their results are stored
        announce(step_finished, Run, run_id=run.pk, index=own.index)
    named = {"model": own.model, "profile": own.profile}
    row = ledger_row(run, own.index, **named, is_reserved=own.is_reserved)
    settle(row, reply.usage, said_chars=_said_chars(reply))
    return step, row


def _note_fallback(run: Run, own: StepReply) -> list[Event]:
    """Let the run say that another profile's model answers, from this step on."""
    name = own.profile if own.profile != run.profile else ""
    if name == run.fallback:
        return []
    run.fallback, run.fallback_code = name, own.fallback_code
    code = {"fallback": name, "fallback_code": own.fallback_code}
    Run.objects.filter(pk=run.pk).update(**code)
    said = {"profile": name, "code": own.fallback_code}
    return [Custom(name="aia.fallback", value=said)]


def _said_chars(reply: ModelReply) -> int:
    called = sum(len(call.name) + len(call.arguments_text) for call in reply.calls)
    return len(reply.text) + len(reply.reasoning) + called


def _as_hooked(requested: RequestedCall, hooked: HookedCall | None) -> RequestedCall:
    """Return a call with the arguments that hooks gave it."""
    if hooked is None or not hooked.changed_by:
        return requested
    return replace(requested, arguments_text=hooked.arguments_text)


def _refused(hooked: HookedCall | None) -> ToolResult | None:
    """Return the result of a call that a hook has refused."""
    if hooked is None or not hooked.refused:
        return None
    return ToolResult(
        ok=False,
        error=hooked.refused,
        error_type=HOOK,
        suggestion=_("Do not try it again unless you are asked to."),
    )


def _new_call(run: Run, requested: RequestedCall) -> ToolCall:
    tool = _tool(run, requested.name)
    return ToolCall(
        run=run,
        position=requested.position,
        provider_id=requested.provider_id[:200],
        provider_fields=dict(requested.provider_fields),
        name=requested.name[:STORED_NAME_CHARS],
        label=str(tool.display.label)[:STORED_NAME_CHARS] if tool else "",
        effect=tool.effect if tool else "",
        background=tool.execution.background if tool else False,
        version=compute_tool_version(tool) if tool else "",
        context_rounds=tool.offer.context_rounds if tool else None,
    )


def _tool(run: Run, name: str) -> ToolDefinition | None:
    """Return the tool of that name, unless no model can have been offered it."""
    tool = tool_of(run, name)
    return None if tool is None or schema_error(tool) else tool


def _message(run: Run, reply: ModelReply, calls: list[ToolCall]) -> Message:
    parts: list[dict[str, Any]] = []
    if reply.reasoning:
        seconds = round(reply.reasoning_s, 1)
        parts.append({"type": "reasoning", "text": reply.reasoning, "seconds": seconds})
    if reply.text:
        parts.append({"type": "text", "text": reply.text})
    parts += [{"type": "call", "call_id": str(call.pk)} for call in calls]
    return Message(
        id=reply.message_id,
        conversation_id=run.conversation_id,
        run=run,
        role=Message.Role.ASSISTANT,
        parts=parts,
    )


def _store_call(
    call: ToolCall,
    requested: RequestedCall,
    own: StepReply,
    user: Any,
    hooked: HookedCall | None,
) -> list[Event]:
    call_id, offer = str(call.pk), own.offer
    facts: list[Event] = [
        CallStart(call_id=call_id, name=call.name, message_id=own.reply.message_id),
        CallArguments(
            call_id=call_id, delta=requested.arguments_text[:MAX_ARGUMENTS_CHARS]
        ),
        CallEnd(call_id=call_id),
    ]
    try:
        call.arguments = parse_arguments(call.name, requested.arguments_text)
        problem = None
    except ModelRetry as error:
        call.arguments_text = requested.arguments_text[:MAX_ARGUMENTS_CHARS]
        problem = from_exception(call.name, error)
    call.arguments_digest = arguments_digest(call.name, call.arguments)
    tool = _tool(call.run, call.name)
    if problem is None and tool is not None:
        tool = with_effect_of_call(tool, call.arguments)
        call.effect = tool.effect
        verdict = tool_verdict(tool, user=user, module=call.run.module)
        problem = _problem(call, tool, user, offer, verdict) or _refused(hooked)
        if problem is None:
            _judge(call, tool, verdict)
    call.save(force_insert=True)
    if problem is not None or tool is None:
        return facts + _not_carried_out(call, problem or _unknown_tool(call, offer))
    if is_answer(own.reply):
        return facts + carry_out_beside(call, tool)
    return facts + _waits(call, tool)


def _judge(call: ToolCall, tool: ToolDefinition, verdict: Verdict) -> None:
    """Note whether the call has to be approved, and why."""
    if tool.effect in WRITING:
        verdict = consent(call, tool, verdict)
    call.asks = verdict.decision == "ask"
    call.asks_because = verdict.reason[:300]
    if demanded := call.hooked.get("approval"):
        # Each time: what was allowed for the whole answer does not cover it.
        call.asks, call.asks_because = True, demanded
    elif call.asks and tool.approval.preview is None and is_granted(call.run, tool):
        call.approved, call.asks_because = True, granted()


def _waits(call: ToolCall, tool: ToolDefinition) -> list[Event]:
    """Let the call wait for a person or a task, if it has to."""
    if call.asks and not call.approved:
        # What has a preview is looked at first, outside of this transaction.
        return [APPROVAL.open(call)] if tool.approval.preview is None else []
    return [TASK.open(call)] if tool.execution.background else []


def _not_carried_out(call: ToolCall, result: ToolResult) -> list[CallResult]:
    if result.error_type not in REFUSALS:
        return record_result(call, result)
    status, reason = CallStatus.DENIED, result.error_type
    return record_result(call, result, status=status, reason=reason)


def _problem(
    call: ToolCall,
    tool: ToolDefinition,
    user: Any,
    offer: Offer | None,
    verdict: Verdict,
) -> ToolResult | None:
    """Return the result of a call that must not be executed; None if it may."""
    try:
        validate_arguments(tool, call.arguments)
    except ModelRetry as error:
        return from_exception(call.name, error)
    if not may_call(user, tool):
        return permission_denied_result(call.name)
    if verdict.decision == "deny":
        return ToolResult(
            ok=False,
            error=_("This site does not allow “%(name)s”.") % {"name": call.name},
            error_type="policy",
            suggestion=verdict.reason,
            summary=_("This site does not allow this."),
        )
    is_closed = offer is not None and offer.read_only is not None
    is_locked = is_closed and tool.declared_effect and tool.effect in WRITING
    if offer is not None and (is_locked or tool.name not in offer.names):
        return not_here(
            tool.name,
            writes=tool.effect in WRITING,
            read_only=offer.read_only,
            names=offer.names,
            agent=offer.agent,
        )
    opens_at = tool_opens_at(user.pk, tool) if tool.execution.rate else None
    return rate_limited(call.name, opens_at) if opens_at else None


def _unknown_tool(call: ToolCall, offer: Offer | None) -> ToolResult:
    names = offer.names if offer else ()
    conversation = call.run.conversation_id
    earlier = ToolCall.objects.filter(run__conversation_id=conversation, name=call.name)
    if earlier.exclude(effect="").exists():  # it left with the page that declared it
        return not_here(call.name, writes=False, read_only=None, names=names)
    return ToolResult(
        ok=False,
        error=_("There is no tool “%(name)s”.") % {"name": call.name},
        error_type="unknown_tool",
        suggestion=use_one_of(names),
    )
