"""Whole characters out of a stream that may cut them in two. Plain Python."""

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ai_assistant.tools.characters import Joiner, whole, whole_json
from ai_assistant.types import (
    ModelChunk,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
)


async def with_whole_characters(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`, each with text that can be stored and sent."""
    text = _Text()
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            for told in text.chunks(chunk):
                yield told


class _Text:
    """The texts of one reply, each with the half that it may have kept back."""

    def __init__(self) -> None:
        self.text = Joiner()
        self.reasoning = Joiner()
        self.arguments: defaultdict[int, Joiner] = defaultdict(Joiner)  # by index

    def chunks(self, chunk: ModelChunk) -> list[ModelChunk]:
        match chunk:
            case TextDelta():
                said = TextDelta(text=self.text.add(chunk.text))
                return [*self._tail_of_reasoning(), said]
            case ReasoningDelta():
                return [ReasoningDelta(text=self.reasoning.add(chunk.text))]
            case ToolCallDelta():
                return [self._call(chunk)]
            case ReplyEnd():
                return [*self._tails(), self._end(chunk)]

    def _call(self, chunk: ToolCallDelta) -> ToolCallDelta:
        return replace(
            chunk,
            provider_id=whole(chunk.provider_id),
            name=whole(chunk.name),
            arguments=self.arguments[chunk.index].add(chunk.arguments),
            provider_fields=whole_json(dict(chunk.provider_fields)),
        )

    def _end(self, chunk: ReplyEnd) -> ReplyEnd:
        return replace(
            chunk,
            finish_reason=whole(chunk.finish_reason),
            provider_fields=whole_json(dict(chunk.provider_fields)),
        )

    def _tail_of_reasoning(self) -> list[ModelChunk]:
        tail = self.reasoning.end()
        return [ReasoningDelta(text=tail)] if tail else []

    def _tails(self) -> list[ModelChunk]:
        tails = self._tail_of_reasoning()
        if tail := self.text.end():
            tails.append(TextDelta(text=tail))
        for index, arguments in self.arguments.items():
            if tail := arguments.end():
                tails.append(ToolCallDelta(index=index, arguments=tail))
        return tails
