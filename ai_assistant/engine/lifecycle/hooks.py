"""The hooks of one run, what they leave to be stored with it, and work that asks them."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.utils.functional import SimpleLazyObject

from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.pool import Lane, Stage
from ai_assistant.engine.storage.units import beside, lane, unit, with_connections
from ai_assistant.events import Custom, Event
from ai_assistant.hooks.lending import HooksTakeLong, Work
from ai_assistant.hooks.outcomes import HookFailure, Outcome
from ai_assistant.hooks.passes import AskedHooks, Asking
from ai_assistant.hooks.points import RunEnded, StatusChanged
from ai_assistant.hooks.running import Asks, aanswered, answered, hooks_of
from ai_assistant.hooks.state import (
    StateChange,
    Values,
    merged,
    of_site,
    patch_of,
)
from ai_assistant.models.run import Run
from ai_assistant.request_context import at_depth
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.text.redaction.redact import redact, redact_json, redact_values_json
from ai_assistant.types import RunContext
from ai_assistant.types.hook import Hook, Point, State
from ai_assistant.types.tool import with_state

R = TypeVar("R")
T = TypeVar("T")
Value = TypeVar("Value")

MOST_ERRORS = 20  # hooks of a run that are told to have failed


@dataclass(kw_only=True, slots=True)
class Kept:
    """What hooks and tools leave, to be stored with the step or call they belong to."""

    changes: list[StateChange] = field(default_factory=list)
    failures: list[HookFailure] = field(default_factory=list)
    # Text is told from the event loop, while a thread stores the step before it.
    _lock: threading.Lock = field(
        init=False, default_factory=threading.Lock, repr=False, compare=False
    )

    def add(self, outcome: Outcome[Any]) -> None:
        """Take what hooks have left."""
        with self._lock:
            self.changes += outcome.changes
            self.failures += outcome.failures

    def handed_out(self) -> "Kept | None":
        """Hand all of it out, once; None if there is nothing."""
        with self._lock:
            if not self.changes and not self.failures:
                return None
            other = Kept(changes=self.changes, failures=self.failures)
            self.changes, self.failures = [], []
            return other


class RunHooks:
    """
    The hooks of one stretch of a run.

    `scope` is what the step under way knows of page and user. To find that out again
    for each point would take longer than most hooks.
    """

    def __init__(self, run: Run, scope: RunScope | None = None) -> None:
        self.run = run
        self.scope = scope
        self.kept = Kept()
        self._along: list[AskedHooks] = []

    def at(self, point: Point, tool: str = "") -> tuple[Hook, ...]:
        """Return the hooks of a point, for this run and a tool."""
        return hooks_of(point, self.run.module, tool, self.run.agent)

    def asking(
        self, value: Value, check: Callable[[Value], None] | None = None
    ) -> Asking[Value]:
        """Return what hooks of this run are asked with `value`."""
        return Asking(value=value, context=self._context, check=check)

    def asking_what(self, make: Callable[[Any], Any]) -> Asking[Any]:
        """Return the same for what `make` returns for the outcome of the value before."""
        return Asking(value=None, context=self._context, make=make)

    def ask_along(self, hooks: Sequence[Hook], value: Any) -> None:
        """Ask hooks that only watch in the thread of the next ones, before those."""
        if hooks:
            self._along.append((hooks, self.asking(value)))

    def ask(self, hooks: Sequence[Hook], value: Value) -> Outcome[Value]:
        """Call hooks from a thread, and keep what they leave."""
        asked = [(hooks, self.asking(value))]
        (outcome,) = answered(self.asks_each(asked))
        return outcome

    async def aask(self, hooks: Sequence[Hook], value: Value) -> Outcome[Value]:
        """Do so from the event loop."""
        asked = [(hooks, self.asking(value))]
        (outcome,) = await aanswered(self.asks_each(asked))
        return outcome

    def asks_each(self, asked: Sequence[AskedHooks]) -> Asks[list[Outcome[Any]]]:
        """Ask hooks about several values on the way of some work; keep what they leave."""
        along, self._along = self._along, []
        outcomes = yield [*along, *asked]
        return [self._kept(outcome) for outcome in outcomes][len(along) :]

    def _context(self) -> RunContext:
        self.scope = self.scope or scope_now(self.run)
        return context_of(self.scope, self.kept.changes)

    def _kept(self, outcome: Outcome[Value]) -> Outcome[Value]:
        self.kept.add(outcome)
        return outcome


def scope_now(run: Run) -> RunScope:
    """Return the surroundings of a run; its user is read when a hook looks at it."""
    return RunScope(run, SimpleLazyObject(partial(fresh_user, run.user_id)))


def context_of(scope: RunScope, changes: Sequence[StateChange] = ()) -> RunContext:
    """Return the context of a hook, with the state as `changes` leave it."""
    values = scope.run.state_values
    if changes:
        values = merged(values, changes)
    return with_state(scope.context, State("", values))


def store_kept(run: Run, kept: Kept, is_data: Callable[[], bool]) -> list[Event]:
    """
    Store changes of a run's state, and which hooks have failed. Requires its lock.

    `is_data`: whether the run has read data by now, and so may what they have kept.
    """
    facts = _store_changes(run, kept.changes, is_data) if kept.changes else []
    if kept.failures:
        note_failures(run.pk, kept.failures)
    return facts


def _store_changes(
    run: Run, changes: Sequence[StateChange], is_data: Callable[[], bool]
) -> list[Event]:
    named = Run.objects.filter(pk=run.pk)
    before, version, data = named.values_list(
        "state_values", "state_version", "state_data"
    ).get()
    # As results are: what looks like a secret is not kept either. What an AG-UI client
    # sent is its own.
    kept = [replace(change, set=redact_json(change.set)) for change in changes]
    try:
        values = redact_values_json(merged(before, kept))
    except ValueError as error:
        names = sorted({change.namespace for change in changes})
        note_failures(
            run.pk,
            [HookFailure(hook=name, point="state", error=str(error)) for name in names],
        )
        return []
    if values == before:
        return []
    told = {*data}
    if is_data():
        told.update(change.namespace for change in changes)
    run.state_values, run.state_version = values, version + 1
    run.state_data = sorted(told.intersection(values))
    named.update(
        state_values=values, state_version=version + 1, state_data=run.state_data
    )
    return [state_event(version + 1, before, values)]


def state_event(version: int, before: Values, values: Values) -> Event:
    """Return the fact that a run's state has changed: all of it, or a JSON patch."""
    if not of_site(before):
        return Custom(name="aia.state", value={"version": version, "values": values})
    delta = list(patch_of(dict(before), dict(values)))
    return Custom(name="aia.state", value={"version": version, "delta": delta})


def tell_end_elsewhere(run: Run, state: str, error: str) -> None:
    """Tell hooks, after the commit, that a run has ended that no process executed."""
    ended = hooks_of("run_finished", run.module, agent=run.agent)
    moved = hooks_of("status_changed", run.module, agent=run.agent)
    if not ended and not moved:
        return

    def tell() -> None:
        hooks = RunHooks(run)
        with at_depth(run.start_depth):
            hooks.ask(moved, StatusChanged(state=state))
            steps = run.steps.count()
            hooks.ask(ended, RunEnded(state=state, error=error, steps=steps))
        if hooks.kept.failures:
            unit(note_failures)(run.pk, hooks.kept.failures)

    transaction.on_commit(partial(beside, tell))


def note_failures(run_id: UUID, failures: Sequence[HookFailure]) -> None:
    """Add failures of hooks to those of a run, each of them once with its count."""
    named = Run.objects.filter(pk=run_id)
    told = list(named.values_list("hook_errors", flat=True).get())
    for failure in failures:
        key = {"hook": failure.hook, "point": failure.point}
        for one in told:
            if key.items() <= one.items():
                one["count"] += 1
                break
        else:
            told.append({**key, "error": redact(failure.error), "count": 1})
    named.update(hook_errors=told[-MOST_ERRORS:])


# --- work with the database that asks hooks on its way ---


async def in_db_asking(asks: Asks[T], *, stage: Stage = Stage.FOLLOW) -> T:
    """
    Do work that asks hooks in the engine's pool, and return its result.

    It may go on in another thread, so it asks outside of any transaction.
    """
    work = work_asking(asks, stage)
    try:
        while True:
            try:
                return await carried_on(work, _as_it_is, stage)
            except HooksTakeLong:
                await work.hooks_called()
    finally:
        work.close()


def work_asking(asks: Asks[T], stage: Stage) -> Work[T]:
    """Return work for the engine's pool."""
    found = lane(stage)
    # In the tests of a site the hooks have the thread of the test, as the pool has.
    return Work(asks, found if isinstance(found, Lane) else None)


async def carried_on(work: Work[T], then: Callable[[T], R], stage: Stage) -> R:
    """
    Let work go on in the pool; return what `then` makes of its result, in its thread.

    Raise HooksTakeLong if it waits for hooks.
    """
    return await work.carried_on(partial(_submit, stage), then)


def _submit(stage: Stage, do: Callable[[], Any]) -> "asyncio.Future[Any]":
    loop = asyncio.get_running_loop()
    return loop.run_in_executor(lane(stage), with_connections, do)


def _as_it_is(result: T) -> T:
    return result
