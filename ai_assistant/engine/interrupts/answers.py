"""Answers of a person to a waiting call. The first answer wins."""

from dataclasses import replace
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.base import (
    ANSWER_CHARS,
    Answer,
    Decided,
    kind_named,
    kind_names,
    lock_run,
    own_interrupt,
    store_facts,
    waiting_for_person,
)
from ai_assistant.engine.storage.delegated import calls_above
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import SESSION, WAITING, Channel, Run
from ai_assistant.safety.audit import came_from
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.identity.session import SessionStamp, check_user
from ai_assistant.text.redaction.redact import redact_values


def answer_now(reply: Answer) -> Decided:
    """
    Record an answer, once. Call it in a unit.

    Raise Refused: not_found for another user's, already_answered, stale if the
    arguments are not those that were shown, expired, empty or wrong_answer, or what
    permissions say.
    """
    interrupt = own_interrupt(
        reply.user_id, reply.interrupt_id, reply.nonce, kind_names(for_person=True)
    )
    if interrupt is None:
        raise Refused("not_found", _("This question does not exist."))
    run = interrupt.run
    lock_run(run)
    if reply.stamp is not None:
        came_from(reply.stamp.ip)
        take_over_by(run, reply.stamp)
    check_user(run, fresh_user(reply.user_id))
    _check_present(run, interrupt, reply)
    if interrupt.expires_at and interrupt.expires_at < clock.now():
        raise Refused("expired", _("This approval has expired. Ask for it again."))
    text = redact_values(reply.text.strip())[:ANSWER_CHARS]
    facts = kind_named(interrupt.kind).answer(interrupt, replace(reply, text=text))
    return store_facts(run, facts)


answer = unit(answer_now)


def _check_present(run: Run, interrupt: Interrupt, reply: Answer) -> None:
    """
    Raise Refused session if nobody is signed in where that is needed.

    What code of the site wants to change, a person has to see: neither that code nor
    a program with a token approves it.
    """
    is_approval = interrupt.kind == Interrupt.Kind.APPROVAL
    if run.channel != Channel.CODE or not is_approval or reply.decision == "deny":
        return
    if reply.stamp is None or not reply.stamp.session_digest:
        raise Refused(
            "session",
            _(
                "Code of this site has asked for this: sign in, and approve it in the "
                "panel."
            ),
        )


def take_over_by(run: Run, session: SessionStamp) -> None:
    """
    Let the run continue for the session in which its person answers.

    Its first session may have ended long ago, and the password may have changed. Raise
    Refused scope for a token that may not answer.
    """
    if not session.may_answer:
        raise Refused(
            "scope",
            _("The assistant awaits an answer: this needs the scope “approve”."),
        )
    if run.channel == Channel.CODE and not session.session_digest:
        return  # it belongs to no token
    for name, value in session.fields().items():
        setattr(run, name, value)
    run.save(update_fields=SESSION)
    for call in calls_above(run):  # what waits for it continues in that session, too
        Run.objects.filter(pk=call.run_id).update(**session.fields())


def answer_by_message(run: Run, text: str, session: SessionStamp) -> list[Event] | None:
    """
    Take a user's message as the answer to the most pressing of what `run` waits for.

    Open approvals are denied with the text as the reason; an open question takes
    it as its answer, or ends as declined if it is not valid. None if the run waits for
    no person. Call it in a transaction, and then `store_facts`.
    """
    waits = list(waiting_for_person(run=run).select_related("call"))
    if not waits:
        return None
    lock_run(run)
    take_over_by(run, session)
    kinds = {kind_named(interrupt.kind) for interrupt in waits}
    kind = min(kinds, key=lambda kind: (WAITING.index(kind.run_state), kind.name))
    of_kind = [interrupt for interrupt in waits if interrupt.kind == kind.name]
    facts: list[Event] = kind.take_message(of_kind, run.user_id, text)
    return facts


@unit
def expire(interrupt_id: UUID) -> Decided:
    """End a wait that has lasted too long. Raise Refused if it has ended already."""
    interrupt = Interrupt.objects.select_related("run", "call").get(pk=interrupt_id)
    lock_run(interrupt.run, waits=False)  # else the next sweep does it
    with interrupt.run.as_sent():
        facts = kind_named(interrupt.kind).expire(interrupt)
    return store_facts(interrupt.run, facts)
