"""
Notifications, and the live text between two durable events.

Those who listen in this process get both at once. To others they travel over the
channel layer, which may lose, repeat and reorder them, or be away altogether: nothing
here is needed for a run to be right. So sending never waits, never raises, and drops
what it cannot get rid of.
"""

import asyncio
import contextvars
import hashlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from ai_assistant import conf
from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.engine.storage.listeners import (
    has_others,
    home,
    listeners,
    process_mark,
)
from ai_assistant.models.run import Run
from ai_assistant.types import UserKey

logger = logging.getLogger("ai_assistant")

EXECUTOR_CHANNEL = "ai_assistant"  # on which `runworker` listens

PAGES = "aia.pages"  # the group of all open pages, and what is said to it

QUEUE = 1000  # messages that may wait for a slow layer
SEND_TIMEOUT_S = 2.0


def group_name(user_id: UserKey, conversation_id: UUID | str) -> str:
    """
    Return the group of one user's one conversation.

    The user is part of it: listening to another's conversation brings nothing.
    """
    user = hashlib.sha256(str(user_id).encode()).hexdigest()[:16]
    return f"aia.{user}.{UUID(str(conversation_id)).hex}"


class Outbox:
    """Sends messages in order from one event loop; one task, one queue."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[tuple[bool, str, dict[str, Any]]]
        self._queue = asyncio.Queue(maxsize=QUEUE)
        self._task: asyncio.Task[None] | None = None

    def put(self, target: str, message: dict[str, Any], *, group: bool = True) -> None:
        """Send `message` soon, or not at all."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._send_all(), context=contextvars.Context()
            )
        try:
            self._queue.put_nowait((group, target, message))
        except asyncio.QueueFull:
            logger.debug("channel layer is slow, dropped a message for %s", target)

    async def _send_all(self) -> None:
        """Send what is there, and end: a task that waits for more outlives its loop."""
        while not self._queue.empty():
            group, target, message = self._queue.get_nowait()
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await _send(target, message, group=group)
            except Exception as error:  # noqa: BLE001 - any layer, any failure
                logger.debug("channel layer failed: %s", error)


_outboxes: dict[asyncio.AbstractEventLoop, Outbox] = {}
_making = threading.Lock()


def outbox() -> Outbox:
    """Return the outbox of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _outboxes.get(loop)
    if found is None:
        with _making:
            _forget_closed()
            found = _outboxes[loop] = Outbox()
    return found


def _forget_closed() -> None:
    """
    Let go of loops that served one request only, as each does under WSGI.

    Holding them weakly would not do: an outbox that was used refers to its loop.
    """
    for loop in [loop for loop in _outboxes if loop.is_closed()]:
        del _outboxes[loop]


def send(group: str, message: dict[str, Any]) -> None:
    """Hand a message to all who listen: here at once, elsewhere by the layer."""
    tell_here(group, message)
    if has_others(get_channel_layer()):
        outbox().put(group, {**message, "from": process_mark()})


def tell_here(group: str, message: dict[str, Any]) -> None:
    """Hand a message to those alone who listen in this process."""
    listeners().tell(group, message)
    if home.loop is not None and home.is_there and not home.is_here:
        home.loop.call_soon_threadsafe(_tell_at_home, group, message)


def _tell_at_home(group: str, message: dict[str, Any]) -> None:
    listeners().tell(group, message)


def ring(group: str, run_id: UUID) -> None:
    """Notify the followers of the conversation that rows have changed."""
    send(group, {"type": "aia.wake", "run": str(run_id)})


def tell(
    group: str, run_id: UUID, events: Sequence[StoredEvent], **beside: Any
) -> None:
    """
    Notify the followers that rows have changed, which `events` have just said.

    Those of this process get the events themselves, with what is `beside` them.
    """
    wake = {"type": "aia.wake", "run": str(run_id)}
    tell_here(group, {**wake, "events": events, **beside})
    if has_others(get_channel_layer()):
        outbox().put(group, {**wake, "from": process_mark()})


def ring_executors() -> None:
    """Notify `runworker` processes that a run is queued."""
    if conf.get("EXECUTOR") == "worker":
        outbox().put(EXECUTOR_CHANNEL, {"type": "aia.queued"}, group=False)


def ring_from_thread(group: str, run_id: UUID) -> None:
    """
    Notify from a thread without an event loop, a Celery worker's for example.

    The in-memory layer is not thread-safe: in a server, the event loop sends.
    """
    if home.loop is not None and home.is_there:
        home.loop.call_soon_threadsafe(_ring_at_home, group, run_id)
    else:
        _send_now(_ring_now, group, run_id)


def ring_pages(run: Run, tables: Iterable[str]) -> None:
    """
    Notify the open pages, once a transaction of `run` is over, that rows have changed.

    `tables` are the labels of their models. Pages of the run's own conversation learn
    it by its events.
    """
    group = group_name(run.user_id, run.conversation_id)
    if not (changed := sorted(set(tables))):
        return
    message = {"type": PAGES, "of": group, "tables": changed}
    # What was committed stays so, whatever becomes of this.
    transaction.on_commit(partial(_send_to_pages, message), robust=True)


def _send_to_pages(message: dict[str, Any]) -> None:
    if home.loop is not None and home.is_there:
        home.loop.call_soon_threadsafe(send, PAGES, message)
    elif has_others(get_channel_layer()):
        _send_now(partial(_send, group=True), PAGES, message)


def _send_now(send_all: Callable[..., Awaitable[None]], *args: object) -> None:
    """Send from a thread without an event loop; a layer that hangs or fails is let be."""

    async def in_time() -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await send_all(*args)

    try:
        async_to_sync(in_time)()
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        logger.debug("channel layer failed: %s", error)


def _ring_at_home(group: str, run_id: UUID) -> None:
    ring(group, run_id)
    home.wake()


async def _ring_now(group: str, run_id: UUID) -> None:
    wake = {"type": "aia.wake", "run": str(run_id)}
    await _send(group, wake, group=True)
    if conf.get("EXECUTOR") == "worker":
        await _send(EXECUTOR_CHANNEL, {"type": "aia.queued"}, group=False)


async def _send(target: str, message: dict[str, Any], *, group: bool) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    if group:
        await layer.group_send(target, message)
    else:
        await layer.send(target, message)
