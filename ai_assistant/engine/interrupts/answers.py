"""What a person says to a waiting call. The first answer wins."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.approvals import Edited, approve
from ai_assistant.engine.lifecycle.finish import store_message
from ai_assistant.engine.lifecycle.questions import ENDED_AS, meant, unanswered
from ai_assistant.engine.lifecycle.waits import (
    Decided,
    close,
    let_go_on,
    record_result,
    settle_wait,
)
from ai_assistant.engine.storage.eventlog import append
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import LostLease, Refused
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.safety.audit import came_from
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.identity.session import SessionStamp, check_user
from ai_assistant.text.redaction import redact_values
from ai_assistant.types import ToolResult, UserKey

ANSWER_CHARS = 10_000
FOR_A_PERSON = (Interrupt.Kind.APPROVAL, Interrupt.Kind.QUESTION)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the person decided. `text` is an answer, or the reason of a denial."""

    user_id: UserKey
    interrupt_id: UUID
    nonce: str
    # "approve", "approve_for_run", "edit" or "deny" an approval; "skip" a question
    decision: str = ""
    rows: tuple[str, ...] | None = None  # of a bulk change, those that are meant
    edited: Edited | None = None  # what the person wrote instead
    text: str = ""
    chosen: tuple[str, ...] = ()  # of a question that takes several
    stamp: SessionStamp | None = None  # of the session that answers


def answer_now(given: Answer) -> Decided:
    """
    Record an answer, once. Call it in a unit.

    Raise Refused: not_found for another user's, already_answered, stale if the
    arguments are not those that were shown, expired, empty or wrong_answer, or what
    permissions say.
    """
    interrupt = (
        Interrupt.objects.select_related("run", "call")
        .filter(
            pk=given.interrupt_id, run__user_id=given.user_id, kind__in=FOR_A_PERSON
        )
        .first()
    )
    if interrupt is None or not hmac.compare_digest(
        interrupt.nonce.encode(), given.nonce.encode()
    ):
        raise Refused("not_found", _("This question does not exist."))
    run = interrupt.run
    _lock(run)
    if given.stamp is not None:
        came_from(given.stamp.ip)
        take_over_by(run, given.stamp)
    check_user(run, fresh_user(given.user_id))
    facts = _decide(interrupt, given)
    return _store(run, facts)


answer = unit(answer_now)


def take_over_by(run: Run, session: SessionStamp) -> None:
    """
    Let the run go on for the session in which its person answers.

    That in which it began may have ended long ago, and the password with it. Raise
    Refused scope for a token that may not answer.
    """
    if not session.may_answer:
        raise Refused(
            "scope",
            _("The assistant waits for an answer: this needs the scope “approve”."),
        )
    run.session_digest = session.session_digest
    run.session_sealed = session.session_sealed
    run.password_digest = session.password_digest
    run.session_expires_at = session.ends_at()
    run.token_id = session.token_id
    run.save(
        update_fields=[
            "session_digest",
            "session_sealed",
            "password_digest",
            "session_expires_at",
            "token_id",
        ]
    )


def take_as_answer(run: Run, message: Message, session: SessionStamp) -> bool:
    """
    Take a user's message as the answer to what `run` waits for.

    Open approvals are denied with the text as the reason; an open question takes
    it as its answer, or ends as declined if it is none. False if the run waits for
    no person. Call it in a transaction.
    """
    user_id, text = run.user_id, message.text
    waits = run.interrupts.filter(status=Interrupt.Status.OPEN).select_related("call")
    approvals = list(waits.filter(kind=Interrupt.Kind.APPROVAL))
    question = waits.filter(kind=Interrupt.Kind.QUESTION).first()
    if not approvals and question is None:
        return False
    _lock(run)
    take_over_by(run, session)
    facts: list[Event] = []
    for approval in approvals:
        facts += _deny(approval, user_id, text)
    if not approvals and question is not None:
        facts += _reply(question, user_id, text)
    store_message(message)
    facts.append(Custom(name="aia.message", value={"message_id": str(message.pk)}))
    _store(run, facts)
    return True


def expire(interrupt: Interrupt) -> Decided:
    """End the wait for an approval or an answer that has not come in time."""
    return _expire(interrupt.pk)


@unit
def _expire(interrupt_id: UUID) -> Decided:
    interrupt = Interrupt.objects.select_related("run", "call").get(pk=interrupt_id)
    _lock(interrupt.run, waits=False)  # else the next sweep does it
    if interrupt.kind == Interrupt.Kind.QUESTION:
        facts = _leave(interrupt, Interrupt.Status.EXPIRED, None)
        return _store(interrupt.run, facts)
    facts = close(interrupt, Interrupt.Status.EXPIRED, None, None)
    result = ToolResult(
        ok=False,
        error=_("Nobody approved this in time. It was not carried out."),
        error_type="expired",
    )
    facts += record_result(
        interrupt.call, result, status=CallStatus.DENIED, reason="expired"
    )
    return _store(interrupt.run, facts)


def _lock(run: Run, *, waits: bool = True) -> None:
    try:
        pass_by_state(run.pk, tuple(UNFINISHED), waits=waits)
    except LostLease as error:
        raise Refused(
            "already_answered", _("This was answered already, or the run has ended.")
        ) from error


def _store(run: Run, facts: list[Event]) -> Decided:
    queued = settle_wait(run.pk)
    first = pass_by_state(run.pk, tuple(UNFINISHED), events=len(facts))
    append(run.pk, facts, first_seq=first, epoch=run.epoch)
    return Decided(run_id=run.pk, conversation_id=run.conversation_id, queued=queued)


def _decide(interrupt: Interrupt, given: Answer) -> list[Event]:
    text = redact_values(given.text.strip())[:ANSWER_CHARS]
    if interrupt.expires_at and interrupt.expires_at < clock.now():
        raise Refused("expired", _("Nobody decided this in time. Ask for it again."))
    if interrupt.kind == Interrupt.Kind.QUESTION:
        if given.decision == "skip":
            return _leave(interrupt, Interrupt.Status.DECLINED, given.user_id)
        return _answer_question(interrupt, given.user_id, [*given.chosen, text])
    if given.decision == "edit" and given.edited is None:
        raise Refused("bad_decision", _("Fill in the form, then approve it."))
    if given.decision in ("approve", "approve_for_run", "edit"):
        return approve(
            interrupt,
            given.user_id,
            rows=given.rows,
            edited=given.edited,
            for_run=given.decision == "approve_for_run",
        )
    if given.decision == "deny":
        return _deny(interrupt, given.user_id, text)
    raise Refused("bad_decision", _("Choose Approve or Deny."))


def _deny(interrupt: Interrupt, user_id: UserKey, reason: str) -> list[Event]:
    facts = close(interrupt, Interrupt.Status.DENIED, user_id, reason)
    result = ToolResult(
        ok=False,
        error=_denial(reason),
        error_type="denied",
        suggestion=_("Do not try it again unless you are asked to."),
    )
    return facts + record_result(
        interrupt.call, result, status=CallStatus.DENIED, reason="person"
    )


def _denial(reason: str) -> str:
    if not reason:
        return _("The person denied this. It was not carried out.")
    told = _("The person denied this: “%(reason)s”. It was not carried out.")
    return told % {"reason": reason}


def _reply(question: Interrupt, user_id: UserKey, text: str) -> list[Event]:
    """Take a message as the answer; what is none is what was said instead."""
    try:
        return _answer_question(question, user_id, [text[:ANSWER_CHARS]], typed=True)
    except Refused as refused:
        if refused.code == "already_answered":
            raise
    return _leave(question, Interrupt.Status.DECLINED, user_id, text[:ANSWER_CHARS])


def _answer_question(
    question: Interrupt, user_id: UserKey, said: Sequence[str], *, typed: bool = False
) -> list[Event]:
    answer = meant(question, said, typed=typed)
    facts = close(question, Interrupt.Status.ANSWERED, user_id, answer)
    return facts + let_go_on(question.call)


def _leave(
    question: Interrupt, status: str, user_id: UserKey, instead: str = ""
) -> list[Event]:
    """End a question without an answer, and its call: the tool is not called again."""
    facts = close(question, status, user_id, instead or None)
    question.status = status
    ended, reason = ENDED_AS[status]
    result = unanswered(question, instead)
    return facts + record_result(question.call, result, status=ended, reason=reason)
