"""Tools that the page declares, and executes."""

import re
from collections.abc import Mapping
from typing import Any

from ai_assistant import conf
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import schema_error
from ai_assistant.types import ToolDefinition
from ai_assistant.types.page import is_deep

MAX_TOOLS = 64
PATTERNS = ("pattern", "patternProperties", "$ref", "$dynamicRef")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
ORIGIN = "the page"


def client_tools(context: Mapping[str, Any]) -> list[ToolDefinition]:
    """Return the valid tools that the page declares in `Run.context`, if allowed."""
    if not conf.get("CLIENT_TOOLS"):
        return []
    declared = (context.get("tools") or ())[:MAX_TOOLS]
    tools = [
        ToolDefinition.of(
            name=name,
            handler=_run_in_page,
            effect="ui",
            description=str(declaration.get("description", "")),
            label=name.replace("_", " ").capitalize(),
            origin=ORIGIN,
            browser=True,
            shared=True,  # it belongs to the page itself: always offered
            schema=_without_patterns(declaration.get("parameters") or {}),
        )
        for declaration in declared
        if NAME.fullmatch(name := str(declaration.get("name", "")))
        and registry.tool(name) is None
        and not is_deep(declaration)
    ]
    return [tool for tool in tools if not schema_error(tool)]


def _without_patterns(schema: Any) -> Any:
    """Return the schema without patterns, which can take a server hours to match."""
    if isinstance(schema, list):
        return [_without_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    allowed = {key: value for key, value in schema.items() if key not in PATTERNS}
    for key, value in allowed.items():
        if key == "properties" and isinstance(value, dict):
            # An argument may have the name of a keyword of JSON schema.
            allowed[key] = {
                name: _without_patterns(item) for name, item in value.items()
            }
        else:
            allowed[key] = _without_patterns(value)
    return allowed


def _run_in_page(**_arguments: object) -> None:
    """Do nothing on the server: the page executes the call."""
