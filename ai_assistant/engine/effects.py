"""The write of a tool: bound to what was shown, with images of what it does."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from ai_assistant.changes import compare, store, values
from ai_assistant.changes.moved import moved
from ai_assistant.changes.recorder import Recorder, recording
from ai_assistant.changes.unlike import Less, More
from ai_assistant.changes.values import Changes
from ai_assistant.engine.attempt import Attempt, Outcome, guarded, invoke
from ai_assistant.engine.elsewhere import taken_back_with, written_ones
from ai_assistant.engine.locking import check_rows_free
from ai_assistant.engine.ready import rechecked
from ai_assistant.engine.write_limit import within_limit
from ai_assistant.exceptions import Differs
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import STOPPING, Run
from ai_assistant.safety.identity import Revoked
from ai_assistant.tools.result import from_value
from ai_assistant.types import RunContext, ToolResult

TOLD = 5  # things that are not as they were shown


def carry_out_write(attempt: Attempt, ready: RunContext) -> Outcome | Differs:
    """
    Write, inside the transaction that records the result.

    What differs from what the person was shown is taken back: the outcome is then
    `Differs`, and the call has to be asked again.
    """

    def write() -> ToolResult:
        # Behind the fence: what the person has stopped by now does not happen.
        if Run.objects.filter(STOPPING, pk=attempt.run.pk).exists():
            raise Revoked("stopped", "")
        context = rechecked(attempt, ready)
        shown = shown_before(attempt.call)
        with (
            transaction.atomic(),
            taken_back_with(written_ones()) as take_back,
            within_limit(attempt.tool.write_timeout_s),
        ):
            if shown is not None:
                check_unmoved(shown)
                context.is_as_shown = bool(shown.versions)
            with recording() as recorder:
                value = invoke(attempt, attempt.tool.handler, context)
                result = from_value(attempt.call.name, value)
            if not result.ok:
                take_back()  # what failed has changed nothing
                return result
            if shown is not None:
                _check_as_shown(shown, recorder)
            check_rows_free(recorder.rows, attempt.run)
            store.store(recorder, attempt.run, attempt.call, context.user)
        return result

    try:
        return guarded(attempt.call, write)
    except Differs as differs:
        return differs


def checked_for_claim(attempt: Attempt, ready: RunContext) -> bool:
    """
    Check once more what happens outside of our transaction, before it is claimed.

    Raise what `rechecked` does, and Differs if a shown row is not as it was.
    """
    rechecked(attempt, ready)
    shown = shown_before(attempt.call)
    if shown is not None:
        check_unmoved(shown)
    return True


def shown_before(call: ToolCall) -> Changes | None:
    """Return what the person approved, if that was shown as a difference."""
    approved = call.interrupts.filter(
        kind=Interrupt.Kind.APPROVAL, status=Interrupt.Status.APPROVED
    )
    last = approved.order_by("decided_at", "created_at").last()
    if last is None or last.proposal is None:
        return None
    return values.from_json(last.proposal)


def check_unmoved(shown: Changes) -> None:
    """Raise Differs if a row that is to be changed is not as it was shown."""
    if moved(shown.versions):
        raise Differs(has_moved())


def has_moved() -> str:
    """Return why an approval does not count any more, after others changed a row."""
    return _("It was changed by somebody else since it was shown. Look again.")


def because_unexpected(unexpected: Sequence[str]) -> str:
    """Return why it does not count, if other things happen than were shown."""
    told = " ".join(unexpected[:TOLD])
    if all(isinstance(one, More) for one in unexpected):
        return _("It would change more than was shown: %(what)s") % {"what": told}
    if all(isinstance(one, Less) for one in unexpected):
        return _("It would change less than was shown: %(what)s") % {"what": told}
    return _("It would not be what was shown: %(what)s") % {"what": told}


def _check_as_shown(shown: Changes, recorder: Recorder) -> None:
    """Raise Differs, with what really happens, if that is not what was shown."""
    unexpected = compare.unexpected(shown, recorder)
    if not unexpected:
        return
    because = because_unexpected(unexpected)
    raise Differs(because, compare.changes_of(recorder, shown.title))
