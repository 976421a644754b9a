"""From a view's thread to the loop of the server, and not back before it is done."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from asgiref.sync import async_to_sync

T = TypeVar("T")

# Work that outlives its request: the reference keeps it from being collected.
_accepted: set[asyncio.Task[Any]] = set()


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """
    Do `work` on the loop of the server, and return what it returns.

    What has begun is done to its end, also when the client has gone. Without a loop
    that stays, as under WSGI, it has one of its own.
    """
    return async_to_sync(_to_the_end)(work)


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    _accepted.add(task)
    task.add_done_callback(_accepted.discard)
    return await asyncio.shield(task)
