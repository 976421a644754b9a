"""
A prompt command, from the line that a person sends to the text for the model.

A template has places such as `{{ arguments }}` and nothing else: what a person has
written as a command of their own is no code.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.configuration.command_arguments import (
    CommandArguments,
    called_with,
    read_arguments,
    schema_problem,
)
from ai_assistant.exceptions import CommandAnswered, Refused
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import CommandAnswer, PromptCommand, RunContext, SentCommand

LINE = re.compile(r"/([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)(?:\s+(.*))?\s*", re.DOTALL)
PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
NAMES_NEAR = 3


def named_in(text: str) -> tuple[str, str] | None:
    """Return the name of the command that a text begins with, and the rest, or None."""
    match = LINE.fullmatch(text.strip())
    return (match[1].lower(), (match[2] or "").strip()) if match else None


def sent_command(
    text: str,
    commands: Mapping[str, PromptCommand],
    context: RunContext,
    given: Mapping[str, str],
) -> SentCommand | None:
    """
    Return the command that a text is, with what it stands for; None if it is none.

    One that does not exist is sent as it was typed. Raise ArgumentsMissing if a form
    has to ask for more, CommandAnswered if there is nothing to send, and Refused if
    the command fails. Calls code of the site.
    """
    named = named_in(text)
    if named is None:
        return None
    name, rest = named
    command = commands.get(name)
    if command is None:
        near = get_close_matches(name, commands, n=NAMES_NEAR)
        return SentCommand(name=name, near=tuple(near))
    if problem := schema_problem(command):
        raise _failed(command, problem)
    arguments = read_arguments(command, rest, given)
    return SentCommand(
        name=name,
        prompt=expanded(command, arguments, context),
        arguments=arguments.said,
        label="site" if command.owner_id is None else "user",
    )


def expanded(
    command: PromptCommand, arguments: CommandArguments, context: RunContext
) -> str:
    """Return the text for the model. Raise CommandAnswered, or Refused if it fails."""
    if callable(command.text):
        said = _called(command, arguments, context)
        if isinstance(said, CommandAnswer):
            raise CommandAnswered(command.name, said)
        text = said if isinstance(said, str) else ""
    else:
        text = _filled(command, command.text, arguments)
    if not text.strip():
        raise _failed(command, _("It has made no text."))
    return f"{text}\n\n{arguments.rest}" if _is_over(command, arguments) else text


def _called(
    command: PromptCommand, arguments: CommandArguments, context: RunContext
) -> Any:
    function: Any = command.text
    values = {**arguments.values, **called_with(command, context)}
    failure = _failed(command, "")

    def call() -> Any:
        try:
            return function(**values)
        except Refused as refused:
            return refused

    said: Any = value_or(failure, call, "prompt command %r failed", command.name)
    if isinstance(said, Refused):
        raise said
    return said


def _filled(command: PromptCommand, text: str, arguments: CommandArguments) -> str:
    values = {"arguments": arguments.rest, **arguments.values}
    if "arguments" not in arguments.values and arguments.values:
        values["arguments"] = " ".join(
            filter(None, [*map(_as_text, arguments.values.values()), arguments.rest])
        )

    def put(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return _as_text(values[name])
        if name in arguments.names:
            return ""
        sentence = _(
            "Its text has the place “%(place)s”, for which it has no argument."
        )
        raise _failed(command, sentence % {"place": match[0]})

    return PLACE.sub(put, text)


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return "" if value is None else str(value)


def _is_over(command: PromptCommand, arguments: CommandArguments) -> bool:
    """Return whether words are left that have no place in the text."""
    has_place = isinstance(command.text, str) and "arguments" in PLACE.findall(
        command.text
    )
    return bool(arguments.rest) and not has_place


def _failed(command: PromptCommand, why: str) -> Refused:
    whose = (
        _("Correct it in your commands.")
        if command.owner_id is not None
        else _("Tell whoever runs this site.")
    )
    sentence = _("The command “/%(name)s” has failed, and nothing was sent.")
    told = sentence % {"name": command.name}
    return Refused("command_failed", " ".join(filter(None, [told, why, whose])))
