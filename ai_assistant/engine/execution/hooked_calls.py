"""What the hooks of the site make of the calls of a reply, before it is stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai_assistant.engine.calls.availability import Offer
from ai_assistant.engine.interrupts.results import tool_of, with_effect_of_call
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.exceptions import ModelRetry
from ai_assistant.hooks.outcomes import Outcome
from ai_assistant.hooks.passes import Asking
from ai_assistant.hooks.points import ToolRequested
from ai_assistant.tools.arguments import (
    parse_arguments,
    schema_error,
    validate_arguments,
)
from ai_assistant.types import ModelReply, RequestedCall, ToolDefinition
from ai_assistant.types.hook import Hook

ASKED_CHARS = 4000  # of what the model wanted, where a hook changed it


@dataclass(frozen=True, kw_only=True, slots=True)
class HookedCall:
    """What hooks made of one call. It is stored with it: they are not asked again."""

    arguments_text: str  # JSON, as they left it
    refused: str = ""
    approval: str = ""
    by: str = ""
    changed_by: tuple[str, ...] = ()

    def noted(self, requested: RequestedCall) -> dict[str, Any]:
        """Return what the row of the call keeps of it."""
        asked = requested.arguments_text[:ASKED_CHARS] if self.changed_by else ""
        told = {
            "by": self.by,
            "refused": self.refused,
            "approval": self.approval,
            "changed_by": list(self.changed_by),
            "asked": asked,
        }
        return {key: value for key, value in told.items() if value}


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedCall:
    """A call that hooks are asked about."""

    requested: RequestedCall
    hooks: Sequence[Hook]
    asking: Asking[ToolRequested]

    def hooked(self, outcome: Outcome[ToolRequested]) -> HookedCall:
        """Return what they made of it."""
        text = self.requested.arguments_text
        if outcome.changed_by:
            text = json.dumps(dict(outcome.value.arguments), ensure_ascii=False)
        return HookedCall(
            arguments_text=text,
            refused=outcome.refused,
            approval=outcome.approval,
            by=outcome.by,
            changed_by=outcome.changed_by,
        )


def asked_calls(
    hooks: RunHooks, reply: ModelReply, offer: Offer | None, step: int
) -> list[AskedCall]:
    """Return the calls of a reply that may be carried out, and that have hooks."""
    found = []
    for requested in reply.calls:
        tool = tool_of(hooks.run, requested.name)
        if tool is None or schema_error(tool):
            continue
        if offer is not None and tool.name not in offer.names:
            continue
        asked = _asked(hooks, requested, tool, step)
        if asked is not None:
            found.append(asked)
    return found


def _asked(
    hooks: RunHooks, requested: RequestedCall, tool: ToolDefinition, step: int
) -> AskedCall | None:
    called = hooks.at("before_tool", tool.name)
    if not called:
        return None
    try:
        arguments = _checked(tool, requested.arguments_text)
    except ModelRetry:
        return None  # it gets the result that says so
    effect = with_effect_of_call(tool, arguments).effect
    value = ToolRequested(name=tool.name, arguments=arguments, effect=effect, step=step)
    asking = hooks.asking(value, lambda value: _check(tool, value.arguments))
    return AskedCall(requested=requested, hooks=called, asking=asking)


def _checked(tool: ToolDefinition, text: str) -> dict[str, Any]:
    arguments = parse_arguments(tool.name, text)
    validate_arguments(tool, arguments)
    return arguments


def _check(tool: ToolDefinition, arguments: Mapping[str, Any]) -> None:
    """Raise if a call with these arguments would be refused."""
    _checked(tool, json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False))
