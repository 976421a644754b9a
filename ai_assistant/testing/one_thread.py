"""
The engine with all of its database work in the thread of the test.

A test of Django is one transaction on one connection, which no other thread can
see. So the event loop runs in a thread of its own, and what it would give to the
engine's pools comes back to the thread that waits here.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import import_module
from queue import SimpleQueue
from typing import Any
from unittest.mock import patch

Job = Callable[[], None]

# Looked up by their paths: some packages have a function named like a module.
POOLS = {
    "ai_assistant.engine.db": ("_pool", "_tools", "_writes"),
    "ai_assistant.engine.edit": ("_forms",),
    "ai_assistant.engine.propose": ("_previews",),
    "ai_assistant.context.collect": ("_providers",),
}


class CallersThread(Executor):
    """Carries out in the thread that made it; at once, if it is asked there."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()

    def submit(  # type: ignore[override] # a pool's has the same, spelled out
        self, work: Callable[..., Any], *args: object, **kwargs: object
    ) -> Future[Any]:
        """Carry out `work` in the caller's thread."""
        future: Future[Any] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - told to who waits
                future.set_exception(error)

        if threading.get_ident() == self._thread:
            job()
        else:
            self._jobs.put(job)
        return future

    def run(self, coroutine: Coroutine[Any, Any, object]) -> None:
        """Run `coroutine` on a loop of its own, and work for it here meanwhile."""
        failed: list[BaseException] = []

        def drive() -> None:
            try:
                asyncio.run(coroutine)
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)
            finally:
                self._jobs.put(None)

        loop = threading.Thread(target=drive, name="aia-test-loop", daemon=True)
        loop.start()
        while (job := self._jobs.get()) is not None:
            job()
        loop.join()
        if failed:
            raise failed[0]


@contextmanager
def one_thread() -> Iterator[CallersThread]:
    """Put the caller's thread in the place of the engine's pools."""
    callers = CallersThread()
    with_patches = [
        patch.object(import_module(path), name, callers)
        for path, names in POOLS.items()
        for name in names
    ]
    try:
        for one in with_patches:
            one.start()
        yield callers
    finally:
        for one in with_patches:
            one.stop()
