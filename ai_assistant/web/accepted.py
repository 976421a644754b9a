"""Work that was accepted is done, also when the browser has left."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

# Work that outlives its request: the reference keeps it from being collected.
_accepted: set[asyncio.Task[Any]] = set()


async def to_the_end(work: Awaitable[T]) -> T:
    """Do what was accepted, also when its client has left; return what came of it."""
    task = asyncio.ensure_future(work)
    _accepted.add(task)
    task.add_done_callback(_accepted.discard)
    return await asyncio.shield(task)
