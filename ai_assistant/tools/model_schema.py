"""The schema of a tool as a model is sent it: nothing is said twice in it."""

import json
from functools import lru_cache
from typing import Any

from ai_assistant.tools.arguments import CACHED, argument_texts, function_schema
from ai_assistant.types import JSON, ToolDefinition

HEADERS = frozenset({"args:", "arguments:", "parameters:"})
NULL: JSON = {"type": "null"}
VALUES = ("enum", "const", "examples")  # hold no schemas
LENGTHS = ("minLength", "maxLength", "minItems", "maxItems", "maxProperties")
LEFT_OUT = frozenset({"title", "default", *VALUES, *LENGTHS})


@lru_cache(maxsize=CACHED)
def model_schema(tool: ToolDefinition) -> dict[str, Any]:
    """
    Return the tool as a function for models; less than `function_schema` says.

    Left out is what JSON Schema has as its default, what stands at the argument
    already, how to say that an optional argument is not given, and how long
    something may be: the answer to what is too long says so. A schema that the site
    has written is sent as it is.
    """
    schema = function_schema(tool)
    if tool.schema is not None:
        return schema
    function = schema["function"]
    rest, _texts = argument_texts(
        tool.description, function["parameters"]["properties"]
    )
    lines = [line for line in rest if line.strip().lower() not in HEADERS]
    short = {
        **function,
        "description": "\n".join(lines).strip(),
        "parameters": _shortened(function["parameters"]),
    }
    return {**schema, "function": short}


@lru_cache(maxsize=CACHED)
def schema_chars(tool: ToolDefinition) -> int:
    """Return the length of the tool's schema as it is sent to the model."""
    schema = model_schema(tool)
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


def _shortened(schema: JSON) -> Any:
    """Return a schema without what goes without saying."""
    if isinstance(schema, list):
        return [_shortened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    said = {
        key: _properties(value) if key in ("properties", "$defs") else _shortened(value)
        for key, value in schema.items()
        if key not in LEFT_OUT
    }
    said |= {key: schema[key] for key in VALUES if key in schema}
    if said.get("additionalProperties") is True:
        del said["additionalProperties"]
    default = schema.get("default")
    if default is None and "default" in schema:
        return _without_null(said)
    if default not in (None, "", [], {}):
        said["default"] = default
    return said


def _properties(schemas: Any) -> dict[str, Any]:
    """Return schemas by name: one of them may be named as a word of JSON Schema is."""
    return {name: _shortened(schema) for name, schema in schemas.items()}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what is optional without the null that says so."""
    others = [one for one in schema.get("anyOf", ()) if one != NULL]
    if len(others) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**others[0], **rest}
