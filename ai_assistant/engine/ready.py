"""
A call that writes: made ready outside its transaction, looked at again inside.

Outside is code of the site that may hang (`is_enabled`, the module of the page, the
tool's `prepare`): there it holds no lock. Inside is what is ours, and quick: the
account, its permission, the policy, the tool's version and the session. What has been
revoked by then does not happen.
"""

import asyncio
from dataclasses import replace

from ai_assistant.engine.attempt import (
    Attempt,
    Outcome,
    check_approved,
    check_policy,
    check_version,
    context_for,
    guarded,
    invoke,
    outcome_of,
    timed_out,
)
from ai_assistant.engine.db import in_tool_thread, is_transient, read_again
from ai_assistant.exceptions import Refused
from ai_assistant.safety.identity import Revoked, check_may_write, check_user
from ai_assistant.safety.permissions import fresh_user, may_call
from ai_assistant.tools.result import refused
from ai_assistant.types import WRITING, RunContext


async def made_ready(attempt: Attempt) -> Outcome | RunContext:
    """
    Do all that may take long, within the tool's time; return the call's context.

    That is code of the site, which says whether the tool is to be had here, and
    the tool's `prepare`. Return what came of the call if it ends with that.
    """
    try:
        async with asyncio.timeout(attempt.timeout_s):
            return await in_tool_thread(_prepared, attempt)
    except TimeoutError:
        attempt.report.is_over = True
        return timed_out(attempt)


def _prepared(attempt: Attempt) -> Outcome | RunContext:
    ready, prepare = _asked(attempt), attempt.tool.prepare
    if attempt.tool.external or attempt.report.is_over:
        prepare = None  # it has no write phase, or nobody waits for it any more
    if prepare is None or not isinstance(ready, RunContext):
        return ready
    prepared: list[object] = []
    context = ready
    outcome = guarded(
        attempt.call, lambda: prepared.append(invoke(attempt, prepare, context))
    )
    if not prepared:
        return outcome
    ready = _asked(attempt)  # it may be another matter by now
    if isinstance(ready, RunContext):
        ready.prepared = prepared[0]
    return ready


def _asked(attempt: Attempt) -> Outcome | RunContext:
    """Return the context of the call, or what came of it if it is refused."""
    try:
        return read_again(lambda: context_for(attempt))
    except Exception as error:
        if isinstance(error, Revoked) or is_transient(error):
            raise  # no matter of this call alone
        return outcome_of(attempt.call, error)


def rechecked(attempt: Attempt, ready: RunContext) -> RunContext:
    """
    Return the context `ready`, made for this call a moment ago, with its user now.

    Raise Revoked if the run must end, Refused if only this call is refused. Its
    reports go to `attempt`, which may be a further one.
    """
    run, call, tool = attempt.run, attempt.call, attempt.tool
    user = fresh_user(run.user_id)
    check_user(run, user)
    if not may_call(user, tool):
        raise Refused("permission", refused(call.name).error)
    check_policy(run, call, tool, user)
    check_version(call, tool)
    check_approved(call)
    if tool.effect in WRITING:
        check_may_write(run)
    return replace(
        ready,
        user=user,
        report=attempt.report.progress,
        report_step=attempt.report.step,
        shows=attempt.report.show,
    )
