"""The arguments of a call: the tool's JSON schema, and what the model sent."""

import hashlib
import inspect
import json
import math
import re
import typing
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from referencing import Registry
from referencing.exceptions import Unresolvable

from ai_assistant.exceptions import (
    ImproperlyConfiguredAssistant,
    ModelRetry,
    WrongArguments,
)
from ai_assistant.text.unicode import whole_json
from ai_assistant.types import ToolDefinition
from ai_assistant.types.page import MAX_DEPTH, is_deep

MAX_ARGUMENTS_CHARS = 1_000_000  # of one call
MAX_ERRORS = 5
CACHED = 4096  # tools
PAGE = "page"  # the argument with which a model asks for a page of a long list
PAGE_SCHEMA: Mapping[str, Any] = {"type": "integer", "minimum": 1, "default": 1}
# Google and reST forms of "argument: description".
ARGUMENT_LINE = re.compile(r"^\s*(?::param\s+)?(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)$")
# Empty: no reference of a schema is ever fetched from the network.
REFERENCES: Registry[Any] = Registry()

Problems = Iterable[tuple[Iterable[Any], str]]  # where, and a few words


# --- what the model sent ---


def parse_arguments(name: str, text: str) -> dict[str, Any]:
    """
    Return the arguments as an object; an empty text has none.

    Raise ModelRetry if the text is not a JSON object: nothing is guessed.
    """
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise ModelRetry(
            f"The arguments of {name!r} have {len(text)} characters (at most "
            f"{MAX_ARGUMENTS_CHARS}). Send less at once."
        )
    if not text.strip():
        return {}
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            object_pairs_hook=_unique_names,
        )
    except RecursionError as error:
        raise _too_deep(name) from error
    except ValueError as error:
        raise ModelRetry(
            f"The arguments of {name!r} are not valid JSON ({error}). Send one "
            "JSON object."
        ) from error
    if not isinstance(value, dict):
        raise ModelRetry(
            f"The arguments of {name!r} are a JSON {type(value).__name__}. Send one "
            "JSON object."
        )
    if is_deep(value):
        raise _too_deep(name)
    if whole_json(value) != value:
        raise ModelRetry(
            f"The arguments of {name!r} contain NUL or half a character. Send whole "
            "characters."
        )
    return value


def _too_deep(name: str) -> ModelRetry:
    return ModelRetry(
        f"The arguments of {name!r} are nested more than {MAX_DEPTH} levels deep. Send "
        "less at once."
    )


def _refuse_constant(value: str) -> None:
    raise ValueError(f"{value} is not a JSON number")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} is given twice in one object")
    return value


def arguments_digest(name: str, arguments: dict[str, Any]) -> str:
    """Return the digest that binds an approval to the tool and its exact arguments."""
    canonical = json.dumps([name, arguments], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


# --- the schema ---


@lru_cache(maxsize=CACHED)
def function_schema(tool: ToolDefinition) -> dict[str, Any]:
    """Return the tool as a function schema; `model_schema` is what a model is sent."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": _parameters(tool),
        },
    }


@lru_cache(maxsize=CACHED)
def schema_error(tool: ToolDefinition) -> str:
    """Return why the tool has no valid schema; empty if it has one."""
    try:
        function_schema(tool)
    except ImproperlyConfiguredAssistant as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - pydantic and annotations raise anything
        first = str(error).strip().partition("\n")[0]
        return (
            f"Tool {tool.name!r} has arguments without a JSON schema: {first} Use "
            "types that pydantic supports, and import them at run time."
        )
    return ""


def _parameters(tool: ToolDefinition) -> dict[str, Any]:
    if tool.schema is not None:
        return _own_parameters(tool)
    parameters = _arguments_model(tool).model_json_schema()
    parameters.pop("title", None)
    parameters.setdefault("properties", {})
    for schema in parameters["properties"].values():
        schema.pop("title", None)
    parameters["additionalProperties"] = False
    return parameters


def _own_parameters(tool: ToolDefinition) -> dict[str, Any]:
    """
    Return the schema with which a tool was registered.

    Unknown arguments are refused unless it allows them. Raise
    ImproperlyConfiguredAssistant if it is not the schema of an object.
    """
    own: Any = tool.schema or {}  # of a row it may be any JSON
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
        **(own if isinstance(own, Mapping) else {"type": "none"}),
    }
    if schema["type"] != "object" or not isinstance(schema["properties"], dict):
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has a schema that is not of an object. Give "
            "{'type': 'object', 'properties': {...}}."
        )
    if is_paged(tool):
        schema["properties"] = {**schema["properties"], PAGE: PAGE_SCHEMA}
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has an invalid schema: {error.message}. Correct it; "
            "see https://json-schema.org."
        ) from error
    return schema


@lru_cache(maxsize=CACHED)
def _arguments_model(tool: ToolDefinition) -> type[BaseModel]:
    """
    Return the pydantic model of a tool's arguments, made of its signature.

    Raise ImproperlyConfiguredAssistant if an argument has no type, or one that
    has no JSON form.
    """
    hints = typing.get_type_hints(tool.handler, include_extras=True)
    parameters = inspect.signature(tool.handler).parameters
    _rest, descriptions = argument_texts(tool.description, parameters)
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name == "context":
            continue
        if name not in hints or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ImproperlyConfiguredAssistant(
                f"Tool {tool.name!r} has an argument {name!r} without a "
                "type. Give it a type hint, so that the model knows what to send."
            )
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else ...
        if name in descriptions:
            default = Field(default, description=descriptions[name])
        fields[name] = (hints[name], default)
    if is_paged(tool):
        fields[PAGE] = (int, Field(1, ge=1))
    return create_model(
        f"{tool.name}_arguments", __config__=ConfigDict(extra="forbid"), **fields
    )


def argument_texts(
    description: str, names: Collection[str]
) -> tuple[list[str], dict[str, str]]:
    """
    Return the lines of a docstring without those about arguments, and these by name.

    What goes on in the next line, up to an empty one, is of the same argument.
    """
    rest: list[str] = []
    texts: dict[str, str] = {}
    name = ""
    for line in description.splitlines():
        match = ARGUMENT_LINE.match(line)
        if match and match[1] in names:
            name = match[1]
            texts[name] = match[2].strip()
        elif name and line.strip() and not match:
            texts[name] += f" {line.strip()}"
        else:
            name = ""
            rest.append(line)
    return rest, texts


def takes_context(tool: ToolDefinition) -> bool:
    """Return whether the function has an argument named `context`."""
    return "context" in inspect.signature(tool.handler).parameters


def is_paged(tool: ToolDefinition) -> bool:
    """Return whether the engine pages the results: the tool has no `page` itself."""
    if tool.display.page_size <= 0:
        return False
    return PAGE not in inspect.signature(tool.handler).parameters


def split_page(
    tool: ToolDefinition, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """Return the arguments of the function, and the page that the model asks for."""
    values = dict(arguments)
    return (values, values.pop(PAGE, 1)) if is_paged(tool) else (values, 1)


# --- validation ---


def validate_arguments(
    tool: ToolDefinition, arguments: dict[str, Any]
) -> dict[str, Any]:
    """
    Return the arguments as the tool's types, with defaults filled in.

    Raise WrongArguments with a sentence for each problem.
    """
    if tool.schema is not None:
        if problems := _schema_problems(_own_parameters(tool), arguments):
            raise _wrong_arguments(tool, problems)
        return arguments
    model = _arguments_model(tool)
    try:
        valid = model.model_validate(arguments)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        problems = [(item["loc"], item["msg"]) for item in errors]
        raise _wrong_arguments(tool, problems) from error
    return {name: getattr(valid, name) for name in model.model_fields}


def _schema_problems(schema: dict[str, Any], arguments: dict[str, Any]) -> Problems:
    validator = Draft202012Validator(schema, registry=REFERENCES)
    try:
        return [
            (error.absolute_path, error.message[:300])
            for error in validator.iter_errors(arguments)
        ]
    except (Unresolvable, RecursionError):
        return [((), "a reference of the tool's schema cannot be resolved")]


def _wrong_arguments(tool: ToolDefinition, problems: Problems) -> WrongArguments:
    """Return the error, with the part of the schema that the arguments have to fit."""
    placed = [(".".join(map(str, place)) or "object", text) for place, text in problems]
    sentences = [f"argument {place!r}: {text}" for place, text in placed[:MAX_ERRORS]]
    names = {place.partition(".")[0] for place, _ in placed[:MAX_ERRORS]}
    parameters = _parameters(tool)
    properties = parameters.get("properties", {})
    return WrongArguments(
        f"The arguments of {tool.name!r} are wrong: {'; '.join(sentences)}. Call it "
        "again.",
        schema_hint={
            "properties": {
                name: properties[name] for name in properties if name in names
            },
            "required": parameters.get("required", []),
            "allowed": list(properties),
        },
    )
