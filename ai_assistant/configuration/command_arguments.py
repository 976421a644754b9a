"""The arguments of a prompt command: what follows its name, or a form has asked for."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.exceptions import (
    ArgumentsMissing,
    ImproperlyConfiguredAssistant,
    WrongArguments,
)
from ai_assistant.tools.arguments import (
    function_schema,
    takes_context,
    validate_arguments,
)
from ai_assistant.types import PromptCommand, RunContext, ToolDefinition

NAMED = re.compile(r"(?<!\S)(\w+)=(\"[^\"]*\"|\S*)")
WORD = re.compile(r"\"[^\"]*\"|\S+")
TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandArguments:
    """What a command is called with."""

    said: dict[str, Any] = field(default_factory=dict)  # as JSON, as it is stored
    values: dict[str, Any] = field(default_factory=dict)  # of the types, with defaults
    rest: str = ""  # what no argument has taken
    names: frozenset[str] = frozenset()  # of all arguments that there are


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentField:
    """An argument as a form asks for it."""

    name: str
    label: str
    kind: str = "text"  # of an input, or select
    description: str = ""
    value: str = ""
    options: tuple[str, ...] = ()
    is_required: bool = False
    problem: str = ""


def command_schema(command: PromptCommand) -> dict[str, Any]:
    """
    Return the JSON schema of the arguments, an object.

    Raise ImproperlyConfiguredAssistant if it is none.
    """
    schema: dict[str, Any] = function_schema(_as_tool(command))["function"][
        "parameters"
    ]
    return schema


def schema_problem(command: PromptCommand) -> str:
    """Return what is wrong with the arguments of a command; empty if nothing is."""
    try:
        command_schema(command)
    except ImproperlyConfiguredAssistant as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - pydantic and annotations raise anything
        return str(error).strip().partition("\n")[0]
    return ""


def hint_of(command: PromptCommand) -> str:
    """Return what may follow the name, as a hint: `<period> [style]`."""
    if schema_problem(command):
        return ""
    schema = command_schema(command)
    needed = schema.get("required", ())
    return " ".join(
        f"<{name}>" if name in needed else f"[{name}]" for name in schema["properties"]
    )


def read_arguments(
    command: PromptCommand, rest: str, given: Mapping[str, str]
) -> CommandArguments:
    """
    Return the arguments of a line, and of the fields of a form, which go before it.

    `name=value` is given by its name. What else is on the line goes to the required
    arguments in order, a word each and all the rest to the last one; without any, to
    the first. Raise ArgumentsMissing with a form.
    """
    schema = command_schema(command)
    properties = schema["properties"]
    texts, left = _texts(schema, rest)
    texts |= {name: text for name, text in given.items() if name in properties}
    texts = {name: text for name, text in texts.items() if text.strip()}
    said = {name: _value(properties[name], text) for name, text in texts.items()}
    missing = [name for name in schema.get("required", ()) if name not in said]
    if missing:
        names = ", ".join(_label(name, properties[name]) for name in missing)
        sentence = _("The command “/%(name)s” needs: %(arguments)s.")
        told = sentence % {"name": command.name, "arguments": names}
        raise ArgumentsMissing(told, command.name, _fields(schema, texts, ()))
    return CommandArguments(
        said=said,
        values=_valid(command, schema, texts, said),
        rest=left,
        names=frozenset(properties),
    )


def called_with(command: PromptCommand, context: RunContext) -> dict[str, Any]:
    """Return the context by its name, if the function of a command takes it."""
    return {"context": context} if takes_context(_as_tool(command)) else {}


def _valid(
    command: PromptCommand,
    schema: Mapping[str, Any],
    texts: Mapping[str, str],
    said: dict[str, Any],
) -> dict[str, Any]:
    properties = schema["properties"]
    defaults = {
        name: own["default"] for name, own in properties.items() if "default" in own
    }
    try:
        valid = validate_arguments(_as_tool(command), said)
    except WrongArguments as error:
        wrong = list(error.schema_hint["properties"]) or list(said)
        names = ", ".join(_label(name, properties.get(name, {})) for name in wrong)
        sentence = _("The command “/%(name)s” cannot take this for: %(arguments)s.")
        told = sentence % {"name": command.name, "arguments": names}
        fields = _fields(schema, texts, wrong)
        raise ArgumentsMissing(told, command.name, fields) from error
    return valid if callable(command.text) else {**defaults, **valid}


def _as_tool(command: PromptCommand) -> ToolDefinition:
    """Return a command as the arguments of tools are read: it is never offered."""
    function = command.text if callable(command.text) else _nothing
    schema = command.schema if command.schema or function is _nothing else None
    return ToolDefinition.of(
        name=command.name,
        handler=function,
        effect="read",
        description=inspect.getdoc(function) or "",
        label=command.name,
        origin=command.origin,
        schema=schema,
    )


def _nothing() -> None:
    """Stand for the function of a command that has only a text."""


# --- from a line to values ---


def _texts(schema: Mapping[str, Any], rest: str) -> tuple[dict[str, str], str]:
    """Return the text of each argument of a line, and what none has taken."""
    properties = schema["properties"]
    texts: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        if match[1] not in properties:
            return match[0]
        texts[match[1]] = _unquoted(match[2])
        return ""

    left = NAMED.sub(take, rest).strip()
    free = [name for name in properties if name not in texts]
    needed = [name for name in free if name in schema.get("required", ())]
    places = needed or free[:1]
    if not left or not places:
        return texts, left
    for name in places[:-1]:
        word = WORD.match(left)
        if word is None:
            return texts, ""
        texts[name] = _unquoted(word[0])
        left = left[word.end() :].strip()
    if left:
        texts[places[-1]] = _unquoted(left)
    return texts, ""


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return text[1:-1] if is_quoted else text


def _value(schema: Mapping[str, Any], text: str) -> Any:
    """Return a text as the JSON that the schema asks for, if it is that."""
    kinds = _kinds(schema)
    if "string" in kinds or not kinds:
        return text
    if "boolean" in kinds and text.lower() in (*TRUE, *FALSE):
        return text.lower() in TRUE
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [one.strip() for one in text.split(",")] if "array" in kinds else text
    is_single = "array" in kinds and not isinstance(value, list)
    return [value] if is_single else value


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema allows, also those of its alternatives."""
    found = schema.get("type", ())
    kinds = {found} if isinstance(found, str) else set(found)
    for one in schema.get("anyOf", ()):
        kinds |= _kinds(one)
    return kinds - {"null"}


# --- a form for what is missing ---

INPUTS = {"integer": "number", "number": "number"}
FORMATS = {"date": "date", "date-time": "datetime-local", "time": "time"}


def _fields(
    schema: Mapping[str, Any], texts: Mapping[str, str], wrong: Iterable[str]
) -> list[ArgumentField]:
    return [
        ArgumentField(
            name=name,
            label=_label(name, own),
            kind=_kind(own),
            description=str(own.get("description", "")),
            value=texts.get(name, str(own.get("default") or "")),
            options=_options(own),
            is_required=name in schema.get("required", ()),
            problem=_("This value is not allowed here.") if name in wrong else "",
        )
        for name, own in schema["properties"].items()
    ]


def _label(name: str, schema: Mapping[str, Any]) -> str:
    return str(schema.get("title") or name.replace("_", " ").capitalize())


def _kind(schema: Mapping[str, Any]) -> str:
    if _options(schema):
        return "select"
    kinds = _kinds(schema)
    if kinds == {"string"}:
        return FORMATS.get(str(schema.get("format", "")), "text")
    return INPUTS.get(next(iter(kinds), ""), "text") if len(kinds) == 1 else "text"


def _options(schema: Mapping[str, Any]) -> tuple[str, ...]:
    if "boolean" in _kinds(schema):
        return ("true", "false")
    return tuple(str(one) for one in schema.get("enum", ()))
