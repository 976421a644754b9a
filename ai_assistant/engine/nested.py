"""
A tool that calls another: the child is a call of its own, with its own result.

It runs under the parent's approval and inside its transaction, if it has one. The
model is told of the parent's result only.
"""

import asyncio
import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from ai_assistant.engine.async_child import in_time
from ai_assistant.engine.child_rules import child_tool, refusal
from ai_assistant.engine.family import Family, child_call, keep
from ai_assistant.engine.keeping import kept_changes
from ai_assistant.engine.report import Report
from ai_assistant.exceptions import Ask, ToolFailed
from ai_assistant.models.call import ToolCall
from ai_assistant.types import JSON, WRITING, RunContext, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.attempt import Attempt

__all__ = ["Family", "Ordinals", "call_child", "is_of_child"]

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
