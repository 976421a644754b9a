"""What a card shows of a call: the first of its arguments, of its result, its error."""

import json

from ai_assistant.types import ToolResult

SHOWN_CHARS = 2048


def pretty(value: object) -> str:
    """Return `value` as text or indented JSON, cut to what a card shows."""
    if value in (None, {}, ""):
        return ""
    if isinstance(value, str):
        return short(value)
    # Cut before it is set out: a result may be a megabyte.
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= SHOWN_CHARS:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    return short(text)


def short(text: str) -> str:
    """Return the first SHOWN_CHARS characters of `text`, marked if it has more."""
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} …"


def preview(result: ToolResult) -> str:
    """Return what the card shows of a result; nothing of one that failed."""
    return pretty(result.data) if result.ok else ""
