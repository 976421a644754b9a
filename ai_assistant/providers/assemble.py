"""
Puts the chunks of one reply together.

Plain Python: the loop uses it without Django.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.exceptions import ModelError
from ai_assistant.types import (
    ModelChunk,
    ModelReply,
    ReasoningDelta,
    ReplyEnd,
    RequestedCall,
    TextDelta,
    ToolCallDelta,
)


@dataclass(slots=True)
class _Call:
    index: int
    provider_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    provider_fields: dict[str, Any] = field(default_factory=dict)

    def is_another(self, delta: ToolCallDelta) -> bool:
        """
        Tell whether `delta` begins a new call under the index of this one.

        Some providers give every call the index 0 and tell them apart by id.
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
