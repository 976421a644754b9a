"""The texts of one reply: whole characters, each text through its own filter."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ai_assistant.text.unicode import SurrogateJoiner, join_surrogates, whole_json
from ai_assistant.types import (
    ModelChunk,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
)


class TextFilter(Protocol):
    """Goes over one text, piece by piece."""

    def add(self, text: str) -> str:
        """Return what can be told now of all that has come."""
        ...

    def end(self) -> str:
        """Return what was kept back; nothing more follows."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """What goes over a reply: its growing texts, and what comes in one piece."""

    growing: Callable[[], TextFilter]  # a new one for each text
    words: Callable[[str], str]
    fields: Callable[[dict[str, Any]], Any]  # of the provider, JSON


async def filter_stream(
    stream: AsyncGenerator[ModelChunk, None], filters: Filters
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream` as `filters` leave them."""
    reply = _Reply(filters)
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            for told in reply.chunks(chunk):
                yield told


class _Reply:
    """The texts of one reply, each with what is kept back of it."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.text = filters.growing()
        self.reasoning = filters.growing()
        self.arguments: defaultdict[int, TextFilter] = defaultdict(filters.growing)

    def chunks(self, chunk: ModelChunk) -> list[ModelChunk]:
        match chunk:
            case TextDelta():
                said = TextDelta(text=self.text.add(chunk.text))
                return [*self._tail_of_reasoning(), said]
            case ReasoningDelta():
                return [ReasoningDelta(text=self.reasoning.add(chunk.text))]
            case ToolCallDelta():
                return [*self._tail_of_text(), self._call(chunk)]
            case ReplyEnd():
                return [*self._tails(), self._end(chunk)]

    def _call(self, chunk: ToolCallDelta) -> ToolCallDelta:
        return replace(
            chunk,
            provider_id=self.filters.words(chunk.provider_id),
            name=self.filters.words(chunk.name),
            arguments=self.arguments[chunk.index].add(chunk.arguments),
            provider_fields=self.filters.fields(dict(chunk.provider_fields)),
        )

    def _end(self, chunk: ReplyEnd) -> ReplyEnd:
        return replace(
            chunk,
            finish_reason=self.filters.words(chunk.finish_reason),
            provider_fields=self.filters.fields(dict(chunk.provider_fields)),
        )

    def _tail_of_reasoning(self) -> list[ModelChunk]:
        tail = self.reasoning.end()
        return [ReasoningDelta(text=tail)] if tail else []

    def _tail_of_text(self) -> list[ModelChunk]:
        tail = self.text.end()
        return [TextDelta(text=tail)] if tail else []

    def _tails(self) -> list[ModelChunk]:
        tails = [*self._tail_of_reasoning(), *self._tail_of_text()]
        for index, arguments in self.arguments.items():
            if tail := arguments.end():
                tails.append(ToolCallDelta(index=index, arguments=tail))
        return tails


WHOLE = Filters(growing=SurrogateJoiner, words=join_surrogates, fields=whole_json)


def with_whole_characters(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`, each with text that can be stored and sent."""
    return filter_stream(stream, WHOLE)
