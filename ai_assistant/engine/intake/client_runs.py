"""Runs as a client of another protocol counts them: each request is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ai_assistant.engine.intake.submission import check_unused, clean_text
from ai_assistant.engine.intake.values import ClientNames
from ai_assistant.engine.interrupts.answers import answer_now
from ai_assistant.engine.interrupts.base import Answer, Decided, lock_run
from ai_assistant.engine.interrupts.browser import FromPage, finish_now
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Custom
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import ClientRun, Run
from ai_assistant.text.redaction.redact import redact_values
from ai_assistant.types import UserKey


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """
    All that a client says to a run that waits: answers, and results of its tools.

    `text` is a message that a person has written meanwhile; `key` makes it one.
    """

    user_id: UserKey
    answers: Sequence[Answer] = ()
    results: Sequence[FromPage] = ()
    text: str = ""
    key: str = ""


@unit
def take_answers(
    client: ClientNames, run_id: UUID, given: Given
) -> tuple[Decided, int]:
    """
    Record answers and results, all or none, and how the client names what follows.

    Return the last decision, and the last event that the client has received.

    Raise Refused: what answering or reporting raises, run_id_used, already_answered.
    """
    run = Run.objects.select_related("conversation").get(pk=run_id)
    lock_run(run)
    run.refresh_from_db(fields=["next_seq"])
    after = _note_stretch(run, client)
    decided = [answer_now(one) for one in given.answers]
    decided += [finish_now(one) for one in given.results]
    if given.text:
        _store_said(run, client, given)
    return decided[-1], after


def _store_said(run: Run, client: ClientNames, given: Given) -> None:
    """Store a message behind the answers: the model reads it in its next step."""
    message = Message(
        conversation=run.conversation,
        run=run,
        key=given.key,
        client_id=client.message,
        role=Message.Role.USER,
        parts=[{"type": "text", "text": redact_values(clean_text(given.text))}],
    )
    Message.objects.append(message)
    fact = Custom(name="aia.message", value={"message_id": str(message.pk)})
    append_by_state(run.pk, [fact], epoch=run.epoch)


def names_newest(run: Run, client: ClientNames) -> bool:
    """
    Return whether `client` names the part of `run` that was streamed last.

    CopilotKit answers an interrupt under the id of the run that has asked.
    """
    last = run.client_runs.order_by("-pk").first()
    return last is not None and last.client_id == client.run


def _note_stretch(run: Run, client: ClientNames) -> int:
    """
    Write down how the client names what follows; return the event before it.

    Raise Refused run_id_used.
    """
    after = _told_until(run)
    if names_newest(run, client):
        named = run.client_runs.filter(client_id=client.run)
        named.update(after=after, until=None)
        return after
    check_unused(run.conversation, client)
    ClientRun.objects.create(
        conversation=run.conversation, run=run, client_id=client.run, after=after
    )
    return after


def _told_until(run: Run) -> int:
    """Return the last event that the client has received; all, if none was noted."""
    last = run.client_runs.order_by("-pk").first()
    if last is None or last.until is None:
        return run.next_seq - 1
    return last.until


def note_end(run_id: UUID, client_id: str, seq: int) -> None:
    """Note the last event that a stream has sent to its client."""
    ClientRun.objects.filter(run_id=run_id, client_id=client_id).update(until=seq)
