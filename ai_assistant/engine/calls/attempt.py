"""One attempt at a call: who asks, with what, and what came out."""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.calls.availability import is_here, is_open, not_here
from ai_assistant.engine.calls.hooked import answered, check_guards, keep_state
from ai_assistant.engine.calls.nested import Family, call_child
from ai_assistant.engine.calls.progress import Report, drained, in_turn, take_partial
from ai_assistant.engine.calls.recording import result_of
from ai_assistant.engine.calls.versions import is_other_version
from ai_assistant.engine.interrupts.approval import approved_of
from ai_assistant.engine.lifecycle.hooks import Kept
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.units import in_tool_thread, is_transient
from ai_assistant.exceptions import Ask, Differs, LostLease, Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.identity.session import (
    AccessRevoked,
    check_may_write,
    check_user,
)
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.arguments import (
    arguments_digest,
    split_page,
    takes_context,
    validate_arguments,
)
from ai_assistant.tools.result import (
    from_value,
    paginate,
    permission_denied_result,
)
from ai_assistant.types import (
    JSON,
    WRITING,
    CallActions,
    RunContext,
    ToolDefinition,
    ToolResult,
)
from ai_assistant.types.hook import State, namespace_of

Outcome = ToolResult | Ask

TIMEOUT = "timeout"  # error_type of a call that was given up


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A call, its tool and its run, ready to be executed."""

    run: Run
    call: ToolCall
    tool: ToolDefinition
    scope: RunScope | None = None  # that of the step, for its hooks
    report: Report = field(default_factory=Report)  # what it reports meanwhile
    kept: Kept = field(default_factory=Kept)  # of hooks, and of the state of tools
    until: float | None = None  # when the reads of its step are given up
    above: "Attempt | None" = None  # that of the tool that calls this one
    family: Family = field(default_factory=list)  # what it has called, with results
    numbers: Iterator[int] = field(default_factory=count)  # of what it calls
    is_proposal: bool = False  # it is only looked at what it would change
    is_trial: bool = False  # for that it is executed, and rolled back
    asked_by: str = ""  # of what it asks; empty: nothing stands above it
    # To what it has asked, and the calls below it, by who has asked.
    answers: dict[str, dict[str, JSON]] = field(default_factory=dict)

    @property
    def timeout_s(self) -> float:
        return self.tool.execution.timeout_s or float(conf.get("TIMEOUTS", "TOOL_S"))

    @property
    def is_late(self) -> bool:
        """Whether the time of all reads of the step is over."""
        return self.until is not None and time.monotonic() >= self.until

    @property
    def left_s(self) -> float:
        """Seconds that the call may take from now on."""
        if self.until is None:
            return self.timeout_s
        return min(self.timeout_s, self.until - time.monotonic())


def context_for(attempt: Attempt) -> RunContext:
    """
    Return the context of the call, its user loaded now.

    Raise Revoked if the run must end, Refused if only this call is refused.
    """
    run, call = attempt.run, attempt.call
    user = fresh_user(run.user_id)
    check_user(run, user)
    if not may_call(user, attempt.tool):
        raise Refused("permission", permission_denied_result(call.name).error)
    if not attempt.is_proposal:
        check_policy(run, call, attempt.tool, user)
        check_version(call, attempt.tool)
    scope = RunScope(run, user)
    # A tool that a tool of the page calls need not be offered to the model.
    is_offered = is_here if attempt.above is None else is_open
    if not is_offered(attempt.tool, scope):
        raise Refused("not_here", _not_here(attempt.tool, scope))
    if attempt.tool.effect in WRITING:
        check_may_write(run)
    if attempt.above is None:
        answered = call.interrupts.filter(status=Interrupt.Status.ANSWERED)
        for item in answered:
            attempt.answers.setdefault(item.asked_by, {})[item.key] = item.answer
    context = RunContext(
        user=user,
        is_preview=attempt.is_proposal,
        run_id=run.pk,
        conversation_id=run.conversation_id,
        page=scope.context.page,
        module=scope.module.id,
        agent=run.agent,
        idempotency_key=f"{run.pk}:{call.step_id}:{call.position}",
        answers=dict(attempt.answers.get(attempt.asked_by, {})),
        mark=call.mark,
        state=State(namespace_of(attempt.tool.origin), run.state_values),
        actions=attempt.report.reporting(CallActions(locked=scope.locks(attempt.tool))),
    )
    if not attempt.is_proposal:
        check_guards(attempt, context)
    return context


def _not_here(tool: ToolDefinition, scope: RunScope) -> str:
    writes = tool.effect in WRITING
    locked, agent = scope.read_only, scope.agent
    return not_here(tool.name, writes=writes, read_only=locked, agent=agent).error


def check_policy(run: Run, call: ToolCall, tool: ToolDefinition, user: Any) -> None:
    """
    Raise Refused if a call that was not approved has to be.

    Either it had to from its beginning, or the site's policy has become stricter.
    """
    decision = tool_verdict(tool, user=user, module=run.module).decision
    needs = decision == "ask" or call.asks
    if decision == "deny" or (needs and not call.approved):
        raise Refused(
            "policy",
            _("This site no longer allows “%(name)s”.") % {"name": call.name},
        )


def check_version(call: ToolCall, tool: ToolDefinition) -> None:
    """Raise Refused if another tool of this name was approved."""
    if call.approved and is_other_version(call, tool):
        raise Refused(
            "changed",
            _("“%(name)s” has changed since it was approved.") % {"name": call.name},
        )


def check_approved(call: ToolCall) -> None:
    """Raise Refused if other arguments were approved than those of the call."""
    if not call.approved:
        return
    shown = approved_of(call).values_list("arguments_digest", flat=True).last()
    # What a person has allowed for the whole run was not shown by itself.
    if arguments_digest(call.name, call.arguments) != (shown or call.arguments_digest):
        raise Refused(
            "changed",
            _("“%(name)s” has changed since it was approved.") % {"name": call.name},
        )


def invoke(attempt: Attempt, handler: Callable[..., Any], context: RunContext) -> Any:
    """Call `handler` with the arguments of the call, checked once more."""
    tool = attempt.tool
    arguments, page = split_page(tool, validate_arguments(tool, attempt.call.arguments))
    attempt.family.clear()
    counted = replace(attempt, numbers=count(1))  # called again from its start
    call_tool = partial(call_child, counted, context, _as_child)
    context.actions = replace(context.actions, call_tool=call_tool)
    value = (
        handler(context, **arguments) if takes_context(tool) else handler(**arguments)
    )
    return paginate(tool, value, page) if handler is tool.handler else value


def _as_child(child: Attempt, above: RunContext, key: str) -> Outcome:
    """Execute the call of a tool by another one, of which `above` is the context."""

    def work() -> object:
        context = context_for(child)
        context.idempotency_key = key
        context.actions = replace(
            context.actions, step=above.actions.step, show=above.actions.show
        )
        value = carried_out(child, context)
        if inspect.isasyncgen(value):
            return drained(child.call.name, in_turn(value), child.report)
        return asyncio.run(value) if inspect.iscoroutine(value) else value

    return answered(child, guarded(child.call, work), in_transaction=True)


def carried_out(attempt: Attempt, context: RunContext) -> Any:
    """Return what a sync tool returns, or the result of a generator."""
    value = invoke(attempt, attempt.tool.handler, context)
    if inspect.isgenerator(value):
        value = drained(attempt.call.name, value, attempt.report)
    keep_state(attempt, context)
    return value


def guarded(call: ToolCall, work: Callable[[], Any]) -> Outcome:
    """
    Return the outcome of `work` for `call`, whatever it raises.

    Only what ends the whole run passes through, Revoked and LostLease; and Differs,
    after which the person is asked again.
    """
    call.traceback = ""  # of an attempt before it
    try:
        return from_value(call.name, work())
    except (AccessRevoked, LostLease, Differs):
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if connection.in_atomic_block and is_transient(error):
            raise  # the whole unit is tried again, as often as it may be
        return outcome_of(call, error)


def outcome_of(call: ToolCall, error: BaseException) -> Outcome:
    """Return what a tool's exception means for its call."""
    if isinstance(error, Ask):
        return error
    if isinstance(error, Refused):
        return ToolResult(ok=False, error=str(error), error_type=error.code)
    return result_of(call, error)


async def run_tool(attempt: Attempt) -> Outcome:
    """Execute a tool without a transaction, within its time limit."""
    if is_async(attempt.tool.handler):
        return await _run_async(attempt)

    def work() -> Outcome:
        return guarded(
            attempt.call,
            lambda: carried_out(attempt, context_for(attempt)),
        )

    try:
        async with asyncio.timeout(attempt.left_s):
            return await in_tool_thread(work)
    except TimeoutError:
        return timed_out(attempt)
    finally:
        attempt.report.is_over = True  # a thread still at work ends at its next report


def is_async(handler: Callable[..., Any]) -> bool:
    """Return whether a tool runs on the event loop."""
    kinds = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_kind(handler) for is_kind in kinds)


async def _run_async(attempt: Attempt) -> Outcome:
    call = attempt.call
    try:
        async with asyncio.timeout(attempt.left_s) as limit:
            context = await in_tool_thread(context_for, attempt)
            value = invoke(attempt, attempt.tool.handler, context)
            if inspect.isasyncgen(value):
                return await _drained(attempt, value, context)
            value = await value
        keep_state(attempt, context)
        return await in_tool_thread(from_value, call.name, value)
    except (AccessRevoked, LostLease):
        raise
    except TimeoutError as error:
        return timed_out(attempt) if limit.expired() else outcome_of(call, error)
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - a tool may raise anything
        stop_if_asked()
        return outcome_of(call, error)


async def _drained(
    attempt: Attempt, values: AsyncGenerator[Any, Any], context: RunContext
) -> ToolResult:
    """Take all values of an async generator; the last one is the result."""
    result = ToolResult(ok=True)
    async with aclosing(values):
        async for value in values:
            result = await in_tool_thread(from_value, attempt.call.name, value)
            if not take_partial(result, attempt.report):
                break
    keep_state(attempt, context)
    return result


def stop_if_asked() -> None:
    """
    Raise CancelledError if this task is being cancelled.

    A tool may have swallowed that, or have raised one of its own.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def timed_out(attempt: Attempt) -> ToolResult:
    """Return the result of a call that took too long, by itself or with others."""
    limit, error = attempt.timeout_s, _("“%(name)s” timed out after %(limit)s s.")
    if attempt.is_late:
        limit = float(conf.get("TIMEOUTS", "READS_S"))
        error = _(
            "“%(name)s” was not ready when the time for all that was asked for at once, "
            "%(limit)s s, was over."
        )
    return ToolResult(
        ok=False,
        error=error % {"name": attempt.call.label, "limit": f"{limit:g}"},
        error_type=TIMEOUT,
        suggestion=_("Ask for less at once."),
    )
