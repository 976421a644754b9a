"""Trying again, as long as nothing was said yet."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.timeouts import close
from ai_assistant.types import ModelChunk


async def with_retries(
    open_stream: Callable[[], AsyncIterator[ModelChunk]],
    *,
    retries: int,
    delay_s: float,
    max_delay_s: float,
) -> AsyncGenerator[ModelChunk, None]:
    """
    Yield the chunks of a stream, opened anew if it fails before its first chunk.

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
            await close(stream)
        attempt += 1
        await asyncio.sleep(wait_s)


def next_wait_s(error: ModelError, *, attempt: int, delay_s: float) -> float:
    """Return how long to wait after `error`; `attempt` counts from 0."""
    if error.retry_after_s is not None:
        return error.retry_after_s
    # Half of the delay is random: many runs that failed together part again.
    return delay_s * float(2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
