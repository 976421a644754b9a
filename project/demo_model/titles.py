"""A title for a conversation: no rule knows better words than those of the person."""

from collections.abc import Mapping, Sequence
from typing import Any

from ai_assistant.engine.accounting.titles import (
    ANSWER,
    QUESTION,
    TITLE_CHARS,
    TITLE_PROMPT,
)


def title_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the first words of the question, if a title is asked for; else nothing."""
    if not messages or messages[0].get("content") != TITLE_PROMPT:
        return ""
    said = str(messages[-1].get("content", "")).removeprefix(QUESTION)
    question = said.rpartition(ANSWER)[0] or said
    title = ""
    for word in question.split():
        if len(title) + len(word) >= TITLE_CHARS:
            break
        title = f"{title} {word}".strip()
    return title or "".join(question.split())[:TITLE_CHARS] or "Conversation"
