"""What of a client's input is new. It sends the whole history each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui.core import TextPart, ToolMessage, UserMessage
from django.db.models import Q

from ai_assistant.models.conversation import Conversation
from ai_assistant.web.agui.conversations import own_id
from ai_assistant.web.agui.reading import check_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """
    What a person says anew.

    `is_repeat` means that the last message is of the user and known already.
    """

    text: str = ""
    message_id: str = ""
    is_repeat: bool = False


def said_anew(messages: Sequence[Any], conversation: Conversation | None) -> Said:
    """
    Return the user's messages at the end of the input that are not stored yet.

    All before the last answer is history, and the server has its own of that.
    Several in a row become one, with the id of the last.
    """
    tail = list(_tail(messages))
    for one in tail:
        check_name("id", one.id)
    known = _known_ids(conversation, [one.id for one in tail])
    new = [one for one in tail if one.id not in known]
    if not new:
        return Said(is_repeat=bool(tail))
    return Said(text="\n\n".join(map(text_of, new)), message_id=new[-1].id)


def results_by_call(messages: Sequence[Any]) -> dict[str, ToolMessage]:
    """Return the results that the input holds, by the id of their call."""
    return {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}


def text_of(message: UserMessage | ToolMessage) -> str:
    """Return the text of a message; what is no text is passed over."""
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    return "\n\n".join(texts)


def _tail(messages: Sequence[Any]) -> Iterator[UserMessage]:
    found: list[UserMessage] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if isinstance(message, UserMessage):
            found.append(message)
    yield from reversed(found)


def _known_ids(conversation: Conversation | None, ids: list[str]) -> set[str]:
    if conversation is None:
        return set()
    own = [found for one in ids if (found := own_id(one)) is not None]
    rows = conversation.messages.filter(Q(client_id__in=ids) | Q(pk__in=own))
    return {name for row in rows for name in (row.client_id, str(row.pk)) if name}
