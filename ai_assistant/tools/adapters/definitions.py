"""Tools that are described by a dict already: OpenAI's form, and that of MCP."""

from collections.abc import Callable, Mapping
from typing import Any

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.adapters.functions import from_function
from ai_assistant.types import Effect, ToolDefinition


def from_openai(
    definition: Mapping[str, Any],
    function: Callable[..., Any],
    *,
    effect: Effect,
    **fields: Any,  # noqa: ANN401 - of ToolDefinition
) -> ToolDefinition:
    """
    Return a tool of OpenAI's form, `{"type": "function", "function": {...}}`.

    The inner dict will do as well. `function` gets the arguments by name, checked
    against `parameters`; and a `context`, if it has one.
    """
    said = definition.get("function", definition)
    parameters = said.get("parameters") or {}
    return _tool(said, parameters, function, effect=effect, **fields)


def from_mcp(
    definition: Mapping[str, Any],
    function: Callable[..., Any],
    *,
    effect: Effect,
    **fields: Any,  # noqa: ANN401 - of ToolDefinition
) -> ToolDefinition:
    """
    Return a tool of an MCP list, `{"name", "description", "inputSchema"}`.

    `function` gets the arguments by name and does the call.
    """
    parameters = definition.get("inputSchema") or {}
    fields.setdefault("label", definition.get("title", ""))
    return _tool(definition, parameters, function, effect=effect, **fields)


def _tool(
    said: Mapping[str, Any],
    parameters: Mapping[str, Any],
    function: Callable[..., Any],
    **fields: Any,  # noqa: ANN401
) -> ToolDefinition:
    name = said.get("name", "")
    if not name:
        raise ImproperlyConfiguredAssistant(
            f"The definition {dict(said)!r} has no name. Give it one."
        )
    fields = {"name": name, "description": said.get("description", ""), **fields}
    # `$schema` says nothing to a model; `strict` is OpenAI's own.
    schema = {key: part for key, part in parameters.items() if key != "$schema"}
    return from_function(function, schema=schema, **fields)
