"""
Browser tools that a page declares for itself, with a message.

They come from a browser: nothing in them can stand in for a tool of the server.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.registry import registry
from ai_assistant.tools.depth import is_deep
from ai_assistant.tools.given_schema import parameters
from ai_assistant.types import ToolDefinition

MAX_TOOLS = 64
PATTERNS = ("pattern", "patternProperties", "$ref", "$dynamicRef")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
ORIGIN = "the page"


def client_tools(context: Mapping[str, Any]) -> list[ToolDefinition]:
    """Return the tools in `Run.context`, as far as the site and their form allow."""
    if not conf.get("CLIENT_TOOLS"):
        return []
    return list(_good(context.get("tools") or ()))


def _good(declared: Any) -> Iterator[ToolDefinition]:  # noqa: ANN401 - stored JSON
    for said in declared[:MAX_TOOLS]:
        name = str(said.get("name", ""))
        if not NAME.fullmatch(name) or registry.tool(name) is not None:
            continue
        if is_deep(said):
            continue
        tool = ToolDefinition(
            name=name,
            handler=_of_the_page,
            effect="ui",
            description=str(said.get("description", "")),
            label=name.replace("_", " ").capitalize(),
            origin=ORIGIN,
            browser=True,
            shared=True,  # it is of the page itself: never left to be found
            schema=_harmless(said.get("parameters") or {}),
        )
        if _is_told(tool):
            yield tool


def _harmless(schema: Any) -> Any:  # noqa: ANN401 - stored JSON
    """Return the schema without patterns, which can take a server hours to match."""
    if isinstance(schema, list):
        return [_harmless(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _each_harmless(value) if key == "properties" else _harmless(value)
        for key, value in schema.items()
        if key not in PATTERNS
    }


def _each_harmless(properties: Any) -> Any:  # noqa: ANN401
    """Do so for each argument: one may be named like a word of the schema."""
    if not isinstance(properties, dict):
        return properties
    return {name: _harmless(value) for name, value in properties.items()}


def _is_told(tool: ToolDefinition) -> bool:
    """Tell whether a model can be told of the tool; its page may declare anything."""
    try:
        parameters(tool)
    except (ImproperlyConfiguredAssistant, RecursionError):
        return False
    return True


def _of_the_page(**_arguments: object) -> None:
    """Do nothing on the server: the page carries the call out."""
