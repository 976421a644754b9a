"""A tool that calls another tool: the child is a call of its own."""

import asyncio
import hashlib
import inspect
import re
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from ai_assistant.engine.calls.nested_rules import (
    Family,
    child_call,
    child_tool,
    keep,
    refusal,
)
from ai_assistant.engine.calls.progress import Report
from ai_assistant.engine.calls.recording import kept_changes
from ai_assistant.engine.calls.write_limit import left_s
from ai_assistant.exceptions import Ask, ToolFailed
from ai_assistant.models.call import ToolCall
from ai_assistant.tools.schema import CACHED
from ai_assistant.types import JSON, WRITING, RunContext, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.calls.attempt import Attempt

__all__ = [
    "KEY_CHARS",
    "OF_CHILD",
    "CarryOut",
    "Family",
    "Ordinals",
    "call_child",
    "in_time",
    "is_of_child",
]


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
            "“%(name)s” took longer than the %(limit).1f s that were left of a change "
            "that waits for it, and was given up."
        )
        % {"name": label, "limit": limit_s},
        suggestion=_("Change less at once."),
    )


KEY_CHARS = 100  # of an answer, as it is stored
OF_CHILD = re.compile(r"@[0-9a-f]{12}/")  # before the key of a child's answer

CarryOut = Callable[["Attempt", RunContext, str], "ToolResult | Ask"]


class Ordinals:
    """The numbers of the calls that a tool makes, also of those it makes at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def take(self) -> int:
        """Return the number of a call that begins."""
        with self._lock:
            self._last += 1
            return self._last

    def restart(self) -> None:
        """Count anew: the tool is called again from its start."""
        with self._lock:
            self._last = 0


def call_child(
    parent: "Attempt",
    context: RunContext,
    carry_out: CarryOut,
    name: str,
    arguments: dict[str, Any],
) -> ToolResult:
    """
    Carry out a call of the tool `parent` and return its result, also a failed one.

    Raise ToolFailed if the tool may not be called from this one, and Ask if it
    asks: then the parent is called again, with the answer.
    """
    _off_the_loop()
    tool = child_tool(parent, name)
    call = child_call(parent, tool, arguments)
    ordinal = parent.ordinals.take()
    asked_by = _asked_by(call, ordinal)
    child = replace(
        parent,
        call=call,
        tool=in_time(tool),
        report=Report(above=parent.report),
        above=parent,
        family=[],
        ordinals=Ordinals(),
        answers=_answers_to(parent.answers, asked_by),
    )
    key = f"{context.idempotency_key}/{ordinal}"

    def work() -> ToolResult | Ask:
        outcome = refusal(parent, tool) or _undone_if_failed(
            tool, lambda: carry_out(child, context, key)
        )
        if isinstance(outcome, ToolResult):
            keep(parent, child, outcome)
        return outcome

    writes = tool.effect in WRITING and not tool.external
    if writes and not connection.in_atomic_block:
        outcome = _in_transaction(parent, context, work)
    else:
        outcome = work()
    if isinstance(outcome, Ask):
        raise _named(outcome, asked_by)
    return outcome


# --- what is asked and answered below it ---


def is_of_child(key: str) -> bool:
    """Tell whether the answer of that key was given to a child."""
    return OF_CHILD.match(key) is not None


def _asked_by(call: ToolCall, ordinal: int) -> str:
    """Return what stands before a child's keys: the same if it is called again."""
    # The digest is one of the name and the arguments.
    text = f"{ordinal}:{call.name}:{call.arguments_digest}"
    return f"@{hashlib.sha256(text.encode()).hexdigest()[:12]}/"


def _answers_to(answers: Mapping[str, JSON], asked_by: str) -> dict[str, JSON]:
    return {
        key.removeprefix(asked_by): answer
        for key, answer in answers.items()
        if key.startswith(asked_by)
    }


def _named(asked: Ask, asked_by: str) -> Ask:
    """Return the question under a key that no other call has."""
    key = asked_by + asked.key
    if len(key) > KEY_CHARS:
        raise ToolFailed(
            f"The key {asked.key!r} of a question is too long for a tool that another "
            "one calls. Make it shorter."
        )
    # A copy: a tool may raise the same object twice.
    copy = Ask.__new__(Ask, *asked.args)
    copy.__dict__.update(asked.__dict__, key=key)
    return copy


# --- how it is carried out ---


def _off_the_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ToolFailed(
        "context.call_tool() blocks, and cannot be called in an 'async def'. Make the "
        "tool a 'def', or await asyncio.to_thread(context.call_tool, ...)."
    )


def _undone_if_failed(
    tool: ToolDefinition, work: Callable[[], "ToolResult | Ask"]
) -> "ToolResult | Ask":
    """Do `work`; what a failed write has written is undone, and only that."""
    if tool.effect not in WRITING or tool.external:
        return work()
    with transaction.atomic():
        outcome = work()
        if isinstance(outcome, Ask) or not outcome.ok:
            transaction.set_rollback(True)
    return outcome


def _in_transaction(
    parent: "Attempt", context: RunContext, work: Callable[[], "ToolResult | Ask"]
) -> "ToolResult | Ask":
    """Do `work` in a transaction of its own: the parent has none."""
    if parent.tool.background and parent.above is None:
        with context.transaction():
            return work()
    if not parent.tool.external:
        raise ToolFailed(
            f"Tool {parent.tool.name!r} calls a tool that writes in its 'prepare'. "
            "Call it in the function itself."
        )
    with transaction.atomic(), kept_changes(parent.run, parent.call, context.user):
        return work()
