"""The tool with which the model reads the rest of a result that was cut."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.models.call import ToolCall
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.text.redaction.redact import redact
from ai_assistant.tools.result import READ_RESULT, result_chars, whole_text
from ai_assistant.types import JSON, RunContext, ToolResult

NOTE_CHARS = 200  # behind a piece, within what the model reads of a result
FROM = "from"  # no name that Python would take for an argument
SCHEMA: Mapping[str, Any] = {
    "properties": {
        "call": {"type": "string", "description": "as the note at its end says"},
        FROM: {"type": "integer", "minimum": 0, "description": "first character"},
    },
    "required": ["call", FROM],
}


def _summary(arguments: dict[str, JSON], _data: JSON) -> str:
    said = _("Read on from character %(n)s of a result")
    return said % {"n": arguments.get(FROM, 0)}


@tool(
    effect="read",
    name=READ_RESULT,
    label=gettext_lazy("Rest of a result"),
    shared=True,
    icon="search",
    schema=SCHEMA,
    summary=_summary,
)
def read_result(context: RunContext, call: str, **place: int) -> str:
    """Read the next piece of a result that was cut."""
    text = _whole(context, call)
    first = place[FROM]
    if first >= len(text):
        raise ModelRetry(f"This result has {len(text)} characters; nothing is left.")
    last = min(first + max(result_chars() - NOTE_CHARS, NOTE_CHARS), len(text))
    if last == len(text):
        return f"{text[first:]}\n[This was the end of the result.]"
    note = f"{first} to {last} of {len(text)} characters. Read on from {last}."
    return f"{text[first:last]}\n[{note}]"


def _whole(context: RunContext, key: str) -> str:
    """Return all that is kept of a result. Raise ModelRetry if it may not be read."""
    call = _call(context, key)
    own = registry.tool(call.name) if call is not None else None
    if call is None or not isinstance(call.result, dict):
        raise ModelRetry(
            f"No result of this conversation is named {key!r}. Take the name from the "
            "note at the end of the result that was cut."
        )
    if own is not None and not may_call(context.user, own):
        raise ModelRetry(f"The user may not call {call.name!r} any more.")
    # Once more: what counts as a secret may have changed since it was stored.
    return redact(whole_text(ToolResult(**call.result)))


def _call(context: RunContext, key: str) -> ToolCall | None:
    """Return a call of this conversation and user."""
    own = ToolCall.objects.filter(
        run__conversation_id=context.conversation_id,
        run__user_id=context.user.pk,
        parent=None,
    )
    try:
        return own.filter(pk=UUID(key)).first()
    except ValueError:
        return None
