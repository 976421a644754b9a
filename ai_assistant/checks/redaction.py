"""The patterns of secrets that a site adds, and the key of its audit log."""

import re
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined] # nothing else tells how it repeats
from typing import Any

from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning

from ai_assistant import conf

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


def _is_slow(parsed: Any, *, first: bool = True) -> bool:  # noqa: ANN401 - the parser's own
    """Tell whether there is an unlimited repeat at the start, or inside of another."""
    for operation, arguments in parsed:
        for inner, repeats in _inside(str(operation), arguments):
            if repeats and (first or _repeats(inner)):
                return True
            if _is_slow(inner, first=first):
                return True
        first = False
    return False


def _repeats(parsed: Any) -> bool:  # noqa: ANN401
    """Tell whether anything in it repeats without limit."""
    return any(
        repeats or _repeats(inner)
        for operation, arguments in parsed
        for inner, repeats in _inside(str(operation), arguments)
    )


def _inside(operation: str, arguments: Any) -> Iterator[tuple[Any, bool]]:  # noqa: ANN401
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
