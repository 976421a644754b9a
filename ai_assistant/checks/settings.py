"""The names, types and values of AI_ASSISTANT."""

import re
from collections.abc import Iterator
from itertools import filterfalse
from re import _parser  # type: ignore[attr-defined] # nothing else shows how it repeats
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage

from ai_assistant import conf
from ai_assistant.checks.messages import problem
from ai_assistant.conf import Setting
from ai_assistant.web.panel.keyboard import key_signs

LEAST_KEY_CHARS = 32
MANY = 1000  # repeats that may be as many count as unlimited
FORM = "Give a regular expression such as r'CUST-[0-9]{6}'."


def check_redaction() -> list[CheckMessage]:
    """Return what is wrong with REDACT and the key of the audit log."""
    return [*_patterns(), *_key()]


def _patterns() -> Iterator[CheckMessage]:
    for pattern in conf.get("REDACT"):
        try:
            compiled = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield problem(
                "ai_assistant.E160",
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which is not a regular "
                f"expression: {error}.",
                FORM,
            )
            continue
        if compiled.match(""):
            yield problem(
                "ai_assistant.E161",
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which matches an empty "
                "string.",
                f"It would match everywhere. {FORM}",
            )
        elif _is_slow(_parser.parse(pattern)):
            yield problem(
                "ai_assistant.E162",
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which may be very slow.",
                "Begin with a fixed text, limit repeats ({1,100}), and do not nest "
                "them.",
            )


def _key() -> Iterator[CheckMessage]:
    key = conf.get("AUDIT", "KEY")
    if key and len(key) < LEAST_KEY_CHARS:
        yield problem(
            "ai_assistant.W163",
            f"{conf.typed('AUDIT', 'KEY')} has {len(key)} characters, fewer than "
            f"{LEAST_KEY_CHARS}.",
            "Take a random one: python -c 'import secrets; "
            "print(secrets.token_hex(32))'.",
        )


def _is_slow(parsed: Any, *, first: bool = True) -> bool:
    """Return whether an unlimited repeat is at the start, or inside another one."""
    for operation, arguments in parsed:
        for inner, repeats in _inside(str(operation), arguments):
            if repeats and (first or _repeats(inner)):
                return True
            if _is_slow(inner, first=first):
                return True
        first = False
    return False


def _repeats(parsed: Any) -> bool:
    """Return whether a parsed pattern contains an unbounded repetition."""
    return any(
        repeats or _repeats(inner)
        for operation, arguments in parsed
        for inner, repeats in _inside(str(operation), arguments)
    )


def _inside(operation: str, arguments: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the subpatterns of a parsed pattern, each with whether it repeats."""
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        _minimum, maximum, inner = arguments
        yield inner, int(maximum) >= MANY
    elif operation == "SUBPATTERN":
        yield arguments[-1], False
    elif operation == "BRANCH":
        for choice in arguments[1]:
            yield choice, False
    elif operation in ("ASSERT", "ASSERT_NOT"):
        yield arguments[1], False
    elif operation == "ATOMIC_GROUP":
        yield arguments, False


NAMES = "docs/settings.md lists every name with its type and default."
KINDS: tuple[tuple[type, str], ...] = (
    (bool, "True or False"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "a string"),
    (dict, "a dict"),
    (list, "a list of strings"),
)


def check_settings() -> Iterator[CheckMessage]:
    """Yield what is wrong with the AI_ASSISTANT setting itself."""
    configured = getattr(settings, "AI_ASSISTANT", {})
    if not isinstance(configured, dict):
        yield problem(
            "ai_assistant.E001",
            f"AI_ASSISTANT is a {type(configured).__name__}, not a dict.",
            'Write AI_ASSISTANT = {"ENABLED": True, ...}.',
        )
        return
    for fault_text, advice in conf.unknown_names(configured):
        yield problem("ai_assistant.E002", fault_text, f"{advice} {NAMES}")
    for path, value in conf.flat(configured):
        if setting := conf.setting_at(path):  # else its name is unknown
            yield from _wrong(path, value, setting)


def _wrong(
    path: tuple[str, ...], value: Any, setting: Setting
) -> Iterator[CheckMessage]:
    if not _has_right_type(setting, value):
        kinds = (words for kind, words in KINDS if isinstance(setting.default, kind))
        expected = setting.wanted or next(kinds)
        yield problem(
            "ai_assistant.E003",
            f"{conf.typed(*path)} is {value!r}, not {expected}.",
            f"Give {expected}, or leave it out. {NAMES}",
        )
    elif path == ("PANEL", "SHORTCUTS"):
        expected = "letters, digits or F keys with Ctrl or Alt, as 'Ctrl+Shift+A'"
        for shortcut in filterfalse(_is_shortcut, value):
            yield _wrong_value(path, shortcut, expected)
    elif expected := _right_values(setting, value):
        yield _wrong_value(path, value, expected)


def _has_right_type(setting: Setting, value: object) -> bool:
    kinds = (type(setting.default), *setting.also)
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(setting.default, list):
        is_list = isinstance(value, list | tuple)
        return is_list and all(isinstance(item, setting.items) for item in value)  # type: ignore[attr-defined]
    return isinstance(value, (*kinds, int) if float in kinds else kinds)


def _right_values(setting: Setting, value: object) -> str:
    """Return the allowed values if `value` is not one of them, else ""."""
    if setting.choices:
        allowed = f"one of {', '.join(map(repr, setting.choices))}"
        return "" if value in setting.choices else allowed
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    if setting.may_be_zero:
        return "" if value >= 0 else "0 or more"
    return "" if value > 0 else "more than 0"


def _is_shortcut(text: str) -> bool:
    try:
        key_signs([text])
    except ValueError:
        return False
    return True


def _wrong_value(path: tuple[str, ...], value: object, expected: str) -> CheckMessage:
    return problem(
        "ai_assistant.E004",
        f"{conf.typed(*path)} is {value!r}, not {expected}.",
        f"Give {expected}.",
    )
