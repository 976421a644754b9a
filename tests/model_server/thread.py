"""The server in a thread of the test process."""

import asyncio
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tests.model_server.app import ModelApp, serve
from tests.model_server.record import Entry

WAIT_S = 10.0


class ModelServer:
    """
    A model server on a free loopback port, as a context manager.

    `base` is what a client takes as its API base.
    """

    def __init__(self) -> None:
        self.model = ModelApp()
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main()), name="model-server", daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    def script(self, name: str, steps: list[Any]) -> None:
        """Register a script: replies, or the operations of one reply."""
        self.model.register(name, steps)

    def log(self) -> list[Entry]:
        return list(self.model.record.entries)

    def clear(self) -> None:
        self.model.record.clear()

    def wait_begun(self, number: int) -> Entry:
        """Return the request `number` of the record once it is there."""
        return self._wait(lambda: self.log()[number : number + 1])

    def wait_ended(self) -> Entry:
        """Return the last request of the record once it has ended."""
        return self._wait(lambda: [e for e in self.log()[-1:] if e.ended is not None])

    def _wait(self, found: Callable[[], list[Entry]]) -> Entry:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if entries := found():
                return entries[0]
            time.sleep(0.005)
        raise TimeoutError(f"Not seen within {WAIT_S:g} s. Log: {self.log()}")

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("The model server did not start within 10 s.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with serve(self.model, "127.0.0.1", 0) as self.port:
            self._ready.set()
            await self._stop.wait()
