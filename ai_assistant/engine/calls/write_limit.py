"""The limit of a write: how long it may take."""

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_ms, limits_for_tool, set_local
from ai_assistant.exceptions import LostLease, ToolFailed
from ai_assistant.tools.arguments import CACHED
from ai_assistant.types import ToolDefinition

_thread = threading.local()


def limit_s(own_s: float | None = None) -> float:
    """Return the seconds of a write phase: WRITE_S, or more if it says so."""
    default_s = 1.0 if connection.vendor == "sqlite" else 5.0
    usual_s = float(conf.get("TIMEOUTS", "WRITE_S") or default_s)
    return max(own_s or 0.0, usual_s)


def left_s() -> float:
    """
    Return the seconds that are left of the write phase in this thread, 0 at least.

    All of them where no phase has begun: in a piece of a background tool.
    """
    ends_at = getattr(_thread, "ends_at", None)
    return limit_s() if ends_at is None else max(0.0, ends_at - time.monotonic())


class WriteEnded(LostLease):
    """
    The server has ended a write phase that did nothing for too long.

    Nothing of it was stored. The run may still be held: the next check of the lease
    shows it.
    """

    def __init__(self, took_s: float, limit_s: float) -> None:
        super().__init__(f"A write phase was ended after {took_s:g} s.")
        self.told = too_slow(took_s, limit_s)


class within_limit:  # noqa: N801 - reads as a word of the sentence in which it stands
    """Undo a write phase that held the database for too long."""

    def __init__(self, own_s: float | None = None) -> None:
        self.limit_s = limit_s(own_s)

    def __enter__(self) -> None:
        self.started_at = time.monotonic()
        _thread.ends_at = self.started_at + self.limit_s
        # The server ends a statement that waits for a lock of the host's, and the
        # transaction of a process that hangs: its rows are others' then.
        limits = {"statement_timeout": in_ms(self.limit_s)}
        self.before = set_local({**limits, **limits_for_tool(self.limit_s)})

    def __exit__(self, kind: object, *_rest: object) -> None:
        _thread.ends_at = None
        took_s = time.monotonic() - self.started_at
        if took_s > self.limit_s:
            if _was_ended():
                raise WriteEnded(took_s, self.limit_s)
            if kind is None:
                raise too_slow(took_s, self.limit_s)
        if kind is None:
            # A write phase that failed is undone by its savepoint, and this with it.
            set_local(self.before)


def too_slow(took_s: float, limit_s: float) -> ToolFailed:
    """Return the error for the person and the model if a write took too long."""
    return ToolFailed(
        _("The change took %(took).1f s (%(limit)g s are allowed) and was undone.")
        % {"took": took_s, "limit": limit_s},
        suggestion=_("Change less at once."),
    )


def _was_ended() -> bool:
    """Return whether the connection is lost, with all that the phase has written."""
    own = connection.connection
    if connection.vendor != "postgresql" or own is None or connection.is_usable():
        return False
    # After a failed statement it is not usable either, and still there.
    return bool(own.closed)


@lru_cache(maxsize=CACHED)
def with_write_limit(tool: ToolDefinition) -> ToolDefinition:
    """Return the tool as a child: bounded where it is async, else as it is."""
    handler = tool.handler
    if inspect.iscoroutinefunction(handler):
        return replace(tool, handler=_bounded(handler, _awaited, tool.display.label))
    if inspect.isasyncgenfunction(handler):
        return replace(tool, handler=_bounded(handler, _drawn, tool.display.label))
    return tool


def _bounded(
    handler: Callable[..., Any], bound: Callable[..., Any], label: str
) -> Callable[..., Any]:
    @wraps(handler)
    def called(*args: Any, **kwargs: Any) -> Any:
        work = handler(*args, **kwargs)
        if not connection.in_atomic_block:
            return work
        return bound(work, left_s(), label)

    return called


async def _awaited(work: Coroutine[Any, Any, Any], limit_s: float, label: str) -> Any:
    try:
        async with asyncio.timeout(limit_s) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise _too_long(label, limit_s) from None
        raise


async def _drawn(
    values: AsyncGenerator[Any, Any], limit_s: float, label: str
) -> AsyncGenerator[Any, None]:
    """Yield what a generator does; its pauses count together."""
    loop = asyncio.get_running_loop()
    ends_at, end = loop.time() + limit_s, object()
    async with aclosing(values):
        while True:
            try:
                async with asyncio.timeout_at(ends_at) as limit:
                    value = await anext(values, end)
            except TimeoutError:
                if limit.expired():
                    raise _too_long(label, limit_s) from None
                raise
            if value is end:
                return
            yield value


def _too_long(label: str, limit_s: float) -> ToolFailed:
    return ToolFailed(
        _(
            "“%(name)s” timed out: %(limit).1f s were left of the change that waits "
            "for it."
        )
        % {"name": label, "limit": limit_s},
        suggestion=_("Change less at once."),
    )
