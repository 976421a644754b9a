"""The preview of an unapproved call: its changes, computed as the user."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes import stored
from ai_assistant.changes.undo.limits import with_undo_limits
from ai_assistant.changes.values import Changes
from ai_assistant.changes.verify.compare import unexpected_changes
from ai_assistant.changes.verify.description import changes_of
from ai_assistant.changes.verify.trial import completed
from ai_assistant.engine.calls.attempt import (
    TIMEOUT,
    Attempt,
    Outcome,
    context_for,
    guarded,
    invoke,
    timed_out,
)
from ai_assistant.engine.calls.provenance import granted, is_granted
from ai_assistant.engine.calls.trial import tried_out
from ai_assistant.engine.interrupts.approval import APPROVAL, approved_of, withdrawn_of
from ai_assistant.engine.interrupts.base import kind_named
from ai_assistant.engine.interrupts.results import call_moved, record_result
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.units import with_connections
from ai_assistant.events import Event
from ai_assistant.exceptions import Ask, Differs
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.safety.bulkhead import Bulkhead, BulkheadFull, CodeTimedOut
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.tools.adapters.site_request import in_session
from ai_assistant.tools.data.undo.permissions import AdminPermissions
from ai_assistant.types import RunContext, ToolResult

logger = logging.getLogger("ai_assistant")

Proposed = Changes | ToolResult | Ask

# Of their own: previews that hang must not take the threads in which tools work.
_previews = ThreadPoolExecutor(max_workers=64, thread_name_prefix="aia-preview")
_bulkheads: dict[str, Bulkhead] = {}  # one for each tool and model: none waits


async def proposed(attempt: Attempt) -> Proposed:
    """
    Return what the call would change; its result if it cannot be executed.

    Or what the tool asks first: then this is called again, with the answer. Within the tool's timeout. Nothing is written: a trial is rolled back. A preview
    that still hangs from an earlier call is not called.
    """
    tries_out = attempt.tool.approval.preview == "transaction"
    looking = replace(attempt, is_proposal=True, is_trial=tries_out)
    work = partial(_promised, _tried_out if tries_out else _looked_at_whole, looking)
    key = _key(attempt)
    bulkhead = _bulkheads.setdefault(key, Bulkhead())
    safe = partial(with_connections, work)
    try:
        return await bulkhead.aask(_previews, key, safe, timeout_s=attempt.timeout_s)
    except CodeTimedOut:
        logger.warning("the preview of %r took too long", key)
        attempt.report.is_over = True
        return timed_out(attempt)
    except BulkheadFull:
        logger.warning("the preview of %r hangs, and is not called", key)
        attempt.report.is_over = True
        return _hangs(attempt)


def _promised(look: Callable[[Attempt], Proposed], attempt: Attempt) -> Proposed:
    """Return what `look` finds, with what could not be undone of it."""
    found = look(attempt)
    if not isinstance(found, Changes):
        return found
    if refused := _refused_here(attempt, found):
        return refused
    if attempt.tool.execution.external:
        limit = _("What happens outside of this site stays.")
        return replace(found, undoable=False, undo_limits=(limit,))
    user = fresh_user(attempt.run.user_id)
    with in_session(SessionStamp.of(attempt.run)):
        return with_undo_limits(found, AdminPermissions(user))


def _refused_here(attempt: Attempt, found: Changes) -> ToolResult | None:
    """Return the refusal of changes to what stays as it is on the page of the run."""
    run = attempt.run
    locked = RunScope(run, fresh_user(run.user_id)).read_only
    rows = (key.partition(":")[::2] for key in found.versions)
    if locked is None or not any(locked.is_about(*row) for row in rows):
        return None
    return ToolResult(ok=False, error=locked.refusal, error_type="not_here")


def _key(attempt: Attempt) -> str:
    """Return the key of a preview: the tool, and the model if it takes one."""
    model = attempt.call.arguments.get("model", "")
    return (
        f"{attempt.tool.name} {model}" if isinstance(model, str) else attempt.tool.name
    )


def _hangs(attempt: Attempt) -> ToolResult:
    said = _("The preview of “%(name)s” hangs, and is not called until it returns.")
    return ToolResult(
        ok=False, error=said % {"name": attempt.call.label}, error_type=TIMEOUT
    )


def propose(attempt: Attempt, found: Proposed) -> Sequence[Event]:
    """
    Ask the person to approve `found`, or continue if that was allowed before.

    What the tool itself asks comes first: only then it is known what to approve.
    """
    call = attempt.call
    if isinstance(found, ToolResult):
        return record_result(call, found)
    if isinstance(found, Ask):
        facts: Sequence[Event] = kind_named(found.interrupt).ask(call, found)
        return facts
    may_go_on = not _removes(found) and not _was_other_than_shown(call)
    may_go_on = may_go_on and not call.hooked.get("approval")
    if may_go_on and is_granted(attempt.run, attempt.tool, found.model):
        return APPROVAL.approve_by_grant(call, stored.to_json(found), granted())
    return [APPROVAL.open(call, proposal=stored.to_json(found))]


def _removes(found: Changes) -> bool:
    """Return whether rows would go: that is shown each time, as of an inline."""
    kinds = {one.kind for one in found.objects} | {one.kind for one in found.related}
    return "delete" in kinds


def _was_other_than_shown(call: ToolCall) -> bool:
    """
    Return whether a piece of a call was rolled back: now a person has to look.

    What a background tool does is not known before. A grant would let it try for ever.
    """
    return call.background and withdrawn_of(call).exists()


def looked_at(attempt: Attempt, context: RunContext | None = None) -> Proposed:
    """Return the result of the tool's own preview for the arguments of the call."""

    def look() -> object:
        own = context_for(attempt) if context is None else context
        return invoke(attempt, _preview(attempt), own)

    return _checked(attempt, look)


def ask_again(call: ToolCall, differs: Differs) -> Sequence[Event]:
    """Take an approval back: what it was for is not what would happen."""
    ToolCall.objects.filter(pk=call.pk).update(
        approved=False, asks=True, asks_because=differs.because[:300]
    )
    approved_of(call).update(status=Interrupt.Status.CANCELLED)
    call.approved, call.asks = False, True
    if differs.changes is None:
        # The next round computes its preview again.
        ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.PENDING)
        return [call_moved(call, CallStatus.PENDING)]
    return [APPROVAL.open(call, proposal=stored.to_json(differs.changes))]


def _preview(attempt: Attempt) -> Callable[..., Any]:
    preview = attempt.tool.approval.preview
    if not callable(preview):
        raise TypeError(f"Tool {attempt.tool.name!r} has no preview of its own.")
    return preview


def _tried_out(attempt: Attempt) -> Proposed:
    """Run the tool in a transaction, record what it does, and take it back."""

    def work() -> object:
        result, recorder = tried_out(attempt)
        label = str(attempt.tool.display.label)
        return changes_of(recorder, label) if result.ok else result

    return _checked(attempt, work)


def _looked_at_whole(attempt: Attempt) -> Proposed:
    """
    Return the result of the tool's own preview, tried out if it says that it has to be.

    A person then sees at once all that code of the site writes along.
    """
    found = looked_at(attempt)
    if not isinstance(found, Changes) or not found.needs_trial:
        return found
    trial = replace(attempt, is_trial=True)

    def work() -> object:
        result, recorder = tried_out(trial)
        if not result.ok:
            return result
        is_action = any(one.kind == "action" for one in found.objects)
        if not is_action and not unexpected_changes(found, recorder):
            return found
        whole = completed(found, recorder)
        is_nothing = whole.is_empty and not recorder.gaps
        return nothing_happens() if is_nothing else whole

    return _checked(trial, work)


def nothing_happens() -> ToolResult:
    """Return the result of a call of which the page would save nothing."""
    return ToolResult(
        ok=False, error=_("Nothing would change."), error_type="nothing_changes"
    )


def _checked(attempt: Attempt, work: Callable[[], object]) -> Proposed:
    """
    Do `work`; what it raises or returns instead of Changes is the call's result.

    Unless it is an Ask: a tool may need an answer before it can say what it would do.
    """
    found: list[Changes] = []

    def kept() -> object:
        value = work()
        if isinstance(value, Changes):
            found.append(value)
            return None
        if isinstance(value, ToolResult):
            return value
        raise TypeError("a preview returns Changes or a ToolResult")

    outcome: Outcome = guarded(attempt.call, kept)
    return found[0] if found else outcome
