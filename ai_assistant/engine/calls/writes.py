"""The write of a tool: prepared outside its transaction, checked and made inside."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext as _

from ai_assistant.changes import stored
from ai_assistant.changes.capture.databases import taken_back_with, written_ones
from ai_assistant.changes.capture.recorder import Recorder, recording
from ai_assistant.changes.capture.store import store
from ai_assistant.changes.staleness import stale_rows
from ai_assistant.changes.values import Changes
from ai_assistant.changes.verify.compare import unexpected_changes
from ai_assistant.changes.verify.differences import (
    MissingDifference,
    UnexpectedDifference,
)
from ai_assistant.changes.verify.trial import completed
from ai_assistant.engine.calls.attempt import (
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
from ai_assistant.engine.calls.hooked import keep_state
from ai_assistant.engine.calls.validation import check_valid
from ai_assistant.engine.calls.write_limit import within_limit
from ai_assistant.engine.interrupts.approval import approved_of
from ai_assistant.engine.lifecycle.object_lock import check_rows_free
from ai_assistant.engine.snapshots import Keeper
from ai_assistant.engine.storage.notifications import ring_pages
from ai_assistant.engine.storage.units import in_tool_thread, is_transient, read_again
from ai_assistant.exceptions import Differs, Refused, ToolFailed
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import STOPPING, Run
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.identity.session import (
    AccessRevoked,
    check_may_write,
    check_user,
)
from ai_assistant.tools.result import from_value, permission_denied_result
from ai_assistant.types import WRITING, RunContext, ToolResult


async def made_ready(attempt: Attempt) -> Outcome | RunContext:
    """
    Do all that may take long, within the tool's time; return the call's context.

    That is code of the site, which decides whether the tool is available here, and
    the tool's `prepare`. Return the outcome of the call if it ends with that.
    """
    try:
        async with asyncio.timeout(attempt.timeout_s):
            return await in_tool_thread(_prepared, attempt)
    except TimeoutError:
        attempt.report.is_over = True
        return timed_out(attempt)


def _prepared(attempt: Attempt) -> Outcome | RunContext:
    ready, prepare = _asked(attempt), attempt.tool.execution.prepare
    if attempt.tool.execution.external or attempt.report.is_over:
        prepare = None  # it has no write phase, or the engine no longer waits for it
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
    """Return the context of the call, or its outcome if it is refused."""
    try:
        return read_again(lambda: context_for(attempt))
    except Exception as error:
        if isinstance(error, AccessRevoked) or is_transient(error):
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
        raise Refused("permission", permission_denied_result(call.name).error)
    check_policy(run, call, tool, user)
    check_version(call, tool)
    check_approved(call)
    if tool.effect in WRITING:
        check_may_write(run)
    return replace(
        ready,
        user=user,
        state=ready.state.fresh(),  # an attempt before this one was taken back
        actions=attempt.report.reporting(ready.actions),
    )


TOLD = 5  # things that are not as they were shown


def carry_out_write(attempt: Attempt, ready: RunContext) -> Outcome | Differs:
    """
    Write, inside the transaction that records the result.

    What differs from what the person was shown is rolled back: the outcome is then
    `Differs`, and the call has to be asked again.
    """

    def write() -> ToolResult:
        # With the lease checked: what the person has stopped by now does not happen.
        if Run.objects.filter(STOPPING, pk=attempt.run.pk).exists():
            raise AccessRevoked("stopped", "")
        context = rechecked(attempt, ready)
        shown = shown_before(attempt.call)
        with (
            transaction.atomic(),
            taken_back_with(written_ones()) as take_back,
            within_limit(attempt.tool.execution.write_timeout_s),
        ):
            if shown is not None:
                check_unmoved(shown)
                context.is_as_shown = bool(shown.versions)
                context.actions = replace(context.actions, plan=shown.plan)
            keeper = Keeper(context.module, lambda: context)
            with recording() as recorder:
                value = invoke(attempt, attempt.tool.handler, context)
                keep_state(attempt, context)
                result = from_value(attempt.call.name, value)
            if not result.ok:
                take_back()  # what failed has changed nothing
                return result
            check_valid(attempt.tool, context, recorder)
            if shown is not None and not shown.plan:
                _check_as_shown(shown, recorder)
            check_rows_free(recorder.rows, attempt.run)
            keeper.keep(store(recorder, attempt.run, attempt.call, context.user))
            ring_pages(attempt.run, (row.label for row in recorder.rows))
        return result

    try:
        return guarded(attempt.call, write)
    except Differs as differs:
        return differs


def checked_for_claim(attempt: Attempt, ready: RunContext) -> bool:
    """
    Check once more what happens outside of the transaction, before it is claimed.

    Raise what `rechecked` does, and Differs if a shown row is not as it was.
    """
    rechecked(attempt, ready)
    shown = shown_before(attempt.call)
    if shown is not None:
        check_unmoved(shown)
    return True


def shown_before(call: ToolCall) -> Changes | None:
    """Return what the person approved, if that was shown as a difference."""
    last = approved_of(call).last()
    if last is None or last.proposal is None:
        return None
    return stored.from_json(last.proposal)


def check_unmoved(shown: Changes) -> None:
    """Raise Differs if a row that is to be changed is not as it was shown."""
    if stale_rows(shown.versions):
        raise Differs(has_moved())


def has_moved() -> str:
    """Return why an approval does not count any more, after others changed a row."""
    return _("It has been changed by somebody else since it was shown. Check it again.")


def because_unexpected(unexpected: Sequence[str]) -> str:
    """Return why it does not count, if other things happen than were shown."""
    told = " ".join(unexpected[:TOLD])
    if all(isinstance(one, UnexpectedDifference) for one in unexpected):
        return _("It would change more than was shown: %(what)s") % {"what": told}
    if all(isinstance(one, MissingDifference) for one in unexpected):
        return _("It would change less than was shown: %(what)s") % {"what": told}
    return _("It would differ from what was shown: %(what)s") % {"what": told}


def _check_as_shown(shown: Changes, recorder: Recorder) -> None:
    """Raise Differs, with what really happens, if that is not what was shown."""
    unexpected = unexpected_changes(shown, recorder)
    if not unexpected:
        return
    found = completed(shown, recorder)
    if found.is_empty and not recorder.gaps:
        raise ToolFailed(_("Nothing would change."))
    raise Differs(because_unexpected(unexpected), found)
