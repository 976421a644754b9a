import asyncio
from contextlib import aclosing

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.retry import with_timeouts
from ai_assistant.types import TextDelta

LONG_S = 30.0
SOON_S = 0.02


class Stream:
    """Says `words`, then keeps silent; notes that it was closed."""

    def __init__(self, *words, ends=False):
        self.words = words
        self.ends = ends
        self.closed = False

    async def __call__(self):
        try:
            for word in self.words:
                yield TextDelta(text=word)
            if not self.ends:
                await asyncio.Event().wait()
        finally:
            self.closed = True


def limited(stream, *, first_byte_s=LONG_S, idle_s=LONG_S, total_s=LONG_S):
    return with_timeouts(
        stream(), first_byte_s=first_byte_s, idle_s=idle_s, total_s=total_s
    )


async def hear(stream, said):
    async for chunk in stream:
        said += [chunk.text]


class TestWithTimeouts:
    async def test_with_timeouts_passes_all_on(self):
        stream = Stream("a", "b", ends=True)

        assert [c.text async for c in limited(stream)] == ["a", "b"]
        assert stream.closed

    @pytest.mark.parametrize(
        ("words", "limits", "code", "retryable"),
        [
            ((), {"first_byte_s": SOON_S}, "first_byte_timeout", True),
            (("a",), {"idle_s": SOON_S}, "idle_timeout", False),
            (("a",), {"total_s": SOON_S}, "total_timeout", False),
            ((), {"total_s": SOON_S}, "total_timeout", False),
        ],
    )
    async def test_silence(self, words, limits, code, retryable):
        stream = Stream(*words)
        said = []

        with pytest.raises(ModelError) as caught:
            await hear(limited(stream, **limits), said)

        assert (caught.value.code, caught.value.retryable) == (code, retryable)
        assert said == list(words)
        assert stream.closed

    async def test_time_of_the_consumer_is_not_silence(self):
        said = []
        async for chunk in limited(Stream("a", "b", ends=True), idle_s=SOON_S):
            await asyncio.sleep(SOON_S * 3)
            said.append(chunk.text)

        assert said == ["a", "b"]

    async def test_leaving_closes_the_stream(self):
        stream = Stream("a")
        async with aclosing(limited(stream)) as chunks:
            await anext(chunks)

        assert stream.closed

    async def test_cancelling_closes_the_stream(self):
        stream = Stream()
        task = asyncio.ensure_future(anext(limited(stream)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

        assert task.cancelled()
        assert stream.closed

    async def test_a_stream_that_will_not_close_is_left(self, monkeypatch):
        monkeypatch.setattr("ai_assistant.providers.retry.GRACE_S", SOON_S)

        class Stubborn:
            def __aiter__(self):
                return self

            async def __anext__(self):
                raise StopAsyncIteration

            async def aclose(self):
                await asyncio.Event().wait()

        stream = limited(Stubborn)

        assert [chunk async for chunk in stream] == []
