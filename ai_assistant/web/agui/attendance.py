"""One request that reads a stream, from its beginning to its end, or to its leaving."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from ai_assistant.web.agui.stream import Listener, Stream

START_S = 10.0  # in which the server begins to send, or the client has left

# Work that outlives its request: the reference keeps it from being collected.
_ending: set[asyncio.Task[Any]] = set()


class Attendance:
    """
    Sends a stream, and tells `on_left` if its client leaves before it is over.

    A response that is never sent counts as left, too: nobody closes its iterator.
    """

    def __init__(
        self, stream: Stream, listener: Listener, on_left: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._listener = listener
        self._on_left = on_left
        self._began = self._ended = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(START_S, self._unless_begun)

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield what is to be sent."""
        self._began = True
        self._timer.cancel()
        try:
            async with aclosing(self._stream.frames()) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self.end()

    def end(self) -> None:
        """Let go of everything, once."""
        if self._ended:
            return
        self._ended = True
        self._timer.cancel()
        task = asyncio.get_running_loop().create_task(self._listener.stop())
        _ending.add(task)
        task.add_done_callback(_ending.discard)
        if not self._stream.segment.is_over:
            self._on_left()

    def _unless_begun(self) -> None:
        if not self._began:
            self.end()
