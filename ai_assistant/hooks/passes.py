"""
A pass: the hooks that one thread calls, one after another, each within its time.

One that takes too long is given up: its thread cannot be stopped, but nobody waits for
it, and what it returns later is ignored.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from django.utils.translation import gettext as _

from ai_assistant.hooks.outcomes import HookFailure, Outcome, sentence, value_of
from ai_assistant.hooks.points import (
    REASON_CHARS,
    NextRound,
    OwnCopies,
    PromptDraft,
    Refuse,
    RequireApproval,
)
from ai_assistant.hooks.state import change_of, merged
from ai_assistant.hooks.threads import clear_up, returned
from ai_assistant.types import RunContext
from ai_assistant.types.hook import Hook, State, namespace_of
from ai_assistant.types.tool import with_state

logger = logging.getLogger("ai_assistant")

Value = TypeVar("Value")

HANGING = 2  # calls of one hook after which it is not called again until one returns
START_S = 5.0  # in which a thread must be free

_hanging: Counter[str] = Counter()  # calls that were given up, by the name of the hook
_took_s: dict[str, float] = {}  # the last call of each hook, by its name
_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking(Generic[Value]):
    """
    What the hooks of one point are asked.

    `context` is made in their thread, and so is a value that `make` returns for what
    came out of the value before. `check` raises for one that cannot be used.
    """

    value: Value
    context: Callable[[], RunContext]
    make: Callable[[Any], Value] | None = None
    check: Callable[[Value], None] | None = None


AskedHooks = tuple[Sequence[Hook], Asking[Any]]


def begun(asked: Sequence[AskedHooks]) -> "tuple[list[Outcome[Any]], Pass | None]":
    """Return the outcomes of what is asked, and the pass that fills them."""
    turns: list[_Turn] = []
    outcomes: list[Outcome[Any]] = []
    for hooks, asking in asked:
        outcome, before = Outcome(value=asking.value), outcomes[-1:]
        turns += [_Turn(hook, asking, outcome, *before) for hook in hooks]
        outcomes.append(outcome)
    return outcomes, Pass(turns) if turns else None


class _Turn(NamedTuple):
    """One hook, what it is asked, and where its outcome goes."""

    hook: Hook
    asking: Asking[Any]
    outcome: Outcome[Any]
    before: Outcome[Any] | None = None  # of the value before its own


_Returned = tuple[Any, State]


class Pass:
    """Hooks that one thread calls, until the last one or one that hangs."""

    def __init__(
        self, turns: Sequence[_Turn], context: RunContext | None = None
    ) -> None:
        self.turns = turns
        self._lock = threading.Lock()
        self._at = -1  # of the hook at work
        self._has_returned = False  # that one, and no other has begun since
        self._since = self._began = time.monotonic()
        self._shortest_s = min([turn.hook.timeout_s for turn in turns])
        self.is_given_up = False  # nobody waits for the thread any more
        self._context = context
        # By origin of the hooks; forgotten once one of them may have changed its state.
        self._contexts: dict[str, tuple[RunContext, State]] = {}

    @property
    def expected_s(self) -> float:
        """How long its hooks took the last time."""
        return sum([_took_s.get(turn.hook.name, 0.0) for turn in self.turns])

    @property
    def worked_s(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """Take note that it is handed to a thread now."""
        self._since = self._began = time.monotonic()

    def wait_s(self) -> float:
        """Return when to look again: a hook may have begun right after this look."""
        return min(self.left_s(), self._shortest_s)

    def left_s(self) -> float:
        """Return how long the hook at work may still take."""
        is_at_work = self._at >= 0 and not self._has_returned
        limit_s = self.turns[self._at].hook.timeout_s if is_at_work else START_S
        return max(0.0, self._since + limit_s - time.monotonic())

    def give_up_if_late(self) -> None:
        """Give the hook at work up, if its time is over."""
        with self._lock:
            if self.is_given_up or self._has_returned or self.left_s() > 0:
                return
            self.is_given_up = True
            turn = self.turns[max(self._at, 0)]
            if self._at >= 0:
                _count_hanging(turn.hook.name, 1)
                _took_s[turn.hook.name] = turn.hook.timeout_s
            self._failed(turn, _("It took longer than %g s.") % turn.hook.timeout_s)

    def rest(self) -> "Pass | None":
        """Return the pass for the hooks behind one that was given up, if there is one."""
        if not self.is_given_up:
            return None
        left = self.turns[max(self._at, 0) + 1 :]
        turns = [turn for turn in left if not turn.outcome.refused]
        return Pass(turns, self._context) if turns else None

    def _is_late(self) -> bool:
        return self.is_given_up

    # --- in the thread ---

    def work(self, end: Callable[[], object]) -> None:
        """Call the hooks, and `end` when this thread is done with them."""
        try:
            for at, turn in enumerate(self.turns):
                if not turn.outcome.refused and not self._one(at, turn):
                    return
        finally:
            try:
                clear_up()
            finally:
                end()

    def _one(self, at: int, turn: _Turn) -> bool:
        """Call one hook; return whether the next one is called."""
        with self._lock:
            if self.is_given_up:
                return False
            self._at, self._since = at, time.monotonic()
            self._has_returned = False
        hook, error = turn.hook, ""
        found: _Returned | None = None
        if _hanging.get(hook.name, 0) >= HANGING:
            error = _("It hangs, and is not called until it returns.")
        else:
            try:
                found = self._called(turn)
            except BaseException as raised:  # noqa: BLE001 - it ends nothing else
                self._contexts.clear()
                error = _told(hook, raised)
            _took_s[hook.name] = time.monotonic() - self._since
        with self._lock:
            if self._is_late():
                _count_hanging(hook.name, -1)
                return False
            if found is not None:
                try:
                    self._take(turn, *found)
                except Exception as raised:  # noqa: BLE001 - its owner is told
                    self._contexts.clear()
                    error = _told(hook, raised)
            if error:
                self._failed(turn, error)
            self._has_returned = True
            return True

    def _called(self, turn: _Turn) -> _Returned:
        hook, value = turn.hook, turn.outcome.value
        if value is None and turn.asking.make is not None and turn.before is not None:
            value = turn.outcome.value = turn.asking.make(turn.before.value)
        context, state = self._contexts.get(hook.origin) or self._context_of(turn)
        own = value.copy() if isinstance(value, OwnCopies) else value
        found = returned(hook.function(context, own), hook.timeout_s)
        if found is None and isinstance(own, PromptDraft) and own.has_copied("tree"):
            found = own  # changed in place
        return found, state

    def _context_of(self, turn: _Turn) -> tuple[RunContext, State]:
        """Return the context of hooks of this origin, with their state."""
        if self._context is None:
            self._context = turn.asking.context()
        state = self._context.state.within(namespace_of(turn.hook.origin))
        made = with_state(self._context, state), state
        self._contexts[turn.hook.origin] = made
        return made

    def _take(self, turn: _Turn, found: Any, state: State) -> None:
        """Take what a hook has returned. Raise if it cannot be used."""
        change = change_of(state)
        if found is None and change is None:
            return
        hook, outcome = turn.hook, turn.outcome
        value = value_of(hook, outcome.value, found)
        if value is not outcome.value and turn.asking.check is not None:
            turn.asking.check(value)
        if change is not None and self._context is not None:
            every = merged(state.every, [change])
            self._context = with_state(self._context, State("", every))
            self._contexts.clear()
            outcome.changes.append(change)
        if value is not outcome.value:
            outcome.value = value
            outcome.changed_by = (*outcome.changed_by, hook.name)
        match found:
            case Refuse():
                outcome.refused, outcome.by = sentence(found.reason), hook.name
            case RequireApproval() if not outcome.approval:
                outcome.approval, outcome.by = sentence(found.reason), hook.name
            case NextRound() if outcome.next_round is None:
                outcome.next_round = found

    def _failed(self, turn: _Turn, error: str) -> None:
        """Take note of a failure; a guard that fails refuses."""
        hook, outcome = turn.hook, turn.outcome
        logger.warning("hook %r at %s: %s", hook.name, hook.point, error)
        failure = HookFailure(
            hook=hook.name, point=hook.point, error=error[:REASON_CHARS]
        )
        outcome.failures.append(failure)
        if hook.guard:
            outcome.by = hook.name
            outcome.refused = _(
                "The check “%(name)s” of this site failed, so this is not done."
            ) % {"name": hook.name}


def _count_hanging(name: str, more: int) -> None:
    with _lock:
        _hanging[name] += more
        if not _hanging[name]:
            del _hanging[name]


def _told(hook: Hook, raised: BaseException) -> str:
    """Log what a hook has raised; return it in words."""
    logger.error("hook %r failed at %s", hook.name, hook.point, exc_info=raised)
    return f"{type(raised).__name__}: {raised}".removesuffix(": ")
