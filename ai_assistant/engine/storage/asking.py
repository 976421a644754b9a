"""Work with the database that asks hooks on its way, in one thread of the engine's pool."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ai_assistant.engine.storage.pool import Lane, Stage
from ai_assistant.engine.storage.units import lane, with_connections
from ai_assistant.hooks.lending import HooksTakeLong, Work
from ai_assistant.hooks.running import Asks

R = TypeVar("R")
T = TypeVar("T")


async def in_db_asking(asks: Asks[T], *, stage: Stage = Stage.FOLLOW) -> T:
    """
    Do work that asks hooks in the engine's pool, and return its result.

    It may go on in another thread, so it asks outside of any transaction.
    """
    work = work_asking(asks, stage)
    try:
        while True:
            try:
                return await carried_on(work, _as_it_is, stage)
            except HooksTakeLong:
                await work.hooks_called()
    finally:
        work.close()


def work_asking(asks: Asks[T], stage: Stage) -> Work[T]:
    """Return work for the engine's pool."""
    found = lane(stage)
    # In the tests of a site the hooks have the thread of the test, as the pool has.
    return Work(asks, found if isinstance(found, Lane) else None)


async def carried_on(work: Work[T], then: Callable[[T], R], stage: Stage) -> R:
    """
    Let work go on in the pool; return what `then` makes of its result, in its thread.

    Raise HooksTakeLong if it waits for hooks.
    """
    return await work.carried_on(partial(_submit, stage), then)


def _submit(stage: Stage, do: Callable[[], Any]) -> "asyncio.Future[Any]":
    loop = asyncio.get_running_loop()
    return loop.run_in_executor(lane(stage), with_connections, do)


def _as_it_is(result: T) -> T:
    return result
