"""What a model sent as arguments, made into an object or a sentence."""

import hashlib
import json
import math
from typing import Any

from ai_assistant.exceptions import ModelRetry
from ai_assistant.text.unicode import whole_json

MAX_DEPTH = 32
MAX_ARGUMENTS_CHARS = 1_000_000  # of one call


def is_deep(value: Any) -> bool:
    """Tell whether lists and objects stand in each other deeper than is taken."""
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [below for one in level for below in _below(one)]
    return any(isinstance(one, dict | list) for one in level)


def _below(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def parse_arguments(name: str, text: str) -> dict[str, Any]:
    """
    Return the arguments as an object. Nothing at all counts as none.

    Raise ModelRetry if the text is no JSON object: it is never guessed at.
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
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_no_doubles,
        )
    except (ValueError, RecursionError) as error:
        raise ModelRetry(
            f"The arguments of {name!r} are not valid JSON ({error}). Send one "
            "JSON object."
        ) from error
    if not isinstance(value, dict):
        raise ModelRetry(
            f"The arguments of {name!r} are a JSON {type(value).__name__}. Send one "
            "JSON object."
        )
    if whole_json(value) != value:
        raise ModelRetry(
            f"The arguments of {name!r} hold NUL or half a character. Send whole "
            "characters."
        )
    return value


def arguments_digest(name: str, arguments: dict[str, Any]) -> str:
    """Return what an approval is bound to: the tool and its exact arguments."""
    canonical = json.dumps([name, arguments], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _no_constant(value: str) -> None:
    raise ValueError(f"{value} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} comes twice in one object")
    return found
