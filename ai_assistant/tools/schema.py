"""The JSON schema of a tool's arguments: from its signature, or given with it."""

import inspect
import json
import re
import typing
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from referencing import Registry
from referencing.exceptions import Unresolvable

from ai_assistant.exceptions import ImproperlyConfiguredAssistant, WrongArguments
from ai_assistant.tools.paging import PAGE, PAGE_SCHEMA, is_paged
from ai_assistant.types import ToolDefinition


def given_parameters(tool: ToolDefinition) -> dict[str, Any]:
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


def given_problems(
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


# Google and reST forms of "argument: description".
ARGUMENT_LINE = re.compile(r"^\s*(?::param\s+)?(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)$")
MAX_ERRORS = 5
CACHED = 4096  # tools


@lru_cache(maxsize=CACHED)
def arguments_model(tool: ToolDefinition) -> type[BaseModel]:
    """
    Return the pydantic model of a tool's arguments.

    Raise ImproperlyConfiguredAssistant if an argument has no type, or one that
    has no JSON form.
    """
    hints = typing.get_type_hints(tool.handler, include_extras=True)
    described = _described_arguments(tool.description)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(tool.handler).parameters.values():
        if parameter.name == "context":
            continue
        if parameter.name not in hints or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ImproperlyConfiguredAssistant(
                f"Tool {tool.name!r} has an argument {parameter.name!r} without a "
                "type. Give it a type hint, so that the model knows what to send."
            )
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else ...
        text = described.get(parameter.name)
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=text) if text else default,
        )
    if is_paged(tool):
        fields[PAGE] = (int, Field(1, ge=1))
    return create_model(
        f"{tool.name}_arguments", __config__=ConfigDict(extra="forbid"), **fields
    )


@lru_cache(maxsize=CACHED)
def function_schema(tool: ToolDefinition) -> dict[str, Any]:
    """Return the tool in the form in which models are offered functions."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": _parameters(tool),
        },
    }


@lru_cache(maxsize=CACHED)
def schema_chars(tool: ToolDefinition) -> int:
    """Return how many characters a model is told of the tool."""
    return len(json.dumps(function_schema(tool)))


@lru_cache(maxsize=CACHED)
def schema_error(tool: ToolDefinition) -> str:
    """Return why no schema can be made of the tool; empty if one can."""
    try:
        function_schema(tool)
    except ImproperlyConfiguredAssistant as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - pydantic and annotations raise anything
        first = str(error).strip().partition("\n")[0]
        return (
            f"Tool {tool.name!r} has arguments without a JSON form: {first} Use types "
            "that pydantic can describe, and import them at run time."
        )
    return ""


def validate_arguments(
    tool: ToolDefinition, arguments: dict[str, Any]
) -> dict[str, Any]:
    """
    Return the arguments as the tool's types, defaults filled in.

    Raise WrongArguments with a sentence for each thing that is wrong.
    """
    if tool.schema is not None:
        if problems := given_problems(_parameters(tool), arguments):
            raise _wrong(tool, problems)
        return arguments
    model = arguments_model(tool)
    try:
        checked = model.model_validate(arguments)
    except ValidationError as error:
        raise _wrong(tool, _problems(error)) from error
    return {name: getattr(checked, name) for name in model.model_fields}


def takes_context(tool: ToolDefinition) -> bool:
    """Tell whether the function has an argument named `context`."""
    return "context" in inspect.signature(tool.handler).parameters


def _parameters(tool: ToolDefinition) -> dict[str, Any]:
    if tool.schema is not None:
        return given_parameters(tool)
    parameters = arguments_model(tool).model_json_schema()
    parameters.pop("title", None)
    parameters.setdefault("properties", {})
    for schema in parameters["properties"].values():
        schema.pop("title", None)
    parameters["additionalProperties"] = False
    return parameters


def _problems(error: ValidationError) -> list[tuple[str, str]]:
    """Return what is wrong: where, and a few words."""
    return [
        (".".join(map(str, item["loc"])) or "object", item["msg"])
        for item in error.errors(include_url=False, include_input=False)
    ]


def _wrong(tool: ToolDefinition, problems: list[tuple[str, str]]) -> WrongArguments:
    shown = problems[:MAX_ERRORS]
    told = "; ".join(f"argument {place!r}: {text}" for place, text in shown)
    return WrongArguments(
        f"The arguments of {tool.name!r} are wrong: {told}. Call it again.",
        schema_hint=_hint(tool, [place for place, _ in shown]),
    )


def _hint(tool: ToolDefinition, places: list[str]) -> dict[str, Any]:
    """Return the part of the schema that the wrong arguments have to fit."""
    parameters = _parameters(tool)
    known = parameters.get("properties", {})
    names = {place.partition(".")[0] for place in places}
    return {
        "properties": {name: known[name] for name in known if name in names},
        "required": parameters.get("required", []),
        "allowed": list(known),
    }


def _described_arguments(docstring: str) -> dict[str, str]:
    matches = map(ARGUMENT_LINE.match, docstring.splitlines())
    return {match[1]: match[2] for match in matches if match}
