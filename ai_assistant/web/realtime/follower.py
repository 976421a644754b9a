"""What the channel layer says of one conversation, and when to look at its rows."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from channels.layers import get_channel_layer

from ai_assistant.engine import service

logger = logging.getLogger("ai_assistant")

MAX_LIVE = 500  # frames that may wait; the rows tell what was dropped
LAYER_TIMEOUT_S = 2.0


class Follower:
    """
    Follows one conversation for a tab or a stream.

    The layer may lose, repeat and delay, or be away: whoever waits here is told to
    look at the rows after a while in any case.
    """

    def __init__(self) -> None:
        self.look = True
        self._live: list[dict[str, Any]] = []
        self._news = asyncio.Event()

    @property
    def has_live(self) -> bool:
        """Whether live text has come."""
        return bool(self._live)

    def wake(self) -> None:
        """Look at the rows soon."""
        self.look = True
        self._news.set()

    async def hear(self, message: dict[str, Any]) -> None:
        """Take a message of the layer: live text, a roll call, or that rows changed."""
        if message["type"] == "aia.live":
            if len(self._live) < MAX_LIVE:
                self._live.append(message)
            self._news.set()
        elif message["type"] == "aia.roll_call":
            # A run without anybody who looks on may be stopped.
            layer: Any = get_channel_layer()
            here = {"type": "aia.here"}
            await patiently(lambda: layer.send(message["reply"], here))
        else:
            service.wake()  # another process may have queued the run
            self.wake()

    def take(self) -> list[dict[str, Any]]:
        """Hand out the live text that has come."""
        frames, self._live = self._live, []
        return frames

    async def wait(self, poll_s: float) -> None:
        """Wait for news; after `poll_s` seconds without any it is time to look."""
        try:
            async with asyncio.timeout(poll_s):
                await self._news.wait()
        except TimeoutError:
            self.look = True
        self._news.clear()


async def patiently(ask: Callable[[], Awaitable[Any]]) -> bool:
    """Ask something of the layer; False if it fails. That makes a page late, not wrong."""
    try:
        async with asyncio.timeout(LAYER_TIMEOUT_S):
            await ask()
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        logger.debug("channel layer failed: %s", error)
        return False
    return True
