"""Plain functions, and tools described by a dict, as tools."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.types import Effect, ToolDefinition


def from_function(
    function: Callable[..., Any],
    *,
    effect: Effect,
    name: str = "",
    label: str = "",
    description: str = "",
    **fields: Any,
) -> ToolDefinition:
    """
    Return any function as a tool, to be registered.

    Its type hints describe the arguments, unless `schema` is given. `fields` are
    those of `ai_assistant.tool`.
    """
    name = name or function.__name__
    return ToolDefinition.of(
        name=name,
        handler=function,
        effect=effect,
        description=description or inspect.getdoc(function) or "",
        label=label or name.replace("_", " ").capitalize(),
        origin=fields.pop("origin", "") or function.__module__,
        **fields,
    )


def from_openai(
    definition: Mapping[str, Any],
    function: Callable[..., Any],
    *,
    effect: Effect,
    **fields: Any,
) -> ToolDefinition:
    """
    Return a tool of OpenAI's form, `{"type": "function", "function": {...}}`.

    The inner dict is accepted too. `function` gets the arguments by name, checked
    against `parameters`; and a `context`, if it has one.
    """
    inner = definition.get("function", definition)
    parameters = inner.get("parameters") or {}
    return _tool(inner, parameters, function, effect=effect, **fields)


def from_mcp(
    definition: Mapping[str, Any],
    function: Callable[..., Any],
    *,
    effect: Effect,
    **fields: Any,
) -> ToolDefinition:
    """
    Return a tool of an MCP list, `{"name", "description", "inputSchema"}`.

    `function` gets the arguments by name and does the call.
    """
    parameters = definition.get("inputSchema") or {}
    fields.setdefault("label", definition.get("title", ""))
    return _tool(definition, parameters, function, effect=effect, **fields)


def _tool(
    definition: Mapping[str, Any],
    parameters: Mapping[str, Any],
    function: Callable[..., Any],
    **fields: Any,
) -> ToolDefinition:
    if not definition.get("name"):
        raise ImproperlyConfiguredAssistant(
            f"The definition {dict(definition)!r} has no name. Give it one."
        )
    for name in ("name", "description"):
        fields.setdefault(name, definition.get(name, ""))
    # `$schema` means nothing to a model; `strict` is specific to OpenAI.
    schema = {key: part for key, part in parameters.items() if key != "$schema"}
    return from_function(function, schema=schema, **fields)
