"""
A dry run: a prompt is really sent, and what the model says first is all that happens.

Its calls are proposals: none is carried out. Nothing is stored but the usage.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import async_to_sync

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.setup import agent_named
from ai_assistant.engine.accounting.small_calls import UNUSED
from ai_assistant.engine.accounting.usage import reserve_without_run
from ai_assistant.engine.calls.availability import tool_schemas
from ai_assistant.engine.execution.prompt import PromptLook, look_at_run, unsent_run
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.units import unit
from ai_assistant.exceptions import ModelError, Refused
from ai_assistant.hooks.points import ModelCall
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.providers.base import (
    provider_for,
    timeouts_of,
    with_masked_secrets,
)
from ai_assistant.providers.prices import priced
from ai_assistant.providers.readiness import advice_for
from ai_assistant.providers.reasoning import reasoning_options
from ai_assistant.providers.retry import with_timeouts
from ai_assistant.providers.stream import ReplyBuilder, with_whole_characters
from ai_assistant.safety.budgets.ledger import release, settle
from ai_assistant.text.redaction.redact import redact, redact_values_json
from ai_assistant.types import ModelReply, ModelRequest, Provider, ReplyEnd, Usage

MOST_S = 120.0  # a person waits for the page


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposedCall:
    """A tool call that the model asks for, and that is not carried out."""

    name: str
    arguments: str  # as the model wrote them, without secrets


@dataclass(frozen=True, kw_only=True, slots=True)
class DryRun:
    """What was told to the model, and what it said first; or why it did not."""

    look: PromptLook
    model: str
    text: str = ""
    reasoning: str = ""
    calls: tuple[ProposedCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: str = ""


def dry_run(user: Any, page_path: str, text: str, *, payer: Any) -> DryRun:
    """
    Send what the model would be told with a message of `user`, at the cost of `payer`.

    Call it in a thread, outside of any transaction: it waits for the model.
    """
    run, scope = unsent_run(user, page_path)
    look = look_at_run(run, scope, text)
    name = look.profile if look.profile in conf.profiles() else DEFAULT
    profile = conf.profile(name)
    answer = DryRun(look=look, model=str(profile.get("MODEL") or ""))
    begun = time.monotonic()
    try:
        request = _request(run, scope, look, profile)
        reply = _asked(request, profile, payer=payer, name=name)
    except ModelError as error:
        return replace(answer, error=advice_for(profile, error))
    except Refused as refused:
        return replace(answer, error=str(refused))
    return replace(
        answer,
        text=redact(reply.text),
        reasoning=redact(reply.reasoning),
        calls=tuple(
            ProposedCall(name=call.name, arguments=redact(call.arguments_text))
            for call in reply.calls
        ),
        usage=reply.usage,
        seconds=time.monotonic() - begun,
    )


def _request(
    run: Run, scope: RunScope, look: PromptLook, profile: Mapping[str, Any]
) -> ModelRequest:
    """Return the request as hooks of the site leave it. Raise Refused if one refuses."""
    agent = agent_named(look.agent)
    schemas = tool_schemas(list(look.tools))
    names = [tool["function"]["name"] for tool in schemas]
    call = ModelCall(
        messages=[
            {"role": "system", "content": look.prompt.text},
            {"role": "user", "content": look.message},
        ],
        tools=tuple(dict.fromkeys([*names, *(one.name for one in look.findable)])),
        model=look.profile,
    )
    hooks = RunHooks(run, scope)
    outcome = hooks.ask(hooks.at("before_model_request"), call)
    if outcome.refused:
        raise Refused("hook", outcome.refused)
    left = frozenset(outcome.value.tools)
    return ModelRequest(
        model=str(profile.get("MODEL") or ""),
        messages=redact_values_json(list(outcome.value.messages)),
        tools=[one for one in schemas if one["function"]["name"] in left],
        api_base=str(profile.get("API_BASE") or ""),
        api_key=str(profile.get("API_KEY") or ""),
        options=reasoning_options(profile, agent.reasoning if agent else ""),
    )


def _asked(
    request: ModelRequest, profile: Mapping[str, Any], *, payer: Any, name: str
) -> ModelReply:
    """Return the reply, paid for. Raise ModelError, or Limited if it is not paid."""
    provider = provider_for(profile)
    row = reserve_without_run(payer, name, request, provider)
    try:
        reply = async_to_sync(_reply)(request, provider, profile)
    except ModelError as error:
        # What else it may have used is settled by the sweep, at its estimate.
        if error.code in UNUSED:
            _release(row)
        raise
    _settle(row, reply)
    return reply


async def _reply(
    request: ModelRequest, provider: Provider, profile: Mapping[str, Any]
) -> ModelReply:
    builder = ReplyBuilder()
    times = timeouts_of(profile)
    times["total_s"] = min(times["total_s"], MOST_S)
    try:
        async with asyncio.timeout(MOST_S):
            await provider.ready()
    except TimeoutError as error:
        raise ModelError("not_configured", "the provider is still loading") from error
    stream = with_masked_secrets(with_timeouts(provider.stream(request), **times))
    async for chunk in with_whole_characters(stream):
        builder.add(priced(profile, chunk) if isinstance(chunk, ReplyEnd) else chunk)
    return builder.reply()


@unit
def _settle(row: UsageLedger, reply: ModelReply) -> None:
    said = [reply.text, reply.reasoning, *(one.arguments_text for one in reply.calls)]
    settle(row, reply.usage, said_chars=sum(map(len, said)))


@unit
def _release(row: UsageLedger) -> None:
    release(row)
