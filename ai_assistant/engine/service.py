"""
The service layer of the engine: views, the admin and commands change things here.

Each function does all of its work: in the database, in the executor, and for the
followers. What they only read comes from `ai_assistant.engine.queries`.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import OperationalError
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.undo.values import (
    TargetKind,
    UndoPlan,
    UndoRequest,
    UndoTarget,
)
from ai_assistant.engine.calls.editing import (
    WrongValues,
    edit_form,
    edited,
    in_form_time,
)
from ai_assistant.engine.execution.dequeue import SendNowRequest
from ai_assistant.engine.execution.dequeue import send_now as store_send_now
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.presence import is_left_alone, nothing_works
from ai_assistant.engine.execution.runner import Loaded, load_new
from ai_assistant.engine.execution.sweep import give_out_calls, sweep_once
from ai_assistant.engine.intake import conversations
from ai_assistant.engine.intake.client_runs import (
    Given,
    names_newest,
    note_end,
    take_answers,
)
from ai_assistant.engine.intake.conversations import (
    CONVERSATION_NAME_CHARS,
    FLAGS,
    deleted_ending,
    purge_deleted,
    purge_unused,
)
from ai_assistant.engine.intake.retries import (
    Version,
    again_submission,
    edited_submission,
    ended_run,
    regenerate_submission,
)
from ai_assistant.engine.intake.submission import (
    Accepted,
    ClientNames,
    SentPage,
    Submission,
    accept,
    check_unused,
    clean_text,
)
from ai_assistant.engine.interrupts.answers import answer as store_answer
from ai_assistant.engine.interrupts.base import (
    ANSWER_CHARS,
    Answer,
    kind_names,
    waiting_for_person,
)
from ai_assistant.engine.interrupts.browser import (
    VALUE_CHARS,
    FromPage,
    claim_call,
    finish_call,
    open_requests,
)
from ai_assistant.engine.interrupts.question import kind_of, options_of
from ai_assistant.engine.lifecycle import queue
from ai_assistant.engine.lifecycle.finish import STOPPED, Ending
from ai_assistant.engine.lifecycle.object_lock import any_locks
from ai_assistant.engine.lifecycle.revocation import revoke
from ai_assistant.engine.lifecycle.scope import RunScope, with_page
from ai_assistant.engine.lifecycle.stop import stop as store_stop
from ai_assistant.engine.queries import get_or_404, runs
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.branches import show_before, show_branch
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import (
    in_db,
    in_tool_thread,
    in_write_thread,
    refusal_of,
    unless_locked,
)
from ai_assistant.engine.undo import Undoing, Undone, read_plan, read_progress
from ai_assistant.engine.undo import stop_undo as request_stop
from ai_assistant.exceptions import Refused
from ai_assistant.models.run import Channel, RunState
from ai_assistant.request_context import of_no_request
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import UserKey

T = TypeVar("T")

RING_AFTER_S = 0.02


@dataclass(frozen=True, slots=True)
class Stored:
    """A message that was accepted, and what its run needs, if this process has it."""

    accepted: Accepted
    loaded: Loaded | None = None


async def send(submission: Submission) -> Accepted:
    """
    Accept a message and have its run executed, here or by a worker.

    Raise Refused no_executor if nothing would work on it.
    """
    stored = await in_db(store, submission, stage=Stage.ACCEPT)
    launch(submission, stored)
    return stored.accepted


def store(submission: Submission) -> Stored:
    """
    Accept a message, in a thread of the engine. `launch` must follow, whatever happens.

    Raise Refused no_executor if nothing would work on it.
    """
    _check_executor()
    with _refusing():
        return _with_load(accept(submission, owner=_new_owner()))


def launch(submission: Submission, stored: Stored) -> None:
    """Have a message that was stored executed, here or by a worker."""
    _go_on(submission.user_id, stored)


async def send_now(wanted: SendNowRequest) -> Accepted:
    """
    Send a message that waits, or let the queue continue.

    Raise Refused no_executor if nothing would work on it.
    """
    stored = await _of_person(_send_now, wanted, stage=Stage.ACCEPT)
    _go_on(wanted.user_id, stored)
    return stored.accepted


async def drop_queued(user_id: UserKey, conversation_id: UUID, queued_id: UUID) -> None:
    """Drop a waiting message. Raise Refused: not_found, or sent."""
    await _of_person(queue.drop, user_id, conversation_id, queued_id)
    _ring(user_id, conversation_id, queued_id)


async def move_queued(
    user_id: UserKey, conversation_id: UUID, queued_id: UUID, by: int
) -> None:
    """Move a message that waits by so many places. Raise Refused: not_found, or sent."""
    await _of_person(partial(queue.move, by=by), user_id, conversation_id, queued_id)
    _ring(user_id, conversation_id, queued_id)


async def answer(given: Answer, form: Mapping[str, Any] | None = None) -> None:
    """
    Record an answer and let the run continue.

    `form` is what the person wrote into the form of a proposal, if it was edited.
    Raise WrongValues if that is not valid.
    """
    if given.decision == "edit":
        # Code of the site validates it: it may be slow, the engine must not be.
        named = given.user_id, given.interrupt_id
        wrote = await in_form_time(*named, partial(edited, *named, form or {}))
        given = replace(given, edited=wrote)
    decided = await _of_person(store_answer, given)
    if decided.queued:
        _wake()
    else:
        await _give_out()  # an approved background call is not queued
    _ring(given.user_id, decided.conversation_id, decided.run_id)


async def go_on(client: ClientNames, run_id: UUID, given: Given) -> int:
    """
    Record all that a client says to a waiting run, and let the run continue.

    Return the number of the event after which its stream begins.
    """
    decided, after = await _of_person(take_answers, client, run_id, given)
    if decided.queued:
        _wake()
    else:
        await _give_out()  # an approved background call is not queued
    _ring(given.user_id, decided.conversation_id, decided.run_id)
    return after


async def claim_for_page(said: FromPage) -> bool:
    """Return whether the page that asks is the one that executes a call."""
    return await _of_person(claim_call, said)


async def result_of_page(said: FromPage) -> None:
    """Record the result that a page reports of its call, and let the run continue."""
    # Code of the site describes the page: it may be slow, the engine must not be.
    whole = await in_tool_thread(with_page, said)
    decided = await _of_person(finish_call, whole)
    if decided.queued:
        _wake()
    _ring(said.user_id, decided.conversation_id, decided.run_id)


async def stop(user_id: UserKey, run_id: UUID, ending: Ending = STOPPED) -> None:
    """Stop a run of the user. Raise Refused not_found for another's."""
    run = await in_db(lambda: get_or_404(runs(user_id), run_id))
    await _stop(run_id, ending)
    _ring(user_id, run.conversation_id, run_id)


async def stop_left(user_id: UserKey, run_id: UUID) -> None:
    """Stop a run whose client has left, unless it is gone."""
    ending = Ending(
        state=RunState.CANCELLED,
        code="client_left",
        text=_("Stopped: the program that asked has disconnected."),
    )
    with suppress(Refused):  # it was deleted meanwhile
        await stop(user_id, run_id, ending)


async def delete(
    user_id: UserKey, conversation_id: UUID, ip: str = "", *, for_good: bool = False
) -> None:
    """
    Delete a conversation of the user, and stop what works in it.

    It can be restored for some seconds. One that is deleted for good is gone now.
    Raise Refused: not_found, or busy if a run works in what is deleted for good.
    """
    store = partial(conversations.delete, for_good=for_good)
    for run_id in await _of_person(store, user_id, conversation_id, ip):
        await _stop(run_id, deleted_ending())
    _ring(user_id, conversation_id, conversation_id)


async def restore(user_id: UserKey, conversation_id: UUID, ip: str = "") -> None:
    """Give a deleted conversation back. Raise Refused not_found if it is too late."""
    await _of_person(conversations.restore, user_id, conversation_id, ip)


async def rename(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """Rename a conversation. Raise Refused: not_found, empty, too_long, binary."""
    await _of_person(conversations.rename, user_id, conversation_id, name)
    _ring(user_id, conversation_id, conversation_id)


async def flag(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """Pin or archive a conversation, or the reverse. Raise Refused not_found."""
    await _of_person(conversations.flag, user_id, conversation_id, name)


async def mark_read(user_id: UserKey, conversation_id: UUID) -> None:
    """Note that its owner sees a conversation, unless the row is locked now."""
    await in_db(unless_locked, conversations.mark_read, user_id, conversation_id)


async def rate(
    user_id: UserKey,
    run_id: UUID,
    value: str,
    reasons: Sequence[str] = (),
    text: str = "",
) -> None:
    """Keep what a user thinks of an answer. Raise Refused if it cannot be kept."""
    await _of_person(conversations.rate, user_id, run_id, value, reasons, text)


async def again(
    user_id: UserKey, run_id: UUID, key: str, session: SessionStamp
) -> Accepted:
    """Start a new run that continues an ended one."""
    submission = await in_db(
        again_submission, user_id, run_id, key or str(uuid.uuid4()), session
    )
    return await send(submission)


async def switch(user_id: UserKey, run_id: UUID) -> None:
    """Show the branch through a run. Raise Refused: not_found, busy."""
    conversation_id = await _of_person(show_branch, user_id, run_id)
    _ring(user_id, conversation_id, run_id)


async def undo_plan(user_id: UserKey, target: UndoTarget) -> UndoPlan:
    """Return what undoing changes would do now. Raise Refused not_found."""
    # Code of the site says who may do what: it may be slow, the engine must not be.
    return await in_tool_thread(read_plan, user_id, target)


async def undo_progress(user_id: UserKey, target: UndoTarget) -> tuple[int, int]:
    """Return how many changed rows are undone by now, and of how many."""
    return await in_db(read_progress, user_id, target)


async def stop_undo(user_id: UserKey, target: UndoTarget) -> None:
    """End an undo of many rows after the piece that is under way."""
    await in_db(request_stop, user_id, target)


async def undo(request: UndoRequest) -> Undone:
    """
    Undo changes as the plan said that was shown, or return the new plan.

    Raise Refused if nothing is undone.
    """
    undoing = Undoing(request)
    while await in_write_thread(undoing.step):
        pass  # others may write in between
    undone = undoing.undone
    if undone.conversation_id and undone.run_id:
        _ring(request.user_id, undone.conversation_id, undone.run_id)
    return undone


async def go_back(request: UndoRequest) -> Undone:
    """
    Undo what was changed since a message, and show the conversation up to it.

    Without a digest nothing is undone. Raise Refused: as `undo` does, busy, not_found.
    """
    undone = await undo(request) if request.digest else Undone()
    if undone.done and not undone.reason:
        run_id = request.target.id
        conversation_id = await _of_person(show_before, request.user_id, run_id)
        undone.conversation_id = conversation_id
        _ring(request.user_id, conversation_id, run_id)
    return undone


def boot() -> None:
    """Start what this process does for runs. Call it on its event loop."""
    if _executes_here():
        executor().boot()


def wake() -> None:
    """Look for queued runs now, if this process executes any."""
    if _executes_here():
        executor().wake()


def cannot_execute() -> bool:
    """Return whether a message that is sent to this process would never be answered."""
    return not executor().is_alive and is_left_alone()


def _send_now(wanted: SendNowRequest) -> Stored:
    _check_executor()
    return _with_load(store_send_now(wanted, owner=_new_owner()))


def _with_load(accepted: Accepted) -> Stored:
    """Load what was accepted, in this thread, if this process executes it."""
    if accepted.hold is None or accepted.rows is None:
        return Stored(accepted)
    # As in the task of the run: in the language of the site, not of the request.
    return Stored(accepted, of_no_request().run(load_new, accepted.rows))


def _check_executor() -> None:
    if cannot_execute():
        raise Refused("no_executor", nothing_works())


def _new_owner() -> str:
    """Return this process if it can execute another run now."""
    # Without an ASGI server there is no loop that would outlive this request.
    here = _executes_here() and executor().is_alive and executor().has_room
    return executor().owner if here else ""


def _go_on(user_id: UserKey, stored: Stored) -> None:
    """Have what was accepted executed, and notify the followers."""
    accepted = stored.accepted
    if accepted.hold is not None:
        executor().launch(accepted.hold, stored.loaded)
    elif accepted.is_new or accepted.woken or accepted.queued:
        _wake()  # a queue may have come to its end at the same moment
    group = notifications.group_name(user_id, accepted.conversation_id)
    began = accepted.rows.events if accepted.rows else None
    # The model is asked first: drawing the message would take its processor.
    loop, later = asyncio.get_running_loop(), RING_AFTER_S
    if began is None:
        loop.call_later(later, notifications.ring, group, accepted.run_id)
    else:
        loop.call_later(later, notifications.tell, group, accepted.run_id, began)


async def _of_person(
    work: Callable[..., T], *args: object, stage: Stage = Stage.FOLLOW
) -> T:
    """Do what a person asks for. Raise Refused: locked by others, or disk_full."""
    with _refusing():
        return await in_db(work, *args, stage=stage)


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise Refused where a row is locked by others, or the disk is full."""
    try:
        yield
    except OperationalError as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        raise refused from error


async def _stop(run_id: UUID, ending: Ending) -> None:
    stopped = await _of_person(store_stop, run_id, ending)
    if not stopped.ended and _executes_here():
        executor().stop(run_id)


async def _give_out() -> None:
    await in_db(unless_locked, give_out_calls)  # else the sweep does it


def _executes_here() -> bool:
    return bool(conf.get("EXECUTOR") == "web")


def _wake() -> None:
    executor().wake()
    notifications.ring_executors()


def _ring(user_id: UserKey, conversation_id: UUID, run_id: UUID) -> None:
    notifications.ring(notifications.group_name(user_id, conversation_id), run_id)
