"""The loop of model and tools, in plain Python."""

import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ai_assistant.engine.loop.ports import (
    CallDraft,
    CallOutcome,
    Calls,
    Finished,
    Limits,
    LoopItem,
    LoopState,
    Model,
    Waiting,
)
from ai_assistant.events import (
    ReasoningContent,
    ReasoningEnd,
    ReasoningStart,
    StepFinished,
    StepStarted,
    TextContent,
    TextEnd,
    TextStart,
)
from ai_assistant.providers.stream import ReplyBuilder, with_whole_characters
from ai_assistant.types import (
    ModelChunk,
    ModelReply,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)

SHOWN_CHARS = 8000  # of the arguments; what is longer stands still until it is whole
SHOWN_CALLS = 25


@dataclass(slots=True)
class _Open:
    provider_id: str
    draft: CallDraft


class Drafts:
    """
    Gathers the pieces of the calls of one message.

    Only for showing: calls whose pieces are mixed up beyond its simple rule (the
    index, and a new id under the same one) look odd until the whole reply is there.
    """

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self._count = 0
        self._open: dict[int, _Open] = {}  # by the provider's index

    def add(self, delta: ToolCallDelta) -> list[CallDraft]:
        """Take a piece; return the draft if there is something new to show."""
        found = self._open.get(delta.index)
        if found is None or _is_another(found, delta):
            if self._count >= SHOWN_CALLS or not delta.name:
                return []
            found = self._open[delta.index] = self._begin(delta)
        elif not delta.arguments or len(found.draft.arguments) >= SHOWN_CHARS:
            return []
        text = found.draft.arguments + delta.arguments
        found.draft = replace(found.draft, arguments=text[:SHOWN_CHARS])
        return [found.draft]

    def _begin(self, delta: ToolCallDelta) -> _Open:
        draft = CallDraft(
            message_id=self.message_id,
            position=self._count,
            name=delta.name,
            arguments="",
        )
        self._count += 1
        return _Open(provider_id=delta.provider_id, draft=draft)


def _is_another(found: _Open, delta: ToolCallDelta) -> bool:
    return bool(
        delta.name and delta.provider_id and delta.provider_id != found.provider_id
    )


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


CUT = "length"  # the finish reason of a reply that was too long for the model
LENGTH = Finished(outcome="limited", limit="length")


def calls_nothing(reply: ModelReply) -> bool:
    """Return whether a reply asks for no call."""
    return not reply.calls


async def run_loop(
    model: Model,
    calls: Calls,
    state: LoopState,
    limits: Limits,
    *,
    is_answer: Callable[[ModelReply], bool] = calls_nothing,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[LoopItem, None]:
    """
    Yield what happens from `state` on, until Waiting or Finished.

    With the first reply that `is_answer` it is over; calls of that reply are the
    consumer's matter.

    The consumer stores each item before it asks for the next: a ModelReply is
    durable before any of its calls is executed, and the calls' results are
    durable before the model is asked again. Raise ModelError if the model fails.
    """
    started = clock() - state.running_s
    while not state.answered:
        if state.calls_open and state.call_count <= limits.calls:
            if not await _carry_out(calls, state):
                yield Waiting()
                return
            yield StepFinished(index=state.step_index - 1)
        if limit := _limit_reached(state, limits, clock() - started):
            yield limit
            return
        yield StepStarted(index=state.step_index)
        async with aclosing(stream_reply(model, state.step_index)) as items:
            async for item in items:
                if isinstance(item, ModelReply):
                    _take_note(state, item)
                    state.answered = is_answer(item)
                yield item
        state.step_index += 1
        state.calls_open = not state.answered
    yield StepFinished(index=state.step_index - 1)
    yield LENGTH if state.cut else Finished(outcome="succeeded")


def _take_note(state: LoopState, reply: ModelReply) -> None:
    state.call_count = len(reply.calls)
    state.cut = reply.finish_reason == CUT


async def _carry_out(calls: Calls, state: LoopState) -> bool:
    """Execute the calls of the last step; False if the run has to wait."""
    outcomes = await calls.run(state.step_index - 1)
    if outcomes is None:
        return False
    state.calls_open = False
    _count_failures(state, outcomes)
    return True


def _count_failures(state: LoopState, outcomes: list[CallOutcome]) -> None:
    for outcome in outcomes:
        if outcome.failed:
            count = state.failures.get(outcome.fingerprint, 0)
            state.failures[outcome.fingerprint] = count + 1
        else:
            state.failures.pop(outcome.fingerprint, None)


def _limit_reached(
    state: LoopState, limits: Limits, running_s: float
) -> Finished | None:
    if state.calls_open:  # and not executed, since there are too many
        return Finished(outcome="limited", limit="calls")
    if state.step_index >= limits.steps:
        return Finished(outcome="limited", limit="steps")
    if any(count >= limits.same_failures for count in state.failures.values()):
        return Finished(outcome="limited", limit="same_failures")
    if running_s > limits.running_s:
        return Finished(outcome="limited", limit="running_s")
    return None
