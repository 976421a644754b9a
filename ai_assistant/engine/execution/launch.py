"""Have what was accepted executed, by this process or by a worker; also what code starts."""

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant import conf
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.presence import is_left_alone, nothing_works
from ai_assistant.engine.execution.runner import Loaded, load_new
from ai_assistant.engine.execution.summing import sum_up_now
from ai_assistant.engine.intake.starts import (
    StartedRun,
    StartRequest,
    accept_start,
    check_migrated,
    check_off_the_loop,
    expected,
    sent_before,
    submission_of,
)
from ai_assistant.engine.intake.values import Accepted, Submission
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, refusing
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Message
from ai_assistant.request_context import of_no_request, outliving
from ai_assistant.types import CommandAnswer, UserKey

logger = logging.getLogger("ai_assistant")

RING_AFTER_S = 0.02


@dataclass(frozen=True, slots=True)
class Stored:
    """A message that was accepted, and what its run needs, if this process has it."""

    accepted: Accepted
    loaded: Loaded | None = None


def boot() -> None:
    """Start what this process does for runs. Call it on its event loop."""
    if executes_here():
        executor().boot()


def wake() -> None:
    """Look for queued runs now, if this process executes any."""
    if executes_here():
        executor().wake()


def cannot_execute() -> bool:
    """Return whether a message that is sent to this process would never be answered."""
    return not executor().is_alive and is_left_alone()


def with_load(accepted: Accepted) -> Stored:
    """Load what was accepted, in this thread, if this process executes it."""
    if accepted.hold is None or accepted.rows is None:
        return Stored(accepted)
    # As in the task of the run: of the request it has what is stored.
    return Stored(accepted, of_no_request().run(load_new, accepted.rows))


def check_executor() -> None:
    """Raise Refused no_executor if nothing would work on a message."""
    if cannot_execute():
        raise Refused("no_executor", nothing_works())


def new_owner() -> str:
    """Return this process if it can execute another run now."""
    # Without an ASGI server there is no loop that would outlive this request.
    here = executes_here() and executor().is_alive and executor().has_room
    return executor().owner if here else ""


def launch(user_id: UserKey, stored: Stored) -> None:
    """Have what was accepted executed, and notify the followers."""
    accepted = stored.accepted
    if accepted.hold is not None:
        executor().launch(accepted.hold, stored.loaded)
    elif accepted.is_new or accepted.woken or accepted.queued:
        wake_all()  # a queue may have come to its end at the same moment
    group = notifications.group_name(user_id, accepted.conversation_id)
    began = accepted.rows.events if accepted.rows else None
    # The model is asked first: drawing the message would take its processor.
    loop, later = asyncio.get_running_loop(), RING_AFTER_S
    if began is None:
        loop.call_later(later, notifications.ring, group, accepted.run_id)
    else:
        loop.call_later(later, notifications.tell, group, accepted.run_id, began)


def launch_from_thread(user_id: UserKey, accepted: Accepted) -> None:
    """Have what was accepted executed, from a thread that need have no event loop."""
    wake()
    group = notifications.group_name(user_id, accepted.conversation_id)
    notifications.ring_from_thread(group, accepted.run_id)


def executes_here() -> bool:
    """Return whether this process is one that executes runs."""
    return bool(conf.get("EXECUTOR") == "web")


def wake_all() -> None:
    """Have queued runs looked for, here and in the processes of workers."""
    executor().wake()
    notifications.ring_executors()


# --- what code of the site starts ---


def start(wanted: StartRequest, *, on_commit: bool = True) -> StartedRun:
    """
    Start a run for code of the site, in its thread and with its connection.

    In a transaction the run is stored after the commit, unless `on_commit` is False:
    then it is stored now, as part of the transaction. Raise Refused: async on an event
    loop, not_migrated, and what `submission_of`, `expected` and `accept` raise.
    """
    check_off_the_loop()
    with refusing():
        check_migrated()
        submission = submission_of(wanted)
        if (before := sent_before(submission)) is not None:
            return before
        started = expected(submission)
        if on_commit and connection.in_atomic_block:
            later = partial(_start_later, submission, started)
            transaction.on_commit(later, robust=True)
        else:
            _start(submission, started)
    return started


async def astart(wanted: StartRequest) -> StartedRun:
    """Do as `start` does, for a caller on an event loop."""
    return await in_db(start, wanted, stage=Stage.ACCEPT)


def _start(submission: Submission, started: StartedRun) -> None:
    accepted = accept_start(submission, started)
    if accepted is not None:
        launch_from_thread(submission.user_id, accepted)


def _start_later(submission: Submission, started: StartedRun) -> None:
    """Do so after the commit of the site's transaction: nobody else could be told."""
    try:
        with refusing():
            _start(submission, started)
    except Refused as refused:
        started.refused = refused
        logger.error(  # noqa: TRY400 - it is a sentence
            "run %s of user %s was not started: %s",
            *(started.run_id, submission.user_id, refused),
        )


# --- what is summed up ---

SUMMARY_WAIT_S = 10.0  # for which a request waits for a summary


async def sum_up(user_id: UserKey, conversation_id: UUID) -> CommandAnswer:
    """
    Have a conversation summed up; of what takes long, say that it is under way.

    A browser would send the command again. Without a loop that stays it has to wait.
    """
    work = outliving(_summed_up(user_id, conversation_id))
    wait_s = SUMMARY_WAIT_S if executor().is_alive else None
    await asyncio.wait([work], timeout=wait_s)
    if not work.done():
        work.add_done_callback(_note_failure)
        said = _("It is being summed up. The conversation shows it when it is done.")
        return CommandAnswer(text=said)
    made = work.result()
    count = made.parts[0]["count"]
    said = ngettext(
        "Summed up: %(n)d message. The newer ones stay as they are.",
        "Summed up: %(n)d messages. The newer ones stay as they are.",
        count,
    )
    return CommandAnswer(text=said % {"n": count})


async def _summed_up(user_id: UserKey, conversation_id: UUID) -> Message:
    try:
        with refusing():
            return await sum_up_now(user_id, conversation_id)
    finally:
        group = notifications.group_name(user_id, conversation_id)
        notifications.ring(group, conversation_id)


def _note_failure(work: "asyncio.Future[Message]") -> None:
    error = None if work.cancelled() else work.exception()
    if error is not None:  # the conversation says so
        logger.info("a conversation was not summed up: %s", error)
