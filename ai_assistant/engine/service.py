"""What the door asks of the engine: database and executor in one call each."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import OperationalError

from ai_assistant import conf
from ai_assistant.engine.calls.editing import edited, in_form_time
from ai_assistant.engine.execution.dequeue import Wanted
from ai_assistant.engine.execution.dequeue import send_now as store_send_now
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.presence import is_left_alone, nothing_works
from ai_assistant.engine.execution.sweep import give_out_calls
from ai_assistant.engine.intake.client_runs import Given, take_answers
from ai_assistant.engine.intake.retries import again_submission
from ai_assistant.engine.intake.submission import (
    Accepted,
    ClientNames,
    Submission,
    accept,
)
from ai_assistant.engine.interrupts.answers import answer as store_answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.interrupts.browser import FromPage, claim, finish_call
from ai_assistant.engine.lifecycle import queue
from ai_assistant.engine.lifecycle.deletion import delete as store_deletion
from ai_assistant.engine.lifecycle.deletion import deleted_ending
from ai_assistant.engine.lifecycle.finish import STOPPED, Ending
from ai_assistant.engine.lifecycle.scope import with_page
from ai_assistant.engine.lifecycle.stop import stop as store_stop
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.branches import show_branch
from ai_assistant.engine.storage.units import (
    in_db,
    in_tool_thread,
    refusal_of,
    unless_locked,
)
from ai_assistant.exceptions import Refused
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import UserKey

T = TypeVar("T")

RING_AFTER_S = 0.02


async def send(submission: Submission) -> Accepted:
    """
    Accept a message and have its run executed, here or by a worker.

    Raise Refused no_executor if nothing would work on it.
    """
    accepted = await _of_person(_accept, submission)
    _go_on(submission.user_id, accepted)
    return accepted


async def send_now(wanted: Wanted) -> Accepted:
    """
    Send a message that waits, or let the queue go on.

    Raise Refused no_executor if nothing would work on it.
    """
    accepted = await _of_person(_send_now, wanted)
    _go_on(wanted.user_id, accepted)
    return accepted


async def drop_queued(user_id: UserKey, conversation_id: UUID, queued_id: UUID) -> None:
    """Drop a message that waits. Raise Refused: not_found, or sent."""
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
    Record an answer and let the run go on.

    `form` is what the person wrote into the form of a proposal, if it was edited.
    Raise engine.edit.WrongValues if that cannot be taken.
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


async def go_on(client: ClientNames, run_id: UUID, given: Given) -> None:
    """Record all that a client says to a waiting run, and let the run go on."""
    decided = await _of_person(take_answers, client, run_id, given)
    if decided.queued:
        _wake()
    else:
        await _give_out()  # an approved background call is not queued
    _ring(given.user_id, decided.conversation_id, decided.run_id)


async def claim_for_page(said: FromPage) -> bool:
    """Tell whether the page that asks is the one that carries a call out."""
    return await _of_person(claim, said)


async def result_of_page(said: FromPage) -> None:
    """Record what a page says came of its call, and let the run go on."""
    # Code of the site describes the page: it may be slow, the engine must not be.
    whole = await in_tool_thread(with_page, said)
    decided = await _of_person(finish_call, whole)
    if decided.queued:
        _wake()
    _ring(said.user_id, decided.conversation_id, decided.run_id)


async def stop(user_id: UserKey, run_id: UUID, ending: Ending = STOPPED) -> None:
    """Stop a run of the user. Raise Refused not_found for another's."""
    conversation_id = await in_db(_conversation_of, user_id, run_id)
    stopped = await _of_person(store_stop, run_id, ending)
    if not stopped.ended and _executes_here():
        executor().stop(run_id)
    _ring(user_id, conversation_id, run_id)


async def delete(user_id: UserKey, conversation_id: UUID, ip: str = "") -> None:
    """Delete a conversation of the user, and stop what works in it."""
    runs = await _of_person(store_deletion, user_id, conversation_id, ip)
    for run_id in runs:
        await stop(user_id, run_id, deleted_ending())
    _ring(user_id, conversation_id, conversation_id)


def renamed(user_id: UserKey, conversation_id: UUID) -> None:
    """Tell who looks at the conversation that it has another title."""
    _ring(user_id, conversation_id, conversation_id)


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


def boot() -> None:
    """Start what this process does for runs. Call it on its event loop."""
    if _executes_here():
        executor().boot()


def cannot_execute() -> bool:
    """Tell whether a message that is sent to this process would never be answered."""
    return not executor().is_alive and is_left_alone()


def _accept(submission: Submission) -> Accepted:
    _check_executor()
    return accept(submission, owner=_new_owner())


def _send_now(wanted: Wanted) -> Accepted:
    _check_executor()
    return store_send_now(wanted, owner=_new_owner())


def _check_executor() -> None:
    if cannot_execute():
        raise Refused("no_executor", nothing_works())


def _new_owner() -> str:
    """Return this process if it can execute another run now."""
    # Without an ASGI server there is no loop that would outlive this request.
    here = _executes_here() and executor().is_alive and executor().has_room
    return executor().owner if here else ""


def _go_on(user_id: UserKey, accepted: Accepted) -> None:
    """Have what was accepted executed, and tell whoever looks on."""
    if accepted.hold is not None:
        executor().launch(accepted.hold)
    elif accepted.is_new or accepted.woken or accepted.queued:
        _wake()  # a queue may have come to its end at the same moment
    # The model is asked first: drawing the message would take its processor.
    asyncio.get_running_loop().call_later(
        RING_AFTER_S, _ring, user_id, accepted.conversation_id, accepted.run_id
    )


async def _of_person(work: Callable[..., T], *args: object) -> T:
    """Do what a person asks for. Raise Refused: locked by others, or disk_full."""
    try:
        return await in_db(work, *args)
    except OperationalError as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        raise refused from error


async def _give_out() -> None:
    await in_db(unless_locked, give_out_calls)  # else the sweep does it


def _executes_here() -> bool:
    return bool(conf.get("EXECUTOR") == "web")


def _wake() -> None:
    executor().wake()
    notifications.ring_executors()


def _ring(user_id: UserKey, conversation_id: UUID, run_id: UUID) -> None:
    notifications.ring(notifications.group_name(user_id, conversation_id), run_id)


def _conversation_of(user_id: UserKey, run_id: UUID) -> UUID:
    found = Run.objects.filter(pk=run_id, user_id=user_id).first()
    if found is None:
        raise Refused("not_found", "")
    return found.conversation_id
