"""Work with the database that asks hooks on its way, in one thread of the engine's pool."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ai_assistant.engine.storage.pool import Lane, Stage
from ai_assistant.engine.storage.units import lane, with_connections
from ai_assistant.hooks.lending import HooksTakeLong, Work
from ai_assistant.hooks.running import Asks

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
                return await carried_on(work, work.go_on, stage)
            except HooksTakeLong:
                await work.hooks_called()
    finally:
        work.close()


def work_asking(asks: Asks[T], stage: Stage) -> Work[T]:
    """Return work for the engine's pool."""
    found = lane(stage)
    # In the tests of a site the hooks have the thread of the test, as the pool has.
    return Work(asks, found if isinstance(found, Lane) else None)


async def carried_on(work: Work[object], do: Callable[[], T], stage: Stage) -> T:
    """Do `do`, which lets `work` go on, in the pool. Raise HooksTakeLong."""
    return await work.carried_on(partial(_submit, stage), do)


def _submit(stage: Stage, do: Callable[[], T]) -> "asyncio.Future[T]":
    loop = asyncio.get_running_loop()
    return loop.run_in_executor(lane(stage), with_connections, do)
