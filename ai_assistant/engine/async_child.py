"""
An async tool that another one calls, in a transaction of its parent's.

What it awaits is outside, and may take long; meanwhile the transaction is open. So
it has what is left of the time in which the parent may write, and no more.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache, wraps
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from ai_assistant.engine.write_limit import left_s
from ai_assistant.exceptions import ToolFailed
from ai_assistant.tools.schema import CACHED
from ai_assistant.types import ToolDefinition


@lru_cache(maxsize=CACHED)
def in_time(tool: ToolDefinition) -> ToolDefinition:
    """Return the tool as a child: bounded where it is async, else as it is."""
    handler = tool.handler
    if inspect.iscoroutinefunction(handler):
        return replace(tool, handler=_bounded(handler, _awaited, tool.label))
    if inspect.isasyncgenfunction(handler):
        return replace(tool, handler=_bounded(handler, _drawn, tool.label))
    return tool


def _bounded(
    handler: Callable[..., Any], bound: Callable[..., Any], label: str
) -> Callable[..., Any]:
    @wraps(handler)
    def called(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's
        work = handler(*args, **kwargs)
        if not connection.in_atomic_block:
            return work
        return bound(work, left_s(), label)

    return called


async def _awaited(work: Coroutine[Any, Any, Any], limit_s: float, label: str) -> Any:  # noqa: ANN401
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
            "“%(name)s” took longer than the %(limit).1f s that were left of a change "
            "that waits for it, and was given up."
        )
        % {"name": label, "limit": limit_s},
        suggestion=_("Change less at once."),
    )
