"""
Loads a slow library once per process, in a thread, beside the event loop.

`state()` is what health shows: "idle" if nothing was asked for yet, else
"warming", "ready" or "failed".
"""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, Literal, TypeVar

State = Literal["idle", "warming", "ready", "failed"]
T = TypeVar("T")

_started: list["Warmup[Any]"] = []


class Warmup(Generic[T]):
    """
    One library and the call that loads it.

    Of one that is not `slow` only that it cannot be loaded is told.
    """

    def __init__(self, load: Callable[[], T], *, slow: bool = True) -> None:
        self._load = load
        self.slow = slow
        self._future: Future[T] | None = None
        self._lock = threading.Lock()

    @property
    def state(self) -> State:
        if self._future is None:
            return "idle"
        if not self._future.done():
            return "warming"
        return "failed" if self._future.exception() else "ready"

    @property
    def loaded(self) -> T | None:
        """Return the library if it is there, without waiting for it."""
        return self._future.result() if self.state == "ready" and self._future else None

    def start(self) -> Future[T]:
        """Begin to load, if that has not begun. Returns at once; any thread may call."""
        with self._lock:
            if self._future is None:
                self._future = Future()
                # Running from the start, so that no waiter's cancellation ends it.
                self._future.set_running_or_notify_cancel()
                _started.append(self)
                # A daemon: a process that is told to stop does not wait for it.
                threading.Thread(
                    target=self._run, args=(self._future,), name="warm-up", daemon=True
                ).start()
            return self._future

    async def wait(self) -> T:
        """Return the library once it is loaded; raise what loading raised."""
        future = self.start()
        if future.done():
            return future.result()
        return await asyncio.wrap_future(future)

    def _run(self, future: Future[T]) -> None:
        try:
            with _no_collection():
                loaded = self._load()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        else:
            future.set_result(loaded)


@contextmanager
def _no_collection() -> Iterator[None]:
    """
    Keep the garbage collector out of an import of some 300,000 objects.

    It would look through all of them again and again, and stop every thread for
    up to a quarter of a second each time. They stay for the life of the process,
    so that later collections leave them out as well.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def state() -> State:
    """Return the worst state of what is being loaded in this process."""
    told = [(warmup.state, warmup.slow) for warmup in _started]
    states = {state for state, slow in told if slow or state == "failed"}
    for worst in ("failed", "warming", "ready"):
        if worst in states:
            return worst
    return "idle"
