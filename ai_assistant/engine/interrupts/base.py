"""
The kinds of interrupts, and the base class of a kind.

A kind defines how a call begins to wait, which answers are valid, and what ends the
wait. Its presentation is defined in `render.html.cards.interrupts` and
`render.agui.interrupts`.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.changes.values import Changes
from ai_assistant.engine.interrupts.results import (
    call_moved,
    has_runnable,
    record_result,
)
from ai_assistant.engine.queries import interrupts
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.engine.storage.delegated import (
    STEPPED,
    WAITS,
    conversation_shown,
    tell_root,
)
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import Ask, LostLease, Refused
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import WAITING, Run, RunState
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.signals import interrupt_opened
from ai_assistant.text.redaction.redact import redact, redact_json, redact_values_json
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.types import JSON, ToolResult, UserKey

ANSWER_CHARS = 10_000
OPEN = Interrupt.Status.OPEN
# The status and reason of a call that was left without an answer.
ENDED_AS: dict[str, tuple[str, str]] = {
    Interrupt.Status.DECLINED: (CallStatus.CANCELLED, "skipped"),
    Interrupt.Status.EXPIRED: (CallStatus.DENIED, "expired"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Edited:
    """The arguments that the person wrote instead, and what they would change."""

    arguments: dict[str, Any]
    changes: Changes
    of_digest: str  # of the arguments that were on the card


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The decision of a person. `text` is an answer, or the reason of a denial."""

    user_id: UserKey
    interrupt_id: UUID
    nonce: str
    # "approve", "approve_for_run", "edit" or "deny" an approval; "skip" a question
    decision: str = ""
    rows: tuple[str, ...] | None = None  # of a bulk change, those that are meant
    has_all_rows: bool = False  # they were shown, also those beyond the first
    edited: Edited | None = None  # what the person wrote instead
    text: str = ""
    chosen: tuple[str, ...] = ()  # of a question that takes several
    stamp: SessionStamp | None = None  # of the session that answers


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """
    What was decided. `queued` means that the run can continue now.

    The conversation is the one in which the person sees it.
    """

    run_id: UUID
    conversation_id: UUID
    queued: bool


class InterruptKind:
    """One reason why a call waits. All methods are called in a transaction."""

    name: str  # the value of Interrupt.kind
    run_state: RunState  # in which the run waits for it
    is_for_person = False  # who answers it in the panel, by REST or by AG-UI

    def open(self, call: ToolCall, **columns: Any) -> Event:
        """Let the call wait; `columns` are those of the row that the kind needs."""
        ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.WAITING)
        call.status = CallStatus.WAITING
        digest = call.arguments_digest
        return self.store(call, arguments_digest=digest, **columns)

    def store(self, call: ToolCall, **columns: Any) -> Event:
        """Store a row of this kind and return the fact."""
        row = Interrupt(run_id=call.run_id, call=call, kind=self.name, **columns)
        row.question = redact(row.question)
        row.options = redact_json(row.options)
        # Values to show or execute exactly lose the site's own secrets only.
        row.proposal = redact_values_json(row.proposal)
        row.request = redact_values_json(row.request)
        row.save(force_insert=True)
        self.opened(row)
        named = {"run_id": call.run_id, "call_id": call.pk, "interrupt_id": row.pk}
        announce(interrupt_opened, Run, **named, kind=str(row.kind))
        if self.is_for_person:
            tell_root(call.run, WAITS)
        return _fact(row)

    def opened(self, interrupt: Interrupt) -> None:
        """Record that a row has been stored."""

    def closed(self, interrupt: Interrupt, status: str) -> None:
        """Record that a row has been closed."""

    def late(self) -> Q | None:
        """Return which open rows are to `expire`; None if none of them ever is."""
        return Q(expires_at__lt=Now())

    def expire(self, interrupt: Interrupt) -> list[Event]:
        """End a wait that has lasted too long, and the call. Raise Refused if not."""
        raise NotImplementedError


class PersonKind(InterruptKind):
    """
    A kind that a person answers; until then the call keeps its place in the order.

    A kind whose answers are texts only defines `validate`.
    """

    is_for_person = True
    run_state = RunState.WAITING_ANSWER

    def ask(self, call: ToolCall, ask: Ask) -> Sequence[Event]:
        """Open an interrupt for the `Ask` that a tool has raised."""
        text = join_surrogates(str(ask.question))
        return [self.open(call, question=text, key=ask.key, asked_by=ask.asked_by)]

    def validate(
        self, interrupt: Interrupt, texts: Sequence[str], *, typed: bool = False
    ) -> JSON:
        """
        Return the tool's value for `texts`; `typed` ones came as a message.

        Raise Refused if they are no answer.
        """
        raise NotImplementedError

    def answer(self, interrupt: Interrupt, answer: Answer) -> list[Event]:
        """Close the row as the person decided, and let the call continue or end it."""
        if answer.decision == "skip":
            return self.leave(interrupt, Interrupt.Status.DECLINED, answer.user_id)
        value = self.validate(interrupt, [*answer.chosen, answer.text])
        return self.take(interrupt, answer.user_id, value)

    def take_message(
        self, waits: Sequence[Interrupt], user_id: UserKey, text: str
    ) -> list[Event]:
        """Take a message that came instead of answers to `waits`, the oldest first."""
        first, text = waits[0], text[:ANSWER_CHARS]
        try:
            value = self.validate(first, [text], typed=True)
        except Refused:
            return self.leave(first, Interrupt.Status.DECLINED, user_id, instead=text)
        return self.take(first, user_id, value)

    def take(self, interrupt: Interrupt, user_id: UserKey, value: JSON) -> list[Event]:
        """Close the row with a valid answer; the tool is called again with it."""
        facts = close(interrupt, Interrupt.Status.ANSWERED, user_id, value)
        return facts + let_go_on(interrupt.call)

    def leave(
        self, interrupt: Interrupt, status: str, user_id: UserKey, instead: str = ""
    ) -> list[Event]:
        """End it without an answer, and its call: the tool is not called again."""
        facts = close(interrupt, status, user_id, instead or None)
        interrupt.status = status
        ended, reason = ENDED_AS[status]
        result = unanswered(interrupt, instead)
        return facts + record_result(
            interrupt.call, result, status=ended, reason=reason
        )

    def expire(self, interrupt: Interrupt) -> list[Event]:
        """End it without an answer."""
        return self.leave(interrupt, Interrupt.Status.EXPIRED, None)


K = TypeVar("K", bound=InterruptKind)

_kinds: dict[str, InterruptKind] = {}


def register_kind(kind: K) -> K:
    """Add a kind. Raise ValueError for a name that is taken."""
    if kind.name in _kinds:
        raise ValueError(
            f"Interrupt kind {kind.name!r} is already registered by "
            f"'{type(_kinds[kind.name]).__module__}'. Rename one."
        )
    _kinds[kind.name] = kind
    return kind


def unregister_kind(name: str) -> None:
    """Remove a kind; for tests."""
    del _kinds[name]


def kind_named(name: str) -> Any:
    """Return the kind of that name."""
    return _kinds[name]


def kind_names(*, for_person: bool = False) -> list[str]:
    """Return the names of all kinds, or of those that a person answers."""
    kinds = _kinds.values()
    return [kind.name for kind in kinds if kind.is_for_person or not for_person]


def own_interrupt(
    user_id: UserKey, interrupt_id: UUID, nonce: str, kinds: Sequence[str]
) -> Interrupt | None:
    """Return the row that a user names, if it is one of theirs with this nonce."""
    row = interrupts(user_id).filter(pk=interrupt_id, kind__in=kinds).first()
    is_known = row and hmac.compare_digest(row.nonce.encode(), nonce.encode())
    return row if is_known else None


def waiting_for_person(**of: Any) -> QuerySet[Interrupt]:
    """Return the open rows that a person answers, the oldest first."""
    kinds = kind_names(for_person=True)
    return Interrupt.objects.filter(status=OPEN, kind__in=kinds, **of)


def waiting_below(run: Run) -> QuerySet[Interrupt]:
    """Return those of a run, and of the agents that work for it."""
    return waiting_for_person().filter(Q(run=run) | Q(run__root=run))


def late_interrupts() -> QuerySet[Interrupt]:
    """Return the open rows of all kinds that have waited too long."""
    late = Q(pk__in=())
    for kind in _kinds.values():
        if (condition := kind.late()) is not None:
            late |= condition & Q(kind=kind.name)
    return Interrupt.objects.filter(late, status=OPEN)


# --- closing interrupts, and continuing the run ---


def close_interrupts(interrupts: QuerySet[Interrupt], status: str) -> list[Event]:
    """Close the open ones of `interrupts`; return the facts."""
    rows = list(interrupts.filter(status=OPEN).select_related("call", "run"))
    Interrupt.objects.filter(pk__in=[row.pk for row in rows]).update(
        status=status, decided_at=Now()
    )
    for row in rows:
        _kinds[row.kind].closed(row, status)
    asked = [row.run for row in rows if _kinds[row.kind].is_for_person]
    if asked:
        tell_root(asked[0], STEPPED)
    return [_fact(row) for row in rows]


def close(
    interrupt: Interrupt, status: str, user_id: UserKey, answer: JSON
) -> list[Event]:
    """Close an open interrupt as the person decided. Raise Refused if it is not open."""
    rows = Interrupt.objects.filter(pk=interrupt.pk)
    facts = close_interrupts(rows, status)
    if not facts:
        raise Refused("already_answered", _("This was already answered elsewhere."))
    rows.update(decided_by_id=user_id, decided_at=Now(), answer=answer)
    return facts


def let_go_on(call: ToolCall) -> list[Event]:
    """Release a call that has waited for a person, to be executed."""
    # Its time counts from now: until now the person was thinking.
    ToolCall.objects.filter(pk=call.pk).update(
        status=CallStatus.PENDING, started_at=Now()
    )
    facts = [call_moved(call, CallStatus.PENDING)]
    if call.background:
        facts.append(_kinds[Interrupt.Kind.TASK].open(call))
    return facts


def unanswered(interrupt: Interrupt, instead: str = "") -> ToolResult:
    """
    Return the result of a call that asked and was left without an answer.

    `instead` is what the person said that is no answer.
    """
    if interrupt.status == Interrupt.Status.EXPIRED:
        error, error_type = _("Nobody answered “%(question)s” in time."), "expired"
    elif instead:
        error = _(
            "“%(question)s” was not answered. The user wrote instead: “%(instead)s”."
        )
        error_type = "declined"
    else:
        error = _("“%(question)s” was skipped without an answer.")
        error_type = "declined"
    return ToolResult(
        ok=False,
        error=error % {"question": interrupt.question, "instead": instead},
        error_type=error_type,
        suggestion=_("Do not ask this again. Continue without an answer, or end."),
    )


def wait_state(run_id: UUID) -> RunState | None:
    """Return the state in which the run has to wait, or None if it need not."""
    waits = Interrupt.objects.filter(run_id=run_id, status=OPEN)
    kinds = set(waits.values_list("kind", flat=True))
    states = {_kinds[kind].run_state for kind in kinds}
    return next((state for state in WAITING if state in states), None)


def settle_wait(run_id: UUID) -> bool:
    """
    Bring a waiting run's state up to date; True if it is queued to continue.

    While the run waits only for a page, approved calls are executed already; while it
    waits for a person, they keep their place in the model's order. Requires the lease.
    Call it after an interrupt was closed.
    """
    state = wait_state(run_id) or RunState.QUEUED
    if state == RunState.WAITING_BROWSER and has_runnable(run_id):
        state = RunState.QUEUED
    waiting = Run.objects.filter(pk=run_id, state__in=WAITING)
    return bool(waiting.update(state=state)) and state == RunState.QUEUED


def lock_run(run: Run, *, waits: bool = True) -> None:
    """Lock the row of an unfinished run. Raise Refused already_answered without one."""
    try:
        pass_by_state(run.pk, waits=waits)
    except LostLease as error:
        raise Refused(
            "already_answered", _("This was already answered, or the run has ended.")
        ) from error


def store_facts(run: Run, facts: list[Event]) -> Decided:
    """Append the decision to the log, and let the run continue if it can."""
    queued = settle_wait(run.pk)
    append_by_state(run.pk, facts, epoch=run.epoch)
    shown_in = conversation_shown(run)
    return Decided(run_id=run.pk, conversation_id=shown_in, queued=queued)


def _fact(interrupt: Interrupt) -> Event:
    value = {"interrupt_id": str(interrupt.pk), "call_id": str(interrupt.call_id)}
    return Custom(name="aia.interrupt", value=value)
