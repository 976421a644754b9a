"""The names, types and values of AI_ASSISTANT."""

import re
from collections.abc import Iterable, Iterator, Mapping
from re import _parser  # type: ignore[attr-defined] # nothing else tells how it repeats
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning
from django.utils.functional import Promise

from ai_assistant import conf
from ai_assistant.conf import DEFAULTS
from ai_assistant.web.panel.keyboard import key_signs

LEAST_KEY_CHARS = 32
MANY = 1000  # repeats that may be as many count as unlimited
FORM = "Give a regular expression such as r'CUST-[0-9]{6}'."


def check_redaction() -> list[CheckMessage]:
    """Return what is wrong with REDACT and AUDIT_KEY."""
    return [*_patterns(), *_key()]


def _patterns() -> Iterator[CheckMessage]:
    for pattern in conf.get("REDACT"):
        try:
            compiled = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield Error(
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which is no regular "
                f"expression: {error}.",
                hint=FORM,
                id="ai_assistant.E160",
            )
            continue
        if compiled.match(""):
            yield Error(
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which fits an empty text.",
                hint=f"It would be found everywhere. {FORM}",
                id="ai_assistant.E161",
            )
        elif _is_slow(_parser.parse(pattern)):
            yield Error(
                f"AI_ASSISTANT['REDACT'] has {pattern!r}, which may take very long.",
                hint="Begin with a fixed text, limit what repeats ({1,100}), and "
                "repeat nothing that repeats itself.",
                id="ai_assistant.E162",
            )


def _key() -> Iterator[CheckMessage]:
    key = conf.get("AUDIT_KEY")
    if key and len(key) < LEAST_KEY_CHARS:
        yield CheckWarning(
            f"AI_ASSISTANT['AUDIT_KEY'] has {len(key)} characters, fewer than "
            f"{LEAST_KEY_CHARS}.",
            hint="Take a random one: python -c 'import secrets; "
            "print(secrets.token_hex(32))'.",
            id="ai_assistant.W163",
        )


def _is_slow(parsed: Any, *, first: bool = True) -> bool:
    """Tell whether there is an unlimited repeat at the start, or inside of another."""
    for operation, arguments in parsed:
        for inner, repeats in _inside(str(operation), arguments):
            if repeats and (first or _repeats(inner)):
                return True
            if _is_slow(inner, first=first):
                return True
        first = False
    return False


def _repeats(parsed: Any) -> bool:
    """Tell whether anything in it repeats without limit."""
    return any(
        repeats or _repeats(inner)
        for operation, arguments in parsed
        for inner, repeats in _inside(str(operation), arguments)
    )


def _inside(operation: str, arguments: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the patterns inside of a part of one, each with whether it repeats."""
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        _least, most, inner = arguments
        yield inner, int(most) >= MANY
    elif operation == "SUBPATTERN":
        yield arguments[-1], False
    elif operation == "BRANCH":
        for choice in arguments[1]:
            yield choice, False
    elif operation in ("ASSERT", "ASSERT_NOT"):
        yield arguments[1], False
    elif operation == "ATOMIC_GROUP":
        yield arguments, False


CHOICES: Mapping[str, tuple[str, ...]] = {
    "EXECUTOR": ("web", "worker"),
    "BACKGROUND": ("auto", "celery", "threads"),
    "HTMX": ("auto", "vendored", "none"),
    "LAUNCHER": ("end", "start", "none"),
    "THEME": ("auto", "admin", "unfold", "jazzmin", "none"),
}
MAY_BE_NONE = (
    "WRITE_TIMEOUT_S",
    "QUESTION_TTL_S",
    "RETENTION_DAYS",
    "AUDIT_RETENTION_DAYS",
    "TOKEN_MAX_DAYS",
    "TOKEN_RETENTION_DAYS",
)
MAY_BE_ZERO = ("MODEL_RETRIES", "MODEL_RETRY_DELAY_S", "MAX_ATTEMPTS")
OF_DICTS = ("BUDGETS",)
# What else a setting may be, besides the type of its default.
ALSO: Mapping[str, type] = {"BANNER": str, "DISCLAIMER": Promise}
NAMES = "docs/settings.md lists every name with its type and default."


def check_settings() -> list[CheckMessage]:
    """Return what is wrong with the setting itself."""
    own = getattr(settings, "AI_ASSISTANT", {})
    if not isinstance(own, dict):
        return [
            Error(
                f"AI_ASSISTANT is a {type(own).__name__}, not a dict.",
                hint='Write AI_ASSISTANT = {"ENABLED": True, ...}.',
                id="ai_assistant.E001",
            )
        ]
    return [*_unknown(own), *_wrong_types(own), *_wrong_values(own)]


def _unknown(own: Mapping[str, Any]) -> Iterator[CheckMessage]:
    for name in sorted(set(own) - set(DEFAULTS), key=str):
        yield Error(
            f"AI_ASSISTANT has no setting {name!r}.",
            hint=f"Remove it, or correct its name. {NAMES}",
            id="ai_assistant.E002",
        )


def _wrong_types(own: Mapping[str, Any]) -> Iterator[CheckMessage]:
    for name, value in own.items():
        wanted = expected_type(name)
        if name in DEFAULTS and not _fits(name, value):
            yield Error(
                f"AI_ASSISTANT[{name!r}] is {value!r}, not {wanted}.",
                hint=f"Give {wanted}, or leave it out. {NAMES}",
                id="ai_assistant.E003",
            )


def expected_type(name: str) -> str:
    """Return what a setting must be, in words."""
    if name in MAY_BE_NONE:
        return "a number or None"
    if name in OF_DICTS:
        return "a list of dicts"
    if name == "BANNER":
        return "a dict or the dotted path of a callable"
    default = DEFAULTS.get(name)
    words: tuple[tuple[type, str], ...] = (
        (bool, "True or False"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a text"),
        (dict, "a dict"),
        (list, "a list of texts"),
    )
    return next((word for kind, word in words if isinstance(default, kind)), "known")


def _fits(name: str, value: object) -> bool:
    if value is None:
        return name in MAY_BE_NONE
    if isinstance(value, ALSO.get(name, ())):
        return True
    default = 0.0 if name in MAY_BE_NONE else DEFAULTS[name]
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, list):
        kind = dict if name in OF_DICTS else str
        listed = isinstance(value, list | tuple)
        return listed and all(isinstance(item, kind) for item in value)  # type: ignore[attr-defined]
    return isinstance(value, type(default))


def _wrong_values(own: Mapping[str, Any]) -> Iterator[CheckMessage]:
    for name, value in own.items():
        if name not in DEFAULTS or not _fits(name, value):
            continue
        if name in CHOICES and value not in CHOICES[name]:
            allowed = ", ".join(map(repr, CHOICES[name]))
            yield _wrong(name, value, f"one of {allowed}")
        elif name == "SHORTCUTS":
            yield from _wrong_shortcuts(value)
        elif _is_number(value) and value < 0 and name in MAY_BE_ZERO:
            yield _wrong(name, value, "0 or more")
        elif _is_number(value) and value <= 0 and name not in MAY_BE_ZERO:
            yield _wrong(name, value, "more than 0")


def _wrong_shortcuts(shortcuts: Iterable[str]) -> Iterator[CheckMessage]:
    for shortcut in shortcuts:
        try:
            key_signs([shortcut])
        except ValueError:
            wanted = "letters, digits or F keys with Ctrl or Alt, as 'Ctrl+Shift+A'"
            yield _wrong("SHORTCUTS", shortcut, wanted)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wrong(name: str, value: object, wanted: str) -> Error:
    return Error(
        f"AI_ASSISTANT[{name!r}] is {value!r}, not {wanted}.",
        hint=f"Give {wanted}.",
        id="ai_assistant.E004",
    )
