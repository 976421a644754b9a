"""The hooks around one call: guards before its effect, and its result after it."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.lifecycle.hooks import (
    Kept,
    context_of,
    note_failures,
    scope_now,
    store_kept,
)
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused, ToolFailed
from ai_assistant.hooks import running
from ai_assistant.hooks.passes import Asking
from ai_assistant.hooks.points import ToolAnswered, ToolRequested
from ai_assistant.hooks.running import Asks, ask, hooks_of
from ai_assistant.hooks.state import change_of, merged
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.tools.result import HOOK
from ai_assistant.types import RunContext, ToolResult
from ai_assistant.types.hook import Hook

if TYPE_CHECKING:
    from ai_assistant.engine.calls.attempt import Attempt

Found = TypeVar("Found")

IN_TRANSACTION_S = 1.0  # of one hook while the transaction of a write is open


def check_guards(attempt: "Attempt", context: RunContext) -> None:
    """
    Raise Refused if a guard of the site refuses the call now.

    Also one that was approved, and one that another tool makes: guards are asked right
    before the effect, and all that they can do then is refuse.
    """
    run, call, tool = attempt.run, attempt.call, attempt.tool
    found = hooks_of("before_tool", run.module, tool.name, run.agent)
    guards = [hook for hook in found if hook.guard]
    if not guards:
        return
    asked = ToolRequested(name=tool.name, arguments=call.arguments, effect=tool.effect)
    # The user of the tool itself is not theirs to change.
    own = replace(context, user=fresh_user(run.user_id))
    outcome = ask(guards, Asking(value=asked, context=lambda: own))
    if outcome.failures:
        unit(note_failures)(run.pk, outcome.failures)
    if outcome.refused:
        raise Refused(HOOK, outcome.refused)


def answered(
    attempt: "Attempt", outcome: Found, *, in_transaction: bool = False
) -> Found | ToolResult:
    """Return the outcome of a call as hooks leave it; from a thread."""
    found = _hooks_after(attempt, outcome)
    if not found or not isinstance(outcome, ToolResult):
        return outcome
    if in_transaction:
        found = tuple(
            replace(hook, timeout_s=min(hook.timeout_s, IN_TRANSACTION_S))
            for hook in found
        )
    given = ask(found, _asking(attempt, outcome))
    attempt.kept.add(given)
    return given.value.result


async def aanswered(attempt: "Attempt", outcome: Found) -> Found | ToolResult:
    """Do as `answered` does, for a caller on the event loop."""
    return await running.aanswered(asks_after(attempt, outcome))


def asks_after(attempt: "Attempt", outcome: Found) -> Asks[Found | ToolResult]:
    """Do so on the way of the work that stores it."""
    found = _hooks_after(attempt, outcome)
    if not found or not isinstance(outcome, ToolResult):
        return outcome
    (given,) = yield [(found, _asking(attempt, outcome))]
    attempt.kept.add(given)
    result: ToolResult = given.value.result
    return result


def keep_state(attempt: "Attempt", context: RunContext) -> None:
    """
    Keep what a tool has changed in its state, to be stored with its result.

    Raise ToolFailed if that cannot be stored: the call fails.
    """
    try:
        change = change_of(context.state)
        if change is not None:
            merged(attempt.run.state_values, [*attempt.kept.changes, change])
    except ValueError as error:
        raise ToolFailed(str(error)) from error
    if change is not None:
        attempt.kept.changes.append(change)


def kept_of(attempt: "Attempt", result: ToolResult) -> list[Event]:
    """Store what hooks and the tool itself leave, with the result of a call."""
    # It stays there: a transaction that finds the database busy is done once more.
    kept = attempt.kept
    changes = kept.changes if result.ok else []  # what failed has changed nothing
    own = Kept(changes=changes, failures=kept.failures)
    return store_kept(attempt.run, own, lambda: has_data(attempt.run))


def _hooks_after(attempt: "Attempt", outcome: object) -> tuple[Hook, ...]:
    if not isinstance(outcome, ToolResult):
        return ()
    run = attempt.run
    return hooks_of("after_tool", run.module, attempt.tool.name, run.agent)


def _asking(attempt: "Attempt", result: ToolResult) -> Asking[ToolAnswered]:
    run, call, tool = attempt.run, attempt.call, attempt.tool
    value = ToolAnswered(
        name=tool.name, arguments=call.arguments, result=result, effect=tool.effect
    )

    def context() -> RunContext:
        changes = attempt.kept.changes if result.ok else ()
        return context_of(attempt.scope or scope_now(run), changes)

    return Asking(value=value, context=context)
