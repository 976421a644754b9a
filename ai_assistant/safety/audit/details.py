"""What an entry tells besides its names: redacted, cut, and the same in every database."""

import json
from collections.abc import Mapping
from typing import Any

from ai_assistant.safety.redaction import redact

TEXT_CHARS = 500
ITEMS = 50  # of a list or an object
DEPTH = 6
ALL_CHARS = 8000
REPLACEMENT = "\ufffd"


def storable_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `details` as they are stored.

    Numbers with a fraction become texts: PostgreSQL would spell some of them
    differently, and the hash would not be theirs any more.
    """
    plain = {str(name): _plain(value, DEPTH) for name, value in details.items()}
    if len(json.dumps(plain)) <= ALL_CHARS:
        return plain
    return {name: _short(value) for name, value in plain.items()}


def _plain(value: Any, depth: int) -> Any:  # noqa: ANN401 - any JSON
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping) and depth:
        few = list(value.items())[:ITEMS]
        return {_text(str(name)): _plain(item, depth - 1) for name, item in few}
    if isinstance(value, list | tuple | set | frozenset) and depth:
        return [_plain(item, depth - 1) for item in list(value)[:ITEMS]]
    return _text(str(value))


def _text(text: str) -> str:
    text = text.encode(errors="replace").decode().replace("\0", REPLACEMENT)
    text = redact(text)  # before it is cut: half a key would not be known as one
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]} [{len(text)} characters]"


def _short(value: Any) -> Any:  # noqa: ANN401
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= TEXT_CHARS:
        return value
    return f"{text[:TEXT_CHARS]} [{len(text)} characters]"
