"""
The chunks of one reply on their way: filters of its texts, and the whole reply.

Plain Python: the loop uses it without Django.
"""

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ai_assistant.exceptions import ModelError
from ai_assistant.text.unicode import SurrogateJoiner, join_surrogates, whole_json
from ai_assistant.types import (
    ModelChunk,
    ModelReply,
    ReasoningDelta,
    ReplyEnd,
    RequestedCall,
    TextDelta,
    ToolCallDelta,
)

# --- filters of its texts ---


class TextFilter(Protocol):
    """Goes over one text, piece by piece."""

    def add(self, text: str) -> str:
        """Return what can be passed on now of all that has come."""
        ...

    def end(self) -> str:
        """Return what was kept back; nothing more follows."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Filters of a reply: for its growing texts, and for what comes in one piece."""

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


# --- the whole reply ---


@dataclass(slots=True)
class _Call:
    index: int
    provider_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    provider_fields: dict[str, Any] = field(default_factory=dict)

    def is_another(self, delta: ToolCallDelta) -> bool:
        """
        Return whether `delta` begins a new call under the index of this one.

        Some providers give every call the index 0 and distinguish them by id.
        """
        return bool(
            delta.name
            and self.name
            and delta.provider_id
            and self.provider_id
            and delta.provider_id != self.provider_id
        )

    def add(self, delta: ToolCallDelta) -> None:
        self.provider_id = self.provider_id or delta.provider_id
        # Some providers repeat the whole name in each piece.
        if delta.name != self.name:
            self.name += delta.name
        if delta.arguments:
            self.arguments.append(delta.arguments)
        self.provider_fields.update(delta.provider_fields)


class ReplyBuilder:
    """
    Takes the chunks of one reply in order, and gives the reply.

    `add` every chunk, then ask for the `reply`. Calls are told apart by index and
    may come in any interleaving; ids are kept as they came, also missing or
    doubled ones.
    """

    def __init__(self, message_id: str = "") -> None:
        self.message_id = message_id
        self.end: ReplyEnd | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}  # by index
        self._reasoned: tuple[float, float] | None = None  # first and last moment

    def add(self, chunk: ModelChunk) -> None:
        """Take the next chunk."""
        match chunk:
            case TextDelta():
                self._text.append(chunk.text)
            case ReasoningDelta():
                now = time.monotonic()
                first = self._reasoned[0] if self._reasoned else now
                self._reasoned = first, now
                self._reasoning.append(chunk.text)
            case ToolCallDelta():
                self._add_call(chunk)
            case ReplyEnd():
                self.end = chunk

    def _add_call(self, delta: ToolCallDelta) -> None:
        call = self._latest.get(delta.index)
        if call is None or call.is_another(delta):
            call = self._latest[delta.index] = _Call(delta.index)
            self._calls.append(call)
        call.add(delta)

    def reply(self, *, reasoning_s: float | None = None) -> ModelReply:
        """
        Return the whole reply.

        `reasoning_s` is taken from the clock unless given. Raise ModelError `cut`
        if the reply has no end, `empty` if it says nothing, `content_refused` if
        that is the provider's filter.
        """
        if self.end is None:
            raise ModelError("cut", "no finish reason")
        text = "".join(self._text)
        if not text.strip() and not self._calls:
            filtered = self.end.finish_reason == "content_filter"
            raise ModelError("content_refused" if filtered else "empty")
        if reasoning_s is None:
            first, last = self._reasoned or (0.0, 0.0)
            reasoning_s = last - first
        return ModelReply(
            message_id=self.message_id,
            text=text,
            reasoning="".join(self._reasoning),
            calls=self._requested(),
            finish_reason=self.end.finish_reason,
            usage=self.end.usage,
            provider_fields=self.end.provider_fields,
            reasoning_s=reasoning_s,
        )

    def _requested(self) -> tuple[RequestedCall, ...]:
        calls = sorted(self._calls, key=lambda call: call.index)  # stable
        return tuple(
            RequestedCall(
                position=position,
                provider_id=call.provider_id,
                name=call.name,
                arguments_text="".join(call.arguments),
                provider_fields=call.provider_fields,
            )
            for position, call in enumerate(calls)
        )
