"""
Who looks on in this process: tabs and streams, by the group of their conversation.

What happens here they hear at once. What other processes send comes over the channel
layer, in one message for all listeners of a group.
"""

import asyncio
import contextvars
import logging
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from channels.layers import InMemoryChannelLayer, get_channel_layer

from ai_assistant import conf

logger = logging.getLogger("ai_assistant")

JOIN_TIMEOUT_S = 2.0
ROLL_CALL = "aia.roll_call"
HERE = {"type": "aia.here"}

Message = dict[str, Any]
Wake = Callable[[], None]


class Home:
    """The event loop of this process, if it has one that stays, and its executor."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.wake: Wake = lambda: None

    @property
    def is_there(self) -> bool:
        return self.loop is not None and self.loop.is_running()

    @property
    def is_here(self) -> bool:
        """Whether this is code of that loop."""
        return self.loop is asyncio.get_running_loop()


home = Home()


class Listening(Protocol):
    """A tab or a stream."""

    def hear(self, message: Message) -> None:
        """Take a message: live text, or that rows have changed. Return at once."""
        ...


def has_others(layer: Any) -> bool:
    """Return whether a layer leads out of this process."""
    # One of a class of its own may do anything.
    return layer is not None and type(layer) is not InMemoryChannelLayer


def process_mark() -> str:
    """Return what this process marks its messages with, to know them again."""
    return _mark(os.getpid())


@cache
def _mark(pid: int) -> str:
    return f"{pid}.{secrets.token_hex(8)}"


class _Group:
    """The listeners of one group, and the channel on which others are heard."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: dict[Listening, None] = {}
        self.is_joined = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(
            self._listen(), context=contextvars.Context()
        )

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _listen(self) -> None:
        while True:
            try:
                await self._follow()
            except Exception as error:  # noqa: BLE001 - any layer, any failure
                logger.debug("channel layer failed: %s", error)
                await asyncio.sleep(float(conf.get("POLL_S")))

    async def _follow(self) -> None:
        layer: Any = get_channel_layer()
        channel = await layer.new_channel()
        try:
            await layer.group_add(self.name, channel)
            self.is_joined.set()
            while True:
                message = await layer.receive(channel)
                if message.get("from") != process_mark():
                    await self._heard(layer, message)
        finally:
            with suppress(Exception):
                async with asyncio.timeout(JOIN_TIMEOUT_S):
                    await layer.group_discard(self.name, channel)

    async def _heard(self, layer: Any, message: Message) -> None:
        if message["type"] == ROLL_CALL:
            await layer.send(message["reply"], HERE)
            return
        if message["type"] == "aia.wake":
            home.wake()  # that process may have queued a run
        self.tell(message)

    def tell(self, message: Message) -> None:
        for member in [*self.members]:
            member.hear(message)


class Listeners:
    """All groups of one event loop."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def has(self, group: str) -> bool:
        """Return whether anybody listens to a group here."""
        return group in self._groups

    def tell(self, group: str, message: Message) -> None:
        """Hand a message of this process to all who listen here, at once."""
        if found := self._groups.get(group):
            found.tell(message)

    async def join(self, group: str, member: Listening) -> None:
        """Begin to listen; with a layer that is away, to this process alone."""
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = _Group(group)
        found.members[member] = None
        if has_others(get_channel_layer()):
            with suppress(TimeoutError):
                async with asyncio.timeout(JOIN_TIMEOUT_S):
                    await found.is_joined.wait()

    async def leave(self, group: str, member: Listening) -> None:
        """Listen no more. It is out at once; the layer may take a while."""
        found = self._groups.get(group)
        if found is None:
            return
        found.members.pop(member, None)
        if not found.members:
            del self._groups[group]
            await found.end()


_of_loops: dict[asyncio.AbstractEventLoop, Listeners] = {}
_making = threading.Lock()


def listeners() -> Listeners:
    """Return the listeners of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        with _making:
            # Under WSGI each request has a loop of its own.
            for closed in [one for one in _of_loops if one.is_closed()]:
                del _of_loops[closed]
            found = _of_loops[loop] = Listeners()
    return found
