"""Hooks that a thread of the engine's pool calls, and how many threads it has."""

import asyncio
import threading
import uuid

from ai_assistant.engine.storage import units
from ai_assistant.engine.storage.units import in_db
from ai_assistant.hooks import ToolRequested
from ai_assistant.types import RunContext
from ai_assistant.types.hook import Hook

ASKED = ToolRequested(name="publish", arguments={"id": 1})
SHORT_S = 0.05
WAIT_S = 30


def context():
    return RunContext(user=None, run_id=uuid.uuid4(), conversation_id=uuid.uuid4())


def hook(function, **options):
    options.setdefault("name", f"{function.__name__}-{uuid.uuid4()}")
    return Hook(point="before_tool", function=function, origin="shop", **options)


def threads_at_once():
    """Return how many threads of the pool there are at the same moment."""
    meet = threading.Barrier(units._pool.most, timeout=WAIT_S)

    def waits():
        meet.wait()
        return threading.current_thread()

    async def all_of_them():
        return await asyncio.gather(*(in_db(waits) for _ in range(meet.parties)))

    return set(asyncio.run(all_of_them()))
