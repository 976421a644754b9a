"""
When a model call is retried, and how long it may take.

Plain Python: the loop uses it without Django.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack

from ai_assistant.exceptions import ModelError
from ai_assistant.types import ModelChunk


async def with_retries(
    open_stream: Callable[[], AsyncIterator[ModelChunk]],
    *,
    retries: int,
    delay_s: float,
    max_delay_s: float,
) -> AsyncGenerator[ModelChunk, None]:
    """
    Yield the chunks of a stream, reopened if it fails before its first chunk.

    At most `retries` times, and only for errors that are marked `retryable`. The
    wait doubles each time, is spread at random, and is what the provider asked
    for if it did; a wait above `max_delay_s` is not waited: the error is raised.
    """
    attempt = 0
    while True:
        stream = open_stream()
        spoke = False
        try:
            async for chunk in stream:
                spoke = True
                yield chunk
        except ModelError as error:
            wait_s = next_wait_s(error, attempt=attempt, delay_s=delay_s)
            if spoke or not error.retryable or attempt >= retries:
                raise
            if wait_s > max_delay_s:
                raise
        else:
            return
        finally:
            await close_stream(stream)
        attempt += 1
        await asyncio.sleep(wait_s)


def next_wait_s(error: ModelError, *, attempt: int, delay_s: float) -> float:
    """Return how long to wait after `error`; `attempt` counts from 0."""
    if error.retry_after_s is not None:
        return error.retry_after_s
    # Half of the delay is random: many runs that failed together part again.
    return delay_s * float(2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


GRACE_S = 1.0  # for a stream to close itself; then it is left alone


async def with_timeouts(
    stream: AsyncIterator[ModelChunk],
    *,
    first_byte_s: float,
    idle_s: float,
    total_s: float,
) -> AsyncGenerator[ModelChunk, None]:
    """
    Yield the chunks of `stream`, and close it if it keeps silent for too long.

    Raise ModelError `first_byte_timeout`, `idle_timeout` or `total_timeout`. The
    time that the consumer takes counts for the total only.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + total_s
    limit, code = first_byte_s, "first_byte_timeout"
    async with AsyncExitStack() as stack:
        stack.push_async_callback(close_stream, stream)
        while True:
            deadline = min(loop.time() + limit, end)
            try:
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                if deadline == end:
                    code, limit = "total_timeout", total_s
                raise ModelError(
                    code,
                    f"silent for {limit:g} s",
                    retryable=code == "first_byte_timeout",
                ) from error
            yield chunk
            limit, code = idle_s, "idle_timeout"


async def close_stream(stream: AsyncIterator[ModelChunk]) -> None:
    """Close `stream` if it can be closed, within a moment whatever it does."""
    aclose = getattr(stream, "aclose", None)
    if aclose is None:
        return
    try:
        async with asyncio.timeout(GRACE_S):
            await aclose()
    except TimeoutError:
        return
