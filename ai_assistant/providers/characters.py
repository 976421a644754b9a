"""Whole characters out of a stream that may cut them in two. Plain Python."""

from collections.abc import AsyncGenerator

from ai_assistant.providers.texts import Filters, filtered
from ai_assistant.tools.characters import Joiner, whole, whole_json
from ai_assistant.types import ModelChunk

WHOLE = Filters(growing=Joiner, words=whole, fields=whole_json)


def with_whole_characters(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`, each with text that can be stored and sent."""
    return filtered(stream, WHOLE)
