"""Execute one stretch of a run: the loop, with everything it needs, made durable."""

import asyncio
import logging
from contextlib import aclosing
from enum import Enum
from functools import partial
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext as _

from ai_assistant.context.viewparts import load_views
from ai_assistant.engine.calls.schedule import DurableCalls
from ai_assistant.engine.execution.reply import ProfileModel
from ai_assistant.engine.execution.resume import (
    Plan,
    judge_interrupted,
    limits,
    load_plan,
    plan_of,
    unknown_ending,
)
from ai_assistant.engine.execution.steps import Conclusion, StepReply, store_reply
from ai_assistant.engine.intake.submission import NewRun
from ai_assistant.engine.lifecycle.finish import (
    BUDGET,
    SUCCEEDED,
    Ending,
    finish,
    stopped,
)
from ai_assistant.engine.lifecycle.object_lock import take, target_of, wants_lock
from ai_assistant.engine.lifecycle.writer import Closing, Flusher, RunWriter
from ai_assistant.engine.loop import CallDraft, Finished, LoopItem, Waiting, run_loop
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.lease import Hold
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.events import Event, ReasoningContent, TextContent
from ai_assistant.exceptions import Limited, LostLease, ModelError
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import STOPPING, Run, RunState
from ai_assistant.providers.errors import error_text
from ai_assistant.request_context import below
from ai_assistant.safety.budgets.ledger import settle_open
from ai_assistant.safety.identity.session import AccessRevoked
from ai_assistant.types import ModelReply

logger = logging.getLogger("ai_assistant")


Loaded = tuple[Plan, ProfileModel | None]


class Outcome(Enum):
    """What has become of a run in this process."""

    OTHER = "other"  # it waits, has failed or was stopped, or another process has it
    SUCCEEDED = "succeeded"
    LAST = "last"  # it has succeeded, and no message waits for its end


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
            loaded = await in_db(_load, hold.run_id, stage=Stage.LOAD)
        plan, model = loaded
    except Run.DoesNotExist:
        return Outcome.OTHER
    group = notifications.group_name(plan.run.user_id, plan.run.conversation_id)
    writer = RunWriter(hold, group, flusher)
    try:
        # All of its threads get this from the task; see `ambient`.
        with below(plan.run.script_prefix):
            ending = await _to_its_end(plan, model, writer)
        if ending is not None:
            return await _end(plan, ending, writer)
    except LostLease:
        logger.info("run %s is executed by another process", hold.run_id)
    return Outcome.OTHER


async def _end(plan: Plan, ending: Ending, writer: RunWriter) -> Outcome:
    """Store the end of a run, and its last reply with it."""
    running_s, last = writer.running_s(), plan.last_reply
    if last is not None and ending is SUCCEEDED:
        whole = Conclusion(run=plan.run, own=last, running_s=running_s)
        await writer.commit(Closing(do=whole.store, told=whole.told))
        return Outcome.SUCCEEDED if whole.has_queue else Outcome.LAST
    if last is not None:
        writer.defer(partial(store_reply, plan.run.pk, last))
    await writer.commit(partial(finish, plan.run.pk, ending, running_s=running_s))
    return Outcome.SUCCEEDED if ending is SUCCEEDED else Outcome.OTHER


def _load(run_id: UUID) -> Loaded:
    """Return how the run continues; for a new one with its first request ready."""
    load_views()
    plan = load_plan(run_id)
    if plan.ending is not None or plan.run.epoch > 1:
        return plan, None
    return plan, _ready_model(plan)


def load_new(rows: NewRun) -> Loaded | None:
    """
    Return the same for a run that was stored just now, by this thread.

    None if that fails: its task tries it again.
    """
    try:
        load_views()
        plan = plan_of(rows.run)
        said = [rows.message] if rows.is_first else None
        return plan, None if plan.ending else _ready_model(plan, said)
    except Exception:
        logger.warning("run %s is read once more", rows.run.pk, exc_info=True)
        return None


def _ready_model(plan: Plan, said: list[Message] | None = None) -> ProfileModel | None:
    try:
        model = ProfileModel(plan.run)
        with below(plan.run.script_prefix):
            model.prepare(plan.user, said)
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
            await _lock_object(plan.run, writer)
        return ending or await _drive(plan, model or ProfileModel(plan.run), writer)
    except asyncio.CancelledError:
        ending = await in_db(_asked_to_stop, plan.run.pk)
        task = asyncio.current_task()
        if ending is None or task is None:
            raise
        task.uncancel()
        return ending
    except Exception as raised:  # noqa: BLE001 - the edge of the run
        return _ending_of(plan, _first(raised))


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


async def _lock_object(run: Run, writer: RunWriter) -> None:
    """Keep others from saving the object of the page meanwhile, if its module wants."""
    if not wants_lock(run):
        return
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
    calls, turns = DurableCalls(plan.run, writer), _Turns()
    loop = run_loop(model, calls, plan.state, limits())
    async with aclosing(loop) as items:
        async for item in items:
            if isinstance(item, Waiting):
                return None
            if isinstance(item, Finished):
                return _of_loop(item)
            await _take(item, plan, writer, model)
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
            own = StepReply(
                index=plan.state.step_index,
                reply=item,
                model=model.name,
                offer=model.offer,
                is_reserved=model.spending.has_budgets,
            )
            if item.calls:
                await writer.commit(partial(store_reply, plan.run.pk, own))
            else:
                plan.last_reply = own  # the run ends with it
        case Waiting() | Finished():
            return
        case _:
            writer.note(item)


def _first(raised: Exception) -> Exception:
    """Return the error itself, also out of a group of tasks."""
    while isinstance(raised, ExceptionGroup):
        raised = raised.exceptions[0]
    return raised


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


def _of_loop(item: Finished) -> Ending:
    if item.outcome == "succeeded":
        return SUCCEEDED
    bounds = limits()
    sentences = {
        "steps": _("Stopped after %(n)d steps. Continue, or ask for less at once.")
        % {"n": bounds.steps},
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
