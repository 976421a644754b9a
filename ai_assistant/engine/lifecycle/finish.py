"""The end of a run: every call gets its result, and nothing stays open."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.audit import run_ended
from ai_assistant.engine.interrupts.base import close_interrupts
from ai_assistant.engine.interrupts.results import (
    is_external,
    outcome_unknown,
    record_result,
)
from ai_assistant.engine.lifecycle.delegated import answer_above
from ai_assistant.engine.lifecycle.object_lock import let_go
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.engine.storage.eventlog import open_messages, partial_texts
from ai_assistant.engine.storage.lease import db_id
from ai_assistant.events import CallResult, Event, RunError, RunFinished
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.run import Run, RunState, StopRequest
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.safety.budgets.ledger import settle_open
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.signals import run_finished
from ai_assistant.text.redaction.redact import redact
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.types import ToolResult

logger = logging.getLogger("ai_assistant")


def clean_up_later(run: Run) -> None:
    """Call the module's `cleanup` once the end of the run is committed."""
    module = module_by_id(run.module)
    if type(module).cleanup is not ContextModule.cleanup:
        transaction.on_commit(partial(_clean_up, run, module))


def _clean_up(run: Run, module: ContextModule) -> None:
    try:
        module.cleanup(RunScope(run, fresh_user(run.user_id)).context)
    except Exception:
        # The run has ended already, whatever the site's code says to that.
        logger.exception("cleanup of module %r failed", module.id)


DETAIL_CHARS = 4000
BUDGET = "budget"  # the code of a run that no budget had room for
WRITTEN = (  # at the end of a run
    *("state", "owner", "error_code", "error_text", "error_detail", "opens_at"),
    *("session_sealed", "running_s", "finished_at"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """Why a run ends. `text` is a sentence for the person."""

    state: RunState
    code: str = ""
    text: str = ""
    detail: str = ""  # for the operator
    opens_at: datetime | None = None  # when what has limited the run is over
    wait_s: float = 0.0  # instead: after so many seconds, as a provider says it


STOPPED = Ending(state=RunState.CANCELLED, code="stopped")
SUCCEEDED = Ending(state=RunState.SUCCEEDED)


def take_note(run: Run) -> None:
    """
    Copy a request to stop the run into the run's row, and delete the request.

    Requires the run's lease, with `stop_request` read under it.
    """
    wish = getattr(run, "stop_request", None)
    if wish is None:
        return
    if not run.stop_requested:
        run.stop_requested, run.error_code, run.error_text = True, wish.code, wish.text
        run.save(update_fields=["stop_requested", "error_code", "error_text"])
    wish.delete()


def stopped(run: Run) -> Ending:
    """Return the ending of a run that was asked to stop, with the reason if any."""
    wish = None if run.stop_requested else getattr(run, "stop_request", None)
    if wish is not None:
        return Ending(state=RunState.CANCELLED, code=wish.code, text=wish.text)
    return Ending(
        state=RunState.CANCELLED, code=run.error_code or "stopped", text=run.error_text
    )


USED = f"UPDATE {Conversation._meta.db_table} SET updated_at = {{now}} WHERE id = %s"
AT_END = f"""
SELECT stop_requested, root_id IS NOT NULL,
  EXISTS (SELECT 1 FROM {StopRequest._meta.db_table} WHERE run_id = run.id),
  EXISTS (SELECT 1 FROM {ToolCall._meta.db_table}
    WHERE run_id = run.id AND status = '{CallStatus.UNKNOWN}'),
  EXISTS (SELECT 1 FROM {ObjectLock._meta.db_table} WHERE run_id = run.id),
  EXISTS (SELECT 1 FROM {QueuedMessage._meta.db_table}
    WHERE conversation_id = run.conversation_id AND dropped_at IS NULL)
FROM {Run._meta.db_table} run WHERE id = %s
"""
SUCCEED = f"""
UPDATE {Run._meta.db_table} SET state = '{RunState.SUCCEEDED}', owner = '',
  error_code = '', error_text = '', error_detail = '', opens_at = NULL,
  session_sealed = '', running_s = running_s + %s, finished_at = {{now}},
  attempts = 0, tool_versions = %s WHERE id = %s
"""


@dataclass(frozen=True, slots=True)
class AtEnd:
    """What is seen of a run that succeeds, with its lease and its conversation locked."""

    # Nobody has stopped or delegated it, nothing is unknown, and it holds no lock.
    is_plain: bool
    has_queue: bool  # a message waits for its end


def look_at_end(run: Run) -> AtEnd:
    """Lock the conversation of a run, as `finish` does, and look at what is rare."""
    now, moment = clock.time_sql()
    with connection.cursor() as cursor:
        cursor.execute(USED.format(now=now), [*moment, db_id(run.conversation_id)])
        cursor.execute(AT_END, [db_id(run.pk)])
        *special, has_queue = cursor.fetchone()
        return AtEnd(not any(special), bool(has_queue))


def succeed(run: Run, *, running_s: float) -> list[Event]:
    """End a run plainly, in one statement, with its `tool_versions` as they are now."""
    now, moment = clock.time_sql()
    versions = run._meta.get_field("tool_versions").get_db_prep_save(
        run.tool_versions, connection
    )
    with connection.cursor() as cursor:
        arguments = [running_s, *moment, versions, db_id(run.pk)]
        cursor.execute(SUCCEED.format(now=now), arguments)
    run.state, run.owner, run.session_sealed = RunState.SUCCEEDED, "", ""
    clean_up_later(run)
    _announce_end(run)
    return [_last_fact(SUCCEEDED)]


def finish(run_id: UUID, ending: Ending, *, running_s: float = 0.0) -> list[Event]:
    """
    End the run; return the facts. Call it in a transaction that holds its lock.

    What the model had said so far is kept as a message.
    """
    run = Run.objects.select_related("stop_request").get(pk=run_id)
    take_note(run)
    facts: list[Event] = []
    # A run succeeds when the model has nothing open any more.
    if ending.state != RunState.SUCCEEDED:
        facts += _close_calls(run)
        facts += close_interrupts(run.interrupts.all(), Interrupt.Status.CANCELLED)
        said_chars = _keep_partial(run, ending)
        settle_open(run, said_chars=said_chars)
    unknown = run.calls.filter(status=CallStatus.UNKNOWN).exists()
    if unknown and ending.state != RunState.NEEDS_REVIEW:
        ending = _review(ending)
    run.state = ending.state
    run.owner = ""
    run.error_code = ending.code[:64]
    run.error_text = redact(join_surrogates(ending.text))
    run.error_detail = redact(join_surrogates(ending.detail))[:DETAIL_CHARS]
    now = clock.now()
    run.opens_at = ending.opens_at
    if ending.wait_s:
        run.opens_at = now + timedelta(seconds=ending.wait_s)
    run.session_sealed = ""  # its session is not needed any more
    run.running_s += running_s
    run.finished_at = now
    run.save(update_fields=WRITTEN)
    Conversation.objects.filter(pk=run.conversation_id).update(updated_at=now)
    run_ended(run)
    let_go(run)
    clean_up_later(run)
    answer_above(run, ending)
    _announce_end(run)
    return [*facts, _last_fact(ending)]


def _announce_end(run: Run) -> None:
    announce(
        run_finished,
        Run,
        run_id=run.pk,
        conversation_id=run.conversation_id,
        user_id=run.user_id,
        state=str(run.state),
    )


def _close_calls(run: Run) -> list[CallResult]:
    facts: list[CallResult] = []
    for call in run.calls.filter(status__in=OPEN_CALL):
        began = call.status == CallStatus.EXECUTING
        if began and is_external(run, call):
            facts += record_result(call, outcome_unknown(call), status="unknown")
            continue
        error = (
            _("Stopped while running. What it had saved by then stays.")
            if began and call.background
            else _("Not carried out: the run was stopped first.")
        )
        result = ToolResult(ok=False, error=error, error_type="cancelled")
        reason = "stopped" if run.stop_requested else "skipped"
        facts += record_result(call, result, status="cancelled", reason=reason)
    return facts


def _review(ending: Ending) -> Ending:
    return Ending(
        state=RunState.NEEDS_REVIEW,
        code="unknown_outcome",
        text=_(
            "It is unknown whether the last action took effect. Check it, then go on."
        ),
        detail=ending.detail,
    )


def _keep_partial(run: Run, ending: Ending) -> int:
    """Store what the model had begun to say; return how many characters."""
    said_chars = 0
    known = {str(pk) for pk in run.messages.values_list("pk", flat=True)}
    for message_id in open_messages(run.pk, known):
        text, reasoning = partial_texts(run.pk, message_id)
        said_chars += len(text) + len(reasoning)
        parts = [{"type": "reasoning", "text": reasoning}] if reasoning else []
        if text:
            parts.append({"type": "text", "text": text})
        stopped = ending.state == RunState.CANCELLED
        Message.objects.append(
            Message(
                id=message_id,
                conversation_id=run.conversation_id,
                run=run,
                role=Message.Role.ASSISTANT,
                state=Message.State.INTERRUPTED if stopped else Message.State.FAILED,
                parts=parts,
            )
        )
    return said_chars


def _last_fact(ending: Ending) -> Event:
    if ending.state == RunState.SUCCEEDED:
        return RunFinished(outcome="success")
    if ending.state == RunState.CANCELLED:
        return RunFinished(outcome="cancelled")
    text = redact(ending.text)
    return RunError(code=ending.code, message=text, state=ending.state)
