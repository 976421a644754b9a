"""Cards that server code shows: of tools that only render, and are never called."""

import json
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import Max

from ai_assistant.events import CallArguments, CallEnd, CallResult, CallStart, Event
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.registry import registry
from ai_assistant.tools.characters import whole_json
from ai_assistant.tools.result import from_value
from ai_assistant.types import ToolResult


def check_shown(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as plain JSON. Raise if there is no such card."""
    tool = registry.tool(name)
    if tool is None or not tool.renders_only:
        raise ImproperlyConfiguredAssistant(
            f"context.show({name!r}) names no card. Register a tool of that name with "
            "renders_only=True."
        )
    plain = from_value(name, arguments)
    if not plain.ok or not isinstance(plain.data, dict):
        raise ImproperlyConfiguredAssistant(
            f"context.show({name!r}) got arguments without a JSON form, or too large "
            "ones. Give numbers, texts, lists and dicts."
        )
    return {str(key): whole_json(value) for key, value in plain.data.items()}


def shown_call(
    parent: ToolCall, call_id: UUID, name: str, arguments: dict[str, Any]
) -> list[Event]:
    """Store the card as a finished call below `parent`; return the facts."""
    tool = registry.tool(name)
    now = clock.now()
    call = ToolCall(
        id=call_id,
        run_id=parent.run_id,
        step_id=parent.step_id,
        parent=parent,
        depth=parent.depth + 1,
        position=_next_position(parent),
        name=name,
        label=str(tool.label)[:200] if tool else "",
        effect="ui",
        arguments=arguments,
        status=CallStatus.COMPLETE,
        result=asdict(ToolResult(ok=True)),
        started_at=now,
        finished_at=now,
    )
    call.save(force_insert=True)
    key, said = str(call_id), json.dumps(arguments, ensure_ascii=False)
    return [
        CallStart(call_id=key, name=name, message_id=str(parent.step.message_id)),
        CallArguments(call_id=key, delta=said),
        CallEnd(call_id=key),
        CallResult(call_id=key, status=CallStatus.COMPLETE, content=""),
    ]


def _next_position(parent: ToolCall) -> int:
    """Return a place in the step that no other call has."""
    calls = ToolCall.objects.filter(run_id=parent.run_id, step_id=parent.step_id)
    return int(calls.aggregate(last=Max("position"))["last"]) + 1
