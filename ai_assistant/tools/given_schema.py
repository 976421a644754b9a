"""A JSON Schema that a developer gives, instead of type hints."""

from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.paging import PAGE, PAGE_SCHEMA, is_paged
from ai_assistant.types import ToolDefinition


def parameters(tool: ToolDefinition) -> dict[str, Any]:
    """
    Return the schema of a tool's arguments, as it was given.

    Unknown arguments are refused unless it allows them. Raise
    ImproperlyConfiguredAssistant if it is no schema of an object.
    """
    given: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
        **(tool.schema or {}),
    }
    if given["type"] != "object" or not isinstance(given["properties"], dict):
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has a schema that is not one of an object. Give "
            "{'type': 'object', 'properties': {...}}."
        )
    if is_paged(tool):
        given["properties"] = {**given["properties"], PAGE: PAGE_SCHEMA}
    try:
        Draft202012Validator.check_schema(given)
    except SchemaError as error:
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has a schema that is none: {error.message}. Correct "
            "it; see https://json-schema.org."
        ) from error
    return given


def problems(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return what is wrong with the arguments: where, and a few words."""
    # An empty registry: no reference is ever fetched from the network.
    validator = Draft202012Validator(schema, registry=_empty())
    try:
        return [
            (".".join(map(str, error.absolute_path)) or "object", error.message[:300])
            for error in validator.iter_errors(arguments)
        ]
    except (Unresolvable, RecursionError):
        return [("object", "a reference of the tool's schema cannot be resolved")]


@lru_cache(maxsize=1)
def _empty() -> Registry[Any]:
    return Registry()
