"""An executor of the test's own, which watches as in a server."""

import asyncio
import threading
from contextlib import asynccontextmanager, suppress

import pytest

from ai_assistant.engine.execution import executor as module
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.storage.listeners import home
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models.run import FINAL, Run
from ai_assistant.types import TextDelta


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """Give each test an executor of its own."""
    monkeypatch.setattr(module, "_executors", {})
    monkeypatch.setattr(home, "loop", None)
    monkeypatch.setattr(home, "wake", lambda: None)


@asynccontextmanager
async def booted():
    """Watch over the runs as a server does, until the test is over."""
    own = executor()
    own.boot()
    try:
        yield own
    finally:
        own._watch.cancel()
        with suppress(asyncio.CancelledError):
            await own._watch
        while own._tasks:
            for task in list(own._tasks.values()):
                task.cancel()
            await asyncio.sleep(0)


async def until(condition, *arguments):
    """Wait until `condition` holds in the database; the test has a time limit."""
    while not await in_db(condition, *arguments):
        await asyncio.sleep(0.01)


def is_final(run_id):
    return Run.objects.filter(pk=run_id, state__in=FINAL).exists()


def has_state(run_id, state):
    return Run.objects.filter(pk=run_id, state=state).exists()


def get_run():
    return Run.objects.get()


@pytest.fixture
def endless(function_model):
    """A model that talks until it is stopped; the event is set when it begins."""
    begun = threading.Event()

    async def talk(_request):
        while True:
            yield TextDelta(text="word ")
            begun.set()
            await asyncio.sleep(0.01)

    function_model(talk)
    return begun
