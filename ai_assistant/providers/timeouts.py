"""Limits on the waiting for a model: first byte, idle, total."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack

from ai_assistant.exceptions import ModelError
from ai_assistant.types import ModelChunk

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
        stack.push_async_callback(close, stream)
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


async def close(stream: AsyncIterator[ModelChunk]) -> None:
    """Close `stream` if it can be closed, within a moment whatever it does."""
    aclose = getattr(stream, "aclose", None)
    if aclose is None:
        return
    try:
        async with asyncio.timeout(GRACE_S):
            await aclose()
    except TimeoutError:
        return
