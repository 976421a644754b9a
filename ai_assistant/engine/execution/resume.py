"""The point from which a run continues: its last durable one."""

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.setup import agent_of_run, begin
from ai_assistant.engine.execution.steps import StepReply
from ai_assistant.engine.interrupts.results import (
    is_external,
    outcome_unknown,
    record_result,
)
from ai_assistant.engine.lifecycle.finish import Ending, stopped
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.engine.lifecycle.object_lock import wants_lock
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.loop import Limits, LoopItem, LoopState, run_loop
from ai_assistant.engine.storage.eventlog import open_messages
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import ModelError
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.run import Run, RunState
from ai_assistant.modules.limits import limits_of, tightest
from ai_assistant.providers.errors import error_text
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.identity.session import AccessRevoked, check_user
from ai_assistant.types import Loop


class Outcome(Enum):
    """What has become of a run in this process."""

    OTHER = "other"  # it waits, has failed or was stopped, or another process has it
    SUCCEEDED = "succeeded"
    LAST = "last"  # it has succeeded, and no message waits for its end


@dataclass(kw_only=True, slots=True)
class Plan:
    """`ending` is there if the run has to end instead of going on."""

    run: Run
    user: Any
    state: LoopState
    limits: Limits
    loop: Callable[..., AsyncGenerator[LoopItem, None]]
    facts: list[Event]  # to be stored before anything else happens
    wants_lock: bool  # on the object of its page
    ending: Ending | None = None
    last_reply: StepReply | None = None  # it is stored with the end
    hooks: RunHooks | None = None  # of this stretch, once it has begun


def limits(run: Run, user: Any) -> Limits:
    """
    Return the limits of a run, as its agent has them, else the site; its module tightens.

    What the runs before it have used, that hooks let go on, counts as its own.
    """
    agent = agent_of_run(run.pk, run.agent)
    steps, run_s = (agent.steps, agent.run_s) if agent else (0, 0.0)
    own = limits_of(RunScope(run, user).chosen)
    most = tightest(steps or int(conf.get("LIMITS", "STEPS")), own.steps)
    return Limits(
        steps=int(most) - run.chain_steps,
        calls=int(conf.get("LIMITS", "CALLS_PER_STEP")),
        same_failures=conf.SAME_FAILURES,
        running_s=tightest(run_s or float(conf.get("LIMITS", "RUN_S")), own.run_s),
    )


def _loop_of(run: Run) -> Callable[..., AsyncGenerator[LoopItem, None]] | None:
    """Return the loop of the run's agent; None if no app registers it."""
    agent = agent_of_run(run.pk, run.agent)
    if agent is None or not agent.loop:
        return run_loop
    found: Loop | None = registry.parts("loop").get(agent.loop)
    return found.function if found else None


def load_plan(run_id: UUID) -> Plan:
    """Return how a run continues. Reads, but for calls whose outcome is unknown."""
    run = Run.objects.select_related("conversation", "stop_request").get(pk=run_id)
    with run.as_sent():
        return _plan_of_stored(run)


def _plan_of_stored(run: Run) -> Plan:
    user = fresh_user(run.user_id)
    state = _loop_state(run)
    if state.step_index == 0:
        begin(run.pk)
    facts = _after_crash(run) if run.epoch > 1 else []
    return Plan(
        run=run,
        user=user,
        state=state,
        limits=limits(run, user),
        loop=_loop_of(run) or run_loop,
        facts=facts,
        wants_lock=wants_lock(run, user),
        ending=_ending(run, user),
    )


def plan_of(run: Run) -> Plan:
    """Return the plan of a run that was stored just now; its user is read afresh."""
    # Nobody has asked to stop it: no query asks for that.
    Run._meta.get_field("stop_request").set_cached_value(run, None)
    run.context = json.loads(json.dumps(run.context))  # as it is read
    begin(run.pk)
    user = fresh_user(run.user_id)
    ending = _ending(run, user)
    return Plan(
        run=run,
        user=user,
        state=LoopState(),
        limits=limits(run, user),
        loop=_loop_of(run) or run_loop,
        facts=[],
        wants_lock=wants_lock(run, user),
        ending=ending,
    )


def _loop_state(run: Run) -> LoopState:
    steps = list(run.steps.order_by("index").values_list("index", flat=True))
    if not steps:
        return LoopState(running_s=run.chain_s + run.running_s)
    calls = list(run.calls.filter(parent=None).select_related("step"))
    last = [call for call in calls if call.step.index == steps[-1]]
    return LoopState(
        step_index=steps[-1] + 1,
        calls_open=bool(last),
        call_count=len(last),
        answered=not last,
        failures=_failures(call for call in calls if call not in last),
        running_s=run.chain_s + run.running_s,
    )


def _failures(calls: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for call in calls:
        fingerprint = call.arguments_digest + call.arguments_text
        if call.status in (CallStatus.COMPLETE, CallStatus.CANCELLED):
            counts.pop(fingerprint, None)
        else:
            counts[fingerprint] = counts.get(fingerprint, 0) + 1
    return counts


def _after_crash(run: Run) -> list[Event]:
    facts: list[Event] = []
    if run.attempts:
        facts.append(Custom(name="aia.resumed", value={"attempt": run.attempts}))
    if not run.is_stopping:
        known = {str(pk) for pk in run.messages.values_list("pk", flat=True)}
        facts += [
            Custom(name="aia.replaced", value={"message_id": message_id})
            for message_id in open_messages(run.pk, known)
        ]
    return facts


def judge_interrupted(run: Run) -> list[Event]:
    """
    Give every external call that was cut off its result: unknown.

    Requires the lease. Call it at a takeover.
    """
    facts: list[Event] = []
    cut = run.calls.filter(status=CallStatus.EXECUTING, background=False)
    for call in cut:
        if is_external(run, call):
            facts += record_result(call, outcome_unknown(call), status="unknown")
        else:
            ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.PENDING)
    return facts


def _ending(run: Run, user: Any) -> Ending | None:
    if run.is_stopping:
        return stopped(run)
    if run.attempts > conf.RUN_ATTEMPTS:
        return Ending(
            state=RunState.FAILED,
            code="interrupted",
            text=_(
                "The server was interrupted %(n)d times while it worked on this. "
                "Nothing is lost; try again."
            )
            % {"n": run.attempts},
        )
    try:
        check_user(run, user)
    except AccessRevoked as error:
        return Ending(state=RunState.CANCELLED, code=error.code, text=str(error))
    if _loop_of(run) is None:
        gone = ModelError("no_agent")
        return Ending(state=RunState.FAILED, code=gone.code, text=error_text(gone))
    return None


def unknown_ending(run: Run) -> Ending | None:
    """Return the ending of a run with a call of which the outcome is unknown."""
    unknown = run.calls.filter(status=CallStatus.UNKNOWN).first()
    if unknown is None:
        return None
    return Ending(
        state=RunState.NEEDS_REVIEW,
        code="unknown_outcome",
        text=_("It is unknown whether “%(name)s” took effect. Check it, then go on.")
        % {"name": unknown.label or unknown.name},
    )
