import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ai_assistant.engine.loop.ports import CallOutcome, Calls, Model
from ai_assistant.engine.loop.reply import stream_reply
from ai_assistant.engine.loop.state import (
    Finished,
    Limits,
    LoopItem,
    LoopState,
    Waiting,
)
from ai_assistant.events import StepFinished, StepStarted
from ai_assistant.types import ModelReply

CUT = "length"  # the finish reason of a reply that was too long for the model
LENGTH = Finished(outcome="limited", limit="length")


async def run_loop(
    model: Model,
    calls: Calls,
    state: LoopState,
    limits: Limits,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[LoopItem, None]:
    """
    Yield what happens from `state` on, until Waiting or Finished.

    The consumer stores each item before it asks for the next: a ModelReply is
    durable before any of its calls is carried out, and the calls' results are
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
                _take_note(state, item)
                yield item
        state.step_index += 1
        state.calls_open = state.call_count > 0
        state.answered = not state.calls_open
    yield StepFinished(index=state.step_index - 1)
    yield LENGTH if state.cut else Finished(outcome="succeeded")


def _take_note(state: LoopState, item: LoopItem) -> None:
    if isinstance(item, ModelReply):
        state.call_count = len(item.calls)
        state.cut = item.finish_reason == CUT


async def _carry_out(calls: Calls, state: LoopState) -> bool:
    """Carry out the calls of the last step; False if the run has to wait."""
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
    if state.calls_open:  # and not carried out, since there are too many
        return Finished(outcome="limited", limit="calls")
    if state.step_index >= limits.steps:
        return Finished(outcome="limited", limit="steps")
    if any(count >= limits.same_failures for count in state.failures.values()):
        return Finished(outcome="limited", limit="same_failures")
    if running_s > limits.running_s:
        return Finished(outcome="limited", limit="running_s")
    return None
