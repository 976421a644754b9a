"""
The service layer of the engine: views, the admin and commands change things here.

Each function does all of its work: in the database, in the executor, and for the
followers. What they only read comes from `ai_assistant.engine.queries`.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.changes.undo.values import (
    TargetKind,
    UndoPlan,
    UndoRequest,
    UndoTarget,
)
from ai_assistant.engine.accounting.meter import ContextMeter, context_meter
from ai_assistant.engine.accounting.prompts import ShownPrompt, stored_prompt
from ai_assistant.engine.accounting.suggestions import written_suggestions
from ai_assistant.engine.calls.editing import (
    WrongValues,
    edit_form,
    edited,
    in_form_time,
)
from ai_assistant.engine.dry_run import DryRun, dry_run
from ai_assistant.engine.execution import prompt
from ai_assistant.engine.execution.alone import look_after
from ai_assistant.engine.execution.dequeue import SendNowRequest
from ai_assistant.engine.execution.dequeue import send_now as store_send_now
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.launch import (
    Stored,
    astart,
    boot,
    cannot_execute,
    check_executor,
    executes_here,
    launch,
    new_owner,
    start,
    sum_up,
    wake,
    wake_all,
    with_load,
)
from ai_assistant.engine.execution.presence import is_worked_on, nothing_works
from ai_assistant.engine.execution.prompt import PartsHere, PromptLook
from ai_assistant.engine.execution.sweep import give_out_calls, sweep_once
from ai_assistant.engine.intake import conversations, mentions, sharing
from ai_assistant.engine.intake.client_runs import (
    Given,
    names_newest,
    note_end,
    take_answers,
)
from ai_assistant.engine.intake.commands import with_command
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
from ai_assistant.engine.intake.sharing import SHARE_DAYS
from ai_assistant.engine.intake.starts import (
    StartedRun,
    StartRequest,
)
from ai_assistant.engine.intake.submission import accept, check_unused, clean_text
from ai_assistant.engine.intake.values import (
    Accepted,
    ClientNames,
    SentPage,
    Submission,
)
from ai_assistant.engine.interrupts.answers import answer as store_answer
from ai_assistant.engine.interrupts.approval import revoke_grant as store_revocation
from ai_assistant.engine.interrupts.base import (
    ANSWER_CHARS,
    Answer,
    kind_names,
    waiting_below,
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
from ai_assistant.engine.storage import notifications, summaries
from ai_assistant.engine.storage.branches import show_before, show_branch
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import (
    in_db,
    in_tool_thread,
    in_write_thread,
    refusing,
    unless_locked,
)
from ai_assistant.engine.undo import (
    Undoing,
    Undone,
    UndoProgress,
    read_plan,
    read_progress,
)
from ai_assistant.engine.undo import stop_undo as request_stop
from ai_assistant.exceptions import CommandAnswered, Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Channel, Run, RunState
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.tools.data.reading.pointing import Mention
from ai_assistant.types import RunContext, UserKey

T = TypeVar("T")


async def send(submission: Submission) -> Accepted:
    """
    Accept a message and have its run executed, here or by a worker.

    Raise Refused no_executor if nothing would work on it; and what `with_command`
    and `sum_up_now` raise.
    """
    try:
        submission = await with_command(submission)
    except CommandAnswered as answered:
        if answered.answer.does != "summary":
            raise
        answer = await sum_up(submission.user_id, submission.conversation_id)
        raise CommandAnswered(answered.name, answer) from None
    stored = await in_db(store, submission, stage=Stage.ACCEPT)
    launch(submission.user_id, stored)
    return stored.accepted


def store(submission: Submission) -> Stored:
    """
    Accept a message, in a thread of the engine. `launch` must follow, whatever happens.

    Raise Refused no_executor if nothing would work on it.
    """
    check_executor()
    with refusing():
        return with_load(accept(submission, owner=new_owner()))


async def send_now(wanted: SendNowRequest) -> Accepted:
    """
    Send a message that waits, or let the queue continue.

    Raise Refused no_executor if nothing would work on it.
    """
    stored = await _of_person(_send_now, wanted, stage=Stage.ACCEPT)
    launch(wanted.user_id, stored)
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
        wake_all()
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
        wake_all()
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
        wake_all()
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


async def share(user: Any, conversation_id: UUID, days: int, ip: str = "") -> str:
    """Make the link of a conversation; return its token. Raise Refused."""
    return await _of_person(sharing.share, user, conversation_id, days, ip)


async def stop_sharing(user: Any, conversation_id: UUID, ip: str = "") -> None:
    """End the link of a conversation. Raise Refused not_found."""
    await _of_person(sharing.stop_sharing, user, conversation_id, ip)


async def open_shared(reader: Any, token: str, ip: str = "") -> Conversation:
    """Return the conversation that a link leads to. Raise Refused not_found."""
    return await _of_person(sharing.open_shared, reader, token, ip)


async def mark_read(user_id: UserKey, conversation_id: UUID) -> None:
    """Note that its owner sees a conversation, unless the row is locked now."""
    await in_db(unless_locked, conversations.mark_read, user_id, conversation_id)


async def revoke_grant(user_id: UserKey, grant_id: int) -> None:
    """Take back what a person has allowed for the rest of an answer."""
    await _of_person(store_revocation, user_id, grant_id)


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
    own = key or str(uuid.uuid4())
    return await send(await in_db(again_submission, user_id, run_id, own, session))


async def switch(user_id: UserKey, run_id: UUID) -> None:
    """Show the branch through a run. Raise Refused: not_found, busy."""
    conversation_id = await _of_person(show_branch, user_id, run_id)
    _ring(user_id, conversation_id, run_id)


async def undo_summary(user_id: UserKey, message_id: UUID) -> None:
    """Take the summary of a conversation back. Raise Refused: not_found, newer."""
    taken = await _of_person(summaries.undo_summary, user_id, message_id)
    _ring(user_id, taken.conversation_id, taken.run_id)


async def undo_plan(user_id: UserKey, target: UndoTarget, by: SessionStamp) -> UndoPlan:
    """Return what an undo in the session of `by` would do. Raise Refused not_found."""
    return await in_tool_thread(read_plan, user_id, target, by)


async def undo_progress(user_id: UserKey, target: UndoTarget) -> UndoProgress:
    """Return how far an undo of many rows is."""
    return await in_db(read_progress, user_id, target)


async def stop_undo(user_id: UserKey, target: UndoTarget) -> None:
    """End an undo of many rows after the piece that is under way."""
    await in_db(request_stop, user_id, target)


async def undo(request: UndoRequest) -> Undone:
    """
    Undo changes as the plan said that was shown, or return the new plan.

    Raise Refused if nothing is undone.
    """
    undoing = await in_db(Undoing, request)
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


def prompts_of(run: Run) -> list[tuple[int, ShownPrompt]]:
    """Return the prompts of a run's steps, by the index of each."""
    steps = run.steps.select_related("run").order_by("index")
    stored = ((step.index, stored_prompt(step)) for step in steps)
    return [(index, found) for index, found in stored if found is not None]


async def next_prompt(user: Any, page_path: str) -> ShownPrompt:
    """Return the prompt that a first message of `user` on a page would get."""
    return await in_db(prompt.next_prompt, user, page_path)


def look_at_prompt(user: Any, page_path: str, text: str = "") -> PromptLook:
    """Return what the model would be told with a first message. Call in a thread."""
    return prompt.look_at_prompt(user, page_path, text)


def parts_here(user: Any, page_path: str) -> PartsHere:
    """Return what applies to a first message of a user on a page. Call in a thread."""
    return prompt.parts_here(user, page_path)


def find_mentions(context: RunContext, text: str) -> list[Mention]:
    """Return what the user may mean by an `@` before `text`. Call in a tool thread."""
    return mentions.find_mentions(context, text)


def _send_now(wanted: SendNowRequest) -> Stored:
    check_executor()
    return with_load(store_send_now(wanted, owner=new_owner()))


async def _of_person(
    work: Callable[..., T], *args: object, stage: Stage = Stage.FOLLOW
) -> T:
    """Do what a person asks for. Raise Refused: locked by others, or disk_full."""
    with refusing():
        return await in_db(work, *args, stage=stage)


async def _stop(run_id: UUID, ending: Ending) -> None:
    stopped = await _of_person(store_stop, run_id, ending)
    if not stopped.ended and executes_here():
        executor().stop(run_id)


async def _give_out() -> None:
    await in_db(unless_locked, give_out_calls)  # else the sweep does it


def _ring(user_id: UserKey, conversation_id: UUID, run_id: UUID) -> None:
    notifications.ring(notifications.group_name(user_id, conversation_id), run_id)
