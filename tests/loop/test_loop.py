"""The loop goes from step to step, waits, and ends where it must."""

import asyncio
from contextlib import aclosing

import pytest

from ai_assistant.engine.loop import Finished, Limits, LoopState, Waiting, run_loop
from ai_assistant.events import StepFinished, StepStarted, TextContent, TextStart
from ai_assistant.exceptions import ModelError
from ai_assistant.testing import FunctionProvider, ScriptedProvider, call, reply
from ai_assistant.types import ModelReply, ReplyEnd, TextDelta
from tests.loop.conftest import DONE, FAILED, LIMITS, ModelInMemory


def shape(items):
    """Return the items that are no text, in short."""
    return [
        item
        for item in items
        if isinstance(item, StepStarted | StepFinished | Waiting | Finished)
    ]


class TestAnswer:
    async def test_one_step(self, collect):
        items = await collect("Hello.")

        assert shape(items) == [
            StepStarted(index=0),
            StepFinished(index=0),
            Finished(outcome="succeeded"),
        ]

    async def test_answer_that_was_too_long_for_the_model_is_not_whole(self, collect):
        items = await collect(
            [TextDelta(text="Half"), ReplyEnd(finish_reason="length")]
        )

        assert items[-1] == Finished(outcome="limited", limit="length")

    async def test_reply_is_durable_before_the_end(self, collect):
        items = await collect("Hello.")

        (place,) = [i for i, item in enumerate(items) if isinstance(item, ModelReply)]
        assert items[place].text == "Hello."
        assert items[place + 1 :] == [
            StepFinished(index=0),
            Finished(outcome="succeeded"),
        ]


@pytest.mark.row("H18")
class TestCalls:
    async def test_calls_asks_again_after_the_calls(self, collect, calls):
        calls.outcomes = [[DONE], [DONE, DONE]]

        items = await collect(
            reply("", call("a")), reply("", call("b"), call("c")), "Done."
        )

        assert calls.steps == [0, 1]
        assert shape(items) == [
            StepStarted(index=0),
            StepFinished(index=0),
            StepStarted(index=1),
            StepFinished(index=1),
            StepStarted(index=2),
            StepFinished(index=2),
            Finished(outcome="succeeded"),
        ]

    async def test_calls_waits(self, collect, calls):
        calls.outcomes = [None]
        state = LoopState()

        items = await collect(reply("", call("a")), state=state)

        assert shape(items) == [StepStarted(index=0), Waiting()]
        assert state.step_index == 1
        assert state.calls_open


class TestResume:
    async def test_resume_goes_on_with_open_calls(self, collect, calls):
        calls.outcomes = [[DONE]]
        state = LoopState(step_index=2, calls_open=True, call_count=1)

        items = await collect("Done.", state=state)

        assert calls.steps == [1]
        assert shape(items) == [
            StepFinished(index=1),
            StepStarted(index=2),
            StepFinished(index=2),
            Finished(outcome="succeeded"),
        ]

    async def test_resume_asks_no_model_while_a_call_waits(self, collect, calls):
        calls.outcomes = [None]

        items = await collect(
            state=LoopState(step_index=1, calls_open=True, call_count=1)
        )

        assert items == [Waiting()]

    async def test_resume_carries_out_no_calls_above_the_limit(self, collect, calls):
        state = LoopState(step_index=1, calls_open=True, call_count=26)

        items = await collect(state=state)

        assert calls.steps == []
        assert items == [Finished(outcome="limited", limit="calls")]


@pytest.mark.row("U01")
class TestLimits:
    async def test_steps(self, collect, calls):
        calls.outcomes = [[DONE]] * 10
        model = [reply("", call("a"))] * 11

        items = await collect(*model)

        assert len(calls.steps) == 10
        assert items[-1] == Finished(outcome="limited", limit="steps")

    async def test_limits_calls_of_one_step(self, collect, calls):
        items = await collect(reply("", *[call("a")] * 26))

        assert calls.steps == []
        assert items[-1] == Finished(outcome="limited", limit="calls")

    async def test_limits_as_many_calls_as_allowed(self, collect, calls):
        calls.outcomes = [[DONE] * 25]

        items = await collect(reply("", *[call("a")] * 25), "Done.")

        assert items[-1] == Finished(outcome="succeeded")

    async def test_same_failures(self, collect, calls):
        calls.outcomes = [[FAILED]] * 3

        items = await collect(*[reply("", call("a"))] * 3)

        assert items[-1] == Finished(outcome="limited", limit="same_failures")

    async def test_a_success_forgets_the_failures(self, collect, calls):
        succeeded = type(FAILED)(fingerprint=FAILED.fingerprint, failed=False)
        calls.outcomes = [[FAILED], [FAILED], [succeeded], [FAILED]]

        items = await collect(*[reply("", call("a"))] * 4, "Done.")

        assert items[-1] == Finished(outcome="succeeded")

    async def test_failures_before_a_crash_count(self, collect, calls):
        calls.outcomes = [[FAILED]]
        state = LoopState(
            step_index=3, calls_open=True, call_count=1, failures={"same": 2}
        )

        items = await collect(state=state)

        assert items[-1] == Finished(outcome="limited", limit="same_failures")

    async def test_running_time(self, collect, calls):
        calls.outcomes = [[DONE]]
        times = iter([0.0, 1.0, 1801.0])

        items = await collect(reply("", call("a")), clock=lambda: next(times))

        assert items[-1] == Finished(outcome="limited", limit="running_s")

    async def test_running_time_of_earlier_stretches(self, collect):
        state = LoopState(running_s=1799.0)
        times = iter([0.0, 2.0])

        items = await collect(state=state, clock=lambda: next(times))

        assert items == [Finished(outcome="limited", limit="running_s")]

    async def test_a_lower_limit(self, collect):
        limits = Limits(steps=0, calls=1, same_failures=1, running_s=1.0)

        assert await collect(limits=limits) == [
            Finished(outcome="limited", limit="steps")
        ]


class TestModelError:
    async def test_model_error_keeps_what_was_yielded(self, calls):
        model = ModelInMemory(ScriptedProvider([["Hel", "lo", ModelError("cut")]]))
        items = []

        with pytest.raises(ModelError, match="cut"):
            async for item in run_loop(model, calls, LoopState(), LIMITS):
                items.append(item)

        assert "".join(i.delta for i in items if isinstance(i, TextContent)) == "Hello"
        assert not any(isinstance(item, ModelReply) for item in items)

    async def test_model_error_counts_no_step(self, calls):
        state = LoopState()
        model = ModelInMemory(ScriptedProvider([ModelError("bad_key")]))

        with pytest.raises(ModelError, match="bad_key"):
            async for _ in run_loop(model, calls, state, LIMITS):
                pass

        assert state.step_index == 0


class TestClosing:
    async def test_closing_closes_the_provider(self, calls):
        closed = asyncio.Event()

        async def endless(_request):
            try:
                while True:
                    yield TextDelta(text="more ")
            finally:
                closed.set()

        model = ModelInMemory(FunctionProvider(endless))
        async with aclosing(run_loop(model, calls, LoopState(), LIMITS)) as items:
            async for item in items:
                if isinstance(item, TextStart):
                    break

        assert closed.is_set()
