"""Ask the model, and store its whole reply: message, step and calls."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.accounting.usage import Spending
from ai_assistant.engine.calls.availability import (
    Offer,
    not_here,
    told_tools,
    tool_schemas,
    tools_of,
    use_one_of,
)
from ai_assistant.engine.calls.provenance import consent, granted, is_granted
from ai_assistant.engine.calls.versions import remember
from ai_assistant.engine.interrupts.approval import APPROVAL
from ai_assistant.engine.interrupts.results import record_result, tool_of
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.engine.lifecycle.scope import RunScope, module_prompt
from ai_assistant.engine.lifecycle.steering import told_along
from ai_assistant.engine.storage.branches import has_changed_rows, seen_by
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.engine.storage.units import in_db
from ai_assistant.events import CallArguments, CallEnd, CallResult, CallStart, Event
from ai_assistant.exceptions import (
    ImproperlyConfiguredAssistant,
    ModelError,
    ModelRetry,
)
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.models.run import Run, Step
from ai_assistant.prompts.system import system_prompt, wish_text
from ai_assistant.providers.base import provider_for, with_masked_secrets
from ai_assistant.providers.prices import priced
from ai_assistant.providers.retry import with_retries, with_timeouts
from ai_assistant.safety.budgets.ledger import settle
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.limits import tool_opens_at
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.text.redaction.redact import redact, redact_values_json
from ai_assistant.tools.arguments import (
    MAX_ARGUMENTS_CHARS,
    arguments_digest,
    parse_arguments,
    schema_error,
    validate_arguments,
)
from ai_assistant.tools.manifest import compute_tool_version, tool_versions
from ai_assistant.tools.result import (
    REFUSALS,
    from_exception,
    permission_denied_result,
    rate_limited,
)
from ai_assistant.types import (
    WRITING,
    ModelChunk,
    ModelReply,
    ModelRequest,
    Provider,
    ReplyEnd,
    RequestedCall,
    ToolDefinition,
    ToolResult,
    Verdict,
)

# Errors before the first word, after which the provider may still want money.
MAX_RETRY_DELAY_S = 20.0  # a longer wait ends the run instead
MAY_HAVE_USED = ("first_byte_timeout", "total_timeout", "cut", "empty", "malformed")


class ProfileModel:
    """A model profile of the site, asked on behalf of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.offer: Offer | None = None  # of the last request
        self._prepared: ModelRequest | None = None
        try:
            self.profile = conf.profile(run.profile)
        except ImproperlyConfiguredAssistant as error:
            raise ModelError("not_configured", str(error)) from error
        self.name = str(self.profile.get("MODEL", ""))
        self.spending = Spending(run, self.profile, self.name)

    async def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """
        Yield the chunks of one reply.

        Raise ModelError if the model gives none, Limited if no budget has room for it.
        """
        provider = provider_for(self.profile)
        # Loading a library is not the model's silence: it has no time limit.
        await provider.ready()
        request = self._prepared
        if request is None or self.spending.has_budgets:
            request = await in_db(self._reserved, step_index, provider)
        self._prepared = None
        retried = with_retries(
            lambda: self._patient(provider, request),
            retries=int(conf.get("LIMITS", "MODEL_RETRIES")),
            delay_s=conf.MODEL_RETRY_S,
            max_delay_s=MAX_RETRY_DELAY_S,
        )
        spoke = False
        try:
            async with aclosing(with_masked_secrets(retried)) as chunks:
                async for chunk in chunks:
                    spoke = True
                    yield self._priced(chunk)
        except ModelError as error:
            if not spoke and error.code not in MAY_HAVE_USED:
                await self._release()
            raise

    def _patient(
        self, provider: Provider, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk, None]:
        return with_timeouts(
            provider.stream(request),
            first_byte_s=float(conf.get("TIMEOUTS", "FIRST_BYTE_S")),
            idle_s=float(conf.get("TIMEOUTS", "IDLE_S")),
            total_s=float(conf.get("TIMEOUTS", "MODEL_CALL_S")),
        )

    def prepare(self, user: Any) -> None:
        """Make the next request now, in a thread that reads the rows anyway."""
        self._prepared = self._request(user)

    def _priced(self, chunk: ModelChunk) -> ModelChunk:
        return priced(self.profile, chunk) if isinstance(chunk, ReplyEnd) else chunk

    async def _release(self) -> None:
        if self.spending.has_budgets:
            await in_db(self.spending.release)

    def _reserved(self, step_index: int, provider: Provider) -> ModelRequest:
        """Return the next request, with what it may take reserved."""
        request = self._prepared or self._request()
        if self.spending.has_budgets:
            self.spending.reserve(step_index, request, provider)
        return request

    def _request(self, user: Any = None) -> ModelRequest:
        user = user or fresh_user(self.run.user_id)
        if user is None:
            raise ModelError("not_configured", "the user no longer exists")
        self.spending.look_up(user)
        scope = RunScope(self.run, user)
        open_tools = tools_of(scope)
        tools = told_tools(scope, open_tools)
        self.offer = Offer(
            names=frozenset(tool.name for tool in open_tools),
            versions=tool_versions(tools),
            read_only=scope.read_only,
        )
        path, elsewhere = seen_by(self.run)
        prompt = system_prompt(
            self.run,
            user,
            tools=tools,
            module=module_prompt(scope),
            items=scope.items,
            read_only=scope.read_only.refusal if scope.read_only else "",
        )
        wish = wish_text(self.run.wish, changed_elsewhere=has_changed_rows(elsewhere))
        return ModelRequest(
            model=self.name,
            messages=[
                {"role": "system", "content": redact(f"{prompt}\n\n{wish}".strip())},
                # Results are redacted as they are stored; what people say stays.
                *redact_values_json(chat_messages(self.run, path)),
            ],
            tools=tool_schemas(tools),
            api_base=str(self.profile.get("API_BASE") or ""),
            api_key=str(self.profile.get("API_KEY") or ""),
            options=self.profile.get("OPTIONS", {}),
        )


STORED_NAME_CHARS = 200


def store_reply(
    run_id: UUID,
    index: int,
    reply: ModelReply,
    model: str,
    offer: Offer | None = None,
) -> list[Event]:
    """
    Store the reply as step `index`; return the events. Requires the lease.

    A call that cannot be executed gets its result here, one that needs a person
    its interrupt; the others are `pending`. `offer` is what the model was offered;
    the versions of tools that were offered first stay the run's.
    """
    run = Run.objects.get(pk=run_id)
    pinned = {**(offer.versions if offer else {}), **run.tool_versions}
    news = {} if pinned == run.tool_versions else {"tool_versions": pinned}
    Run.objects.filter(pk=run_id).update(attempts=0, **news)
    calls = [_new_call(run, requested) for requested in reply.calls]
    remember(_tool(run, call.name) for call in calls)
    message = _message(run, index, reply, calls)
    Message.objects.append(message)
    step = Step.objects.create(
        run=run,
        index=index,
        message=message,
        model=model[:200],
        finish_reason=reply.finish_reason[:40],
        provider_fields=dict(reply.provider_fields),
    )
    settle(run, index, reply.usage, model=model, said_chars=_said_chars(reply))
    facts: list[Event] = []
    user = fresh_user(run.user_id) if calls else None
    for call, requested in zip(calls, reply.calls, strict=True):
        call.step = step
        facts += _store_call(call, requested, reply.message_id, user, offer)
    told = list(QueuedMessage.objects.told_to(run)) if calls else []
    return facts + told_along(run, told) if told else facts


def _said_chars(reply: ModelReply) -> int:
    called = sum(len(call.name) + len(call.arguments_text) for call in reply.calls)
    return len(reply.text) + len(reply.reasoning) + called


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
    )


def _tool(run: Run, name: str) -> ToolDefinition | None:
    """Return the tool of that name, unless no model can have been offered it."""
    tool = tool_of(run, name)
    return None if tool is None or schema_error(tool) else tool


def _message(run: Run, index: int, reply: ModelReply, calls: list[ToolCall]) -> Message:
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
    message_id: str,
    user: Any,
    offer: Offer | None,
) -> list[Event]:
    call_id = str(call.pk)
    facts: list[Event] = [
        CallStart(call_id=call_id, name=call.name, message_id=message_id),
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
        verdict = tool_verdict(tool, user=user, module=call.run.module)
        problem = _problem(call, tool, user, offer, verdict)
        if problem is None:
            _judge(call, tool, verdict)
    call.save(force_insert=True)
    if problem is not None or tool is None:
        return facts + _not_carried_out(call, problem or _unknown_tool(call, offer))
    return facts + _waits(call, tool)


def _judge(call: ToolCall, tool: ToolDefinition, verdict: Verdict) -> None:
    """Note whether the call has to be approved, and why."""
    if tool.effect in WRITING:
        verdict = consent(call, tool, verdict)
    call.asks = verdict.decision == "ask"
    call.asks_because = verdict.reason[:300]
    if call.asks and tool.approval.preview is None and is_granted(call.run, tool):
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
        )
    if offer is not None and tool.name not in offer.names:
        writes = tool.effect in WRITING
        return not_here(
            tool.name, writes=writes, read_only=offer.read_only, names=offer.names
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
