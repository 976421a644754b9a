"""Execute one stretch of a run: the loop, with everything it needs, made durable."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing, closing
from functools import partial
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext as _

from ai_assistant.configuration.rows import refresh
from ai_assistant.context.page import load_views
from ai_assistant.engine.calls.schedule import DurableCalls
from ai_assistant.engine.execution.answer import is_answer
from ai_assistant.engine.execution.ending import chain_text, end
from ai_assistant.engine.execution.hooked_calls import HookedCall, asked_calls
from ai_assistant.engine.execution.reply import ProfileModel
from ai_assistant.engine.execution.resume import (
    Outcome,
    Plan,
    judge_interrupted,
    load_plan,
    plan_of,
    unknown_ending,
)
from ai_assistant.engine.execution.steps import StepReply, store_reply
from ai_assistant.engine.execution.updates import (
    TextUpdates,
    kept_by,
    leave_kept,
    tell_state,
    tell_wait,
)
from ai_assistant.engine.intake.values import NewRun
from ai_assistant.engine.lifecycle.commits import Closing, Work
from ai_assistant.engine.lifecycle.finish import (
    BUDGET,
    SUCCEEDED,
    Ending,
    stopped,
)
from ai_assistant.engine.lifecycle.hooks import in_db_asking
from ai_assistant.engine.lifecycle.object_lock import take, target_of
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.writer import Flusher, RunWriter
from ai_assistant.engine.loop import CallDraft, Finished, LoopItem, Waiting
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.announcements import announce_now
from ai_assistant.engine.storage.lease import Hold
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.events import Event, ReasoningContent, StepFinished, TextContent
from ai_assistant.exceptions import (
    Limited,
    LostLease,
    ModelError,
    Refused,
    first_error,
)
from ai_assistant.hooks.points import (
    AnswerGiven,
    ModelReplied,
)
from ai_assistant.hooks.running import Asks, aanswered, answered
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import STOPPING, Run, RunState
from ai_assistant.providers.errors import error_text
from ai_assistant.request_context import at_depth
from ai_assistant.safety.budgets.ledger import settle_open
from ai_assistant.safety.identity.session import AccessRevoked
from ai_assistant.signals import step_finished
from ai_assistant.tools.result import HOOK
from ai_assistant.types import ModelReply

logger = logging.getLogger("ai_assistant")
Loaded = tuple[Plan, ProfileModel | None]


async def execute(
    hold: Hold, flusher: Flusher, loaded: Loaded | None = None
) -> Outcome:
    """
    Execute a run until it ends or waits; return what has become of it.

    Return without an error if another process has taken the run over. Cancelling
    leaves the run as it is; if a stop was requested, the run is ended. `loaded` is
    what `load_new` has returned.
    """
    try:
        if loaded is None:
            loaded = await in_db_asking(_load(hold.run_id), stage=Stage.LOAD)
        plan, model = loaded
    except Run.DoesNotExist:
        return Outcome.OTHER
    group = notifications.group_name(plan.run.user_id, plan.run.conversation_id)
    writer = RunWriter(hold, group, flusher)
    try:
        # All of its threads get this from the task; see `request_context`.
        with at_depth(plan.run.start_depth), plan.run.as_sent():
            ending = await _to_its_end(plan, model, writer)
            if ending is not None:
                return await end(plan, ending, writer)
    except LostLease:
        logger.info("run %s is executed by another process", hold.run_id)
    return Outcome.OTHER


def _load(run_id: UUID) -> Asks[Loaded]:
    """Return how the run continues; for a new one with its first request ready."""
    load_views()
    refresh()
    plan = load_plan(run_id)
    if plan.ending is not None or plan.run.epoch > 1 or plan.state.calls_open:
        return plan, None
    with plan.run.as_sent():
        return plan, (yield from _ready_model(plan))


def load_new(rows: NewRun) -> Loaded | None:
    """
    Return the same for a run that was stored just now, by this thread.

    None if that fails: its task tries it again.
    """
    try:
        load_views()
        refresh()
        said = [rows.message] if rows.is_first else None
        with rows.run.as_sent():
            plan = plan_of(rows.run)
            if plan.ending:
                return plan, None
            return plan, answered(_ready_model(plan, said))
    except Exception:
        logger.warning("run %s is read once more", rows.run.pk, exc_info=True)
        return None


def _ready_model(
    plan: Plan, said: list[Message] | None = None
) -> Asks[ProfileModel | None]:
    try:
        model = ProfileModel(plan.run)
        yield from model.prepare(plan.user, said)
    except Exception:  # noqa: BLE001 - handled where the run ends
        return None
    return model


async def _to_its_end(
    plan: Plan, model: ProfileModel | None, writer: RunWriter
) -> Ending | None:
    """
    Return how the run ended; None if it waits.

    Raise LostLease, or the error of a database that is away.
    """
    try:
        ending = await _prelude(plan, writer)
        if ending is None:
            await _lock_object(plan, writer)
        return ending or await _drive(plan, model or ProfileModel(plan.run), writer)
    except asyncio.CancelledError:
        ending = await in_db(_asked_to_stop, plan.run.pk)
        task = asyncio.current_task()
        if ending is None or task is None:
            raise
        task.uncancel()
        return ending
    except Exception as raised:  # noqa: BLE001 - the edge of the run
        return _ending_of(plan, first_error(raised))


async def _prelude(plan: Plan, writer: RunWriter) -> Ending | None:
    """Settle what an earlier attempt left unfinished."""
    if plan.run.epoch > 1:
        facts = [*plan.facts]

        def settle() -> list[Event]:
            settle_open(plan.run)
            return facts + judge_interrupted(plan.run)

        await writer.commit(settle)
        if ending := await in_db(unknown_ending, plan.run):
            return ending
    return plan.ending


async def _lock_object(plan: Plan, writer: RunWriter) -> None:
    """Keep others from saving the object of the page meanwhile, if its module wants."""
    if not plan.wants_lock:
        return
    run = plan.run
    target = await in_tool_thread(target_of, run)
    if target is None:
        return

    def work() -> list[Event]:
        take(run, target)
        return []

    await writer.commit(work)


FIRST_TURNS = 3  # of the event loop, in which a first text gets out to its client
TURN_S = 0.004  # for which a flood of text may keep it


class _Turns:
    """
    Releases the event loop, which a model may never do that says all at once.

    Its text is buffered then, and reading it waits for nothing.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._taken_at = self._loop.time()

    async def after(self, item: LoopItem) -> None:
        """Let others have their turns, if it is time for that."""
        is_first = isinstance(item, TextContent | ReasoningContent) and not item.offset
        if not is_first and self._loop.time() - self._taken_at < TURN_S:
            return
        for _turn in range(FIRST_TURNS if is_first else 1):
            await asyncio.sleep(0)
        self._taken_at = self._loop.time()


async def _drive(plan: Plan, model: ProfileModel, writer: RunWriter) -> Ending | None:
    calls, turns = DurableCalls(plan.run, writer, model.hooks), _Turns()
    plan.hooks = model.hooks
    plan.hooks.scope = plan.hooks.scope or RunScope(plan.run, plan.user)
    model.writer = writer
    if not model.has_begun:
        await tell_state(model.hooks, RunState.RUNNING)
    loop = plan.loop(model, calls, plan.state, plan.limits, is_answer=is_answer)
    async with aclosing(loop) as items:
        with closing(TextUpdates(model.hooks)) as updates:
            async for item in items:
                if isinstance(item, Waiting):
                    await tell_wait(model.hooks)
                    return None
                if isinstance(item, Finished):
                    return _of_loop(item, plan)
                if isinstance(item, ModelReply):
                    updates.close()
                await _take(item, plan, writer, model)
                if isinstance(item, TextContent):
                    updates.add(item, plan.state.step_index)
                await turns.after(item)
    return None


async def _take(
    item: LoopItem, plan: Plan, writer: RunWriter, model: ProfileModel
) -> None:
    if writer.lost.is_set():
        raise LostLease(f"Run {plan.run.pk} was taken over.")
    match item:
        case TextContent() | ReasoningContent():
            writer.text(item)
        case CallDraft():
            writer.draft(item)
        case ModelReply():
            await _take_reply(item, plan, writer, model)
        case Waiting() | Finished():
            return
        case StepFinished() if plan.last_reply is None:
            writer.note(item)
            announce_now(step_finished, Run, run_id=plan.run.pk, index=item.index)
        case StepFinished() if plan.last_reply and plan.last_reply.reply.calls:
            return  # it is stored behind them
        case _:
            writer.note(item)


async def _take_reply(
    reply: ModelReply, plan: Plan, writer: RunWriter, model: ProfileModel
) -> None:
    """Store a reply; the one that ends the run is stored with its end."""
    if is_answer(reply):
        plan.last_reply = await aanswered(_asked(reply, plan, model))
        leave_kept(model.hooks, writer)
    else:
        await writer.commit_asking(_step(reply, plan, model))


def _step(
    reply: ModelReply, plan: Plan, model: ProfileModel
) -> Asks[list[Work | Closing]]:
    own = yield from _asked(reply, plan, model)
    return [*kept_by(model.hooks), partial(store_reply, plan.run.pk, own)]


def _asked(reply: ModelReply, plan: Plan, model: ProfileModel) -> Asks[StepReply]:
    """Return a reply as it is stored, with what hooks make of it."""
    hooked = yield from _hooked(reply, plan, model)
    return StepReply(
        index=plan.state.step_index,
        reply=reply,
        model=model.name,
        profile=model.profile_name,
        fallback_code=model.fallback_code,
        offer=model.offer,
        prompt=model.prompt,
        is_reserved=model.spending.has_budgets,
        hooked=hooked,
    )


def _hooked(
    reply: ModelReply, plan: Plan, model: ProfileModel
) -> Asks[Mapping[int, HookedCall]]:
    """Let hooks see a reply, and judge its calls, before it is stored."""
    hooks, step = model.hooks, plan.state.step_index
    calls = tuple((call.name, call.arguments_text) for call in reply.calls)
    replied = ModelReplied(
        text=reply.text,
        calls=calls,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        model=model.name,
        step=step,
    )
    hooks.ask_along(hooks.at("after_model_response"), replied)
    if is_answer(reply):
        given = AnswerGiven(text=reply.text, message_id=reply.message_id, step=step)
        hooks.ask_along(hooks.at("response_complete"), given)
        if not calls:
            return {}  # they are asked at the end, which follows and is stored with it
    # Of too many calls none is carried out.
    is_within = len(calls) <= plan.limits.calls
    asked = asked_calls(hooks, reply, model.offer, step) if is_within else []
    outcomes = yield from hooks.asks_each([(call.hooks, call.asking) for call in asked])
    return {
        call.requested.position: call.hooked(outcome)
        for call, outcome in zip(asked, outcomes, strict=True)
    }


def _ending_of(plan: Plan, error: Exception) -> Ending:
    if isinstance(error, LostLease | OperationalError | InterfaceError):
        # A lost database ends no run: the lease expires, and the run is taken over.
        raise error
    if isinstance(error, ModelError):
        return Ending(
            state=RunState.FAILED,
            code=error.code,
            text=error_text(error),
            detail=error.detail,
            wait_s=error.retry_after_s or 0.0,
        )
    if isinstance(error, Limited):
        return Ending(
            state=RunState.LIMITED,
            code=BUDGET,
            text=str(error),
            opens_at=error.opens_at,
        )
    if isinstance(error, AccessRevoked):
        return Ending(state=RunState.CANCELLED, code=error.code, text=str(error))
    if isinstance(error, Refused) and error.code == HOOK:
        return Ending(state=RunState.FAILED, code=error.code, text=str(error))
    logger.error("run %s failed", plan.run.pk, exc_info=error)
    return Ending(
        state=RunState.FAILED,
        code="internal",
        text=_(
            "The assistant failed because of an internal error. What was said so far "
            "is kept. Try again."
        ),
        detail=f"{type(error).__name__}: {error}",
    )


def _asked_to_stop(run_id: UUID) -> Ending | None:
    asked = Run.objects.filter(STOPPING, pk=run_id).select_related("stop_request")
    run = asked.first()
    return None if run is None else stopped(run)


def _of_loop(item: Finished, plan: Plan) -> Ending:
    if item.outcome == "succeeded":
        return SUCCEEDED
    run, bounds = plan.run, plan.limits
    steps = bounds.steps + run.chain_steps
    sentences = {
        "steps": chain_text(steps)
        if run.chain
        else _("Stopped after %(n)d steps. Continue, or ask for less at once.")
        % {"n": steps},
        "calls": _(
            "The model asked for more than %(n)d things at once. None of them was "
            "carried out. Ask for less at once."
        )
        % {"n": bounds.calls},
        "same_failures": _(
            "Stopped: the same call failed %(n)d times. Rephrase the request."
        )
        % {"n": bounds.same_failures},
        "length": _("The model ran out of room for its answer. Ask it to continue."),
        "running_s": _("Stopped after %(n)d minutes. Ask it to continue.")
        % {"n": bounds.running_s / 60},
    }
    return Ending(
        state=RunState.LIMITED, code=f"limit_{item.limit}", text=sentences[item.limit]
    )
