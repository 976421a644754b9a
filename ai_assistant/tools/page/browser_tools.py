"""Point at something on the page."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from ai_assistant import conf
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.registry import registry
from ai_assistant.tools.parsing import is_deep
from ai_assistant.tools.schema import given_parameters
from ai_assistant.types import ToolDefinition


@tool(effect="ui", browser=True, shared=True, label=_("Highlight"))
def highlight(selector: str, text: str = "") -> None:
    """
    Scroll to an element of the page and outline it for some seconds.

    selector: a CSS selector, for example #id_title
    text: a few words that are shown beside it
    """


MAX_TOOLS = 64
PATTERNS = ("pattern", "patternProperties", "$ref", "$dynamicRef")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
ORIGIN = "the page"


def client_tools(context: Mapping[str, Any]) -> list[ToolDefinition]:
    """Return the tools in `Run.context`, as far as the site and their form allow."""
    if not conf.get("CLIENT_TOOLS"):
        return []
    return list(_good(context.get("tools") or ()))


def _good(declared: Any) -> Iterator[ToolDefinition]:
    for said in declared[:MAX_TOOLS]:
        name = str(said.get("name", ""))
        if not NAME.fullmatch(name) or registry.tool(name) is not None:
            continue
        if is_deep(said):
            continue
        tool = ToolDefinition.of(
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


def _harmless(schema: Any) -> Any:
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


def _each_harmless(properties: Any) -> Any:
    """Do so for each argument: one may be named like a word of the schema."""
    if not isinstance(properties, dict):
        return properties
    return {name: _harmless(value) for name, value in properties.items()}


def _is_told(tool: ToolDefinition) -> bool:
    """Tell whether a model can be told of the tool; its page may declare anything."""
    try:
        given_parameters(tool)
    except (ImproperlyConfiguredAssistant, RecursionError):
        return False
    return True


def _of_the_page(**_arguments: object) -> None:
    """Do nothing on the server: the page carries the call out."""
