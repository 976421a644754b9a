"""One model call: chunks in, events out, the whole reply last."""

import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from ai_assistant.engine.loop.drafts import Drafts
from ai_assistant.engine.loop.ports import Model
from ai_assistant.engine.loop.state import LoopItem
from ai_assistant.events import (
    ReasoningContent,
    ReasoningEnd,
    ReasoningStart,
    TextContent,
    TextEnd,
    TextStart,
)
from ai_assistant.providers.assemble import ReplyBuilder
from ai_assistant.providers.characters import with_whole_characters
from ai_assistant.types import ModelChunk, ReasoningDelta, TextDelta, ToolCallDelta


async def stream_reply(model: Model, step_index: int) -> AsyncGenerator[LoopItem, None]:
    """
    Yield the text of one reply as it comes, and then the whole ModelReply.

    Raise ModelError if the model fails, with what came before already yielded.
    """
    message_id = str(uuid.uuid4())
    builder = ReplyBuilder(message_id)
    parts, drafts = _Parts(message_id), Drafts(message_id)
    stream = with_whole_characters(model.stream(step_index))
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            builder.add(chunk)
            for item in _items(chunk, parts, drafts):
                yield item
    for item in parts.close():
        yield item
    yield builder.reply(reasoning_s=parts.reasoning_s)


def _items(chunk: ModelChunk, parts: "_Parts", drafts: Drafts) -> Sequence[LoopItem]:
    match chunk:
        case TextDelta(text=text) if text:
            return parts.text(text)
        case ReasoningDelta(text=text) if text:
            return parts.reasoning(text)
        case ToolCallDelta():
            return drafts.add(chunk)
        case _:
            return []


class _Parts:
    """Opens and closes the text and the reasoning of one message."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.text_length = 0
        self.reasoning_length = 0
        self.reasoning_open = False
        self.reasoning_since = 0.0
        self.reasoning_s = 0.0

    def text(self, delta: str) -> list[LoopItem]:
        items = self._close_reasoning()
        if not self.text_length:
            items.append(TextStart(message_id=self.message_id))
        items.append(
            TextContent(
                message_id=self.message_id, offset=self.text_length, delta=delta
            )
        )
        self.text_length += len(delta)
        return items

    def reasoning(self, delta: str) -> list[LoopItem]:
        items: list[LoopItem] = []
        if not self.reasoning_open and not self.reasoning_length:
            items.append(ReasoningStart(message_id=self.message_id))
        if not self.reasoning_open:
            self.reasoning_open = True
            self.reasoning_since = time.monotonic()
        items.append(
            ReasoningContent(
                message_id=self.message_id, offset=self.reasoning_length, delta=delta
            )
        )
        self.reasoning_length += len(delta)
        return items

    def close(self) -> list[LoopItem]:
        items = self._close_reasoning()
        if self.text_length:
            items.append(TextEnd(message_id=self.message_id))
        return items

    def _close_reasoning(self) -> list[LoopItem]:
        if not self.reasoning_open:
            return []
        self.reasoning_open = False
        self.reasoning_s += time.monotonic() - self.reasoning_since
        return [ReasoningEnd(message_id=self.message_id)]
