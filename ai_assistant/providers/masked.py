"""A model's reply without the site's own secrets, wherever a chunk cuts them."""

from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ai_assistant.safety.redaction import Mask, redact_values, redact_values_json
from ai_assistant.types import (
    ModelChunk,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
)


async def with_masked_secrets(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`; a server that tells our key back is not heard."""
    reply = _Reply()
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            for told in reply.chunks(chunk):
                yield told


class _Reply:
    """The texts of one reply, each with what is kept back of it."""

    def __init__(self) -> None:
        self.text = Mask()
        self.reasoning = Mask()
        self.arguments: defaultdict[int, Mask] = defaultdict(Mask)  # by index

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
            name=redact_values(chunk.name),
            arguments=self.arguments[chunk.index].add(chunk.arguments),
            provider_fields=redact_values_json(dict(chunk.provider_fields)),
        )

    def _end(self, chunk: ReplyEnd) -> ReplyEnd:
        fields = redact_values_json(dict(chunk.provider_fields))
        return replace(chunk, provider_fields=fields)

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
