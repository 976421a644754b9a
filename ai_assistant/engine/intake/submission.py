"""Accept a message: conversation, message, run and first event, in one transaction."""

import uuid
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection
from django.utils.translation import gettext as _

from ai_assistant import conf, signals
from ai_assistant.engine.accounting.audit import run_started
from ai_assistant.engine.accounting.usage import check_before_start
from ai_assistant.engine.intake.lookup import Known, look_up
from ai_assistant.engine.intake.received import (
    as_received,
    begin_state,
    module_of_page,
    profile_of,
    with_agent,
)
from ai_assistant.engine.intake.values import (
    Accepted,
    ClientNames,
    Lineage,
    NewRun,
    Submission,
)
from ai_assistant.engine.lifecycle import queue
from ai_assistant.engine.lifecycle.hooks import state_event
from ai_assistant.engine.lifecycle.steering import take_along, take_as_answer
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.engine.storage.branches import before_next
from ai_assistant.engine.storage.eventlog import append_events
from ai_assistant.engine.storage.lease import Hold
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Event, RunStarted
from ai_assistant.exceptions import Refused
from ai_assistant.hooks.state import of_site
from ai_assistant.models import clock
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.raw_sql import has_any, insert_row
from ai_assistant.models.run import (
    UNFINISHED,
    Channel,
    ClientRun,
    Run,
    RunKind,
    RunState,
)
from ai_assistant.request_context import language_of, script_prefix
from ai_assistant.safety.budgets.budgets import has_budgets
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.limits import check_message_rate
from ai_assistant.text.redaction.redact import redact, redact_json, redact_values
from ai_assistant.text.unicode import is_control, join_surrogates

TITLE_CHARS = 60
KEY_CHARS = 64
PATH_CHARS = 2000
KEPT_CONTROLS = "\n\t"
MOST_LOADED = 20  # tools that find_tools has found in a conversation, the latest


def clean_text(text: str, most: int = 0) -> str:
    """
    Return the text as it is stored; `most` characters, or as many as a message may.

    Raise Refused if it is empty, too long, or holds control characters.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    most = most or int(conf.get("LIMITS", "MESSAGE_CHARS"))
    if not text:
        raise Refused("empty", _("Write a message first."))
    if len(text) > most:
        raise Refused(
            "too_long",
            _("This message has %(n)d characters; at most %(most)d can be sent.")
            % {"n": len(text), "most": most},
        )
    if any(is_control(char) for char in {*text} - {*KEPT_CONTROLS}):
        raise Refused(
            "binary",
            _("This message contains characters that are not text. Remove them."),
        )
    return text


def accept(submission: Submission, *, owner: str = "") -> Accepted:
    """
    Accept a message; the same key a second time changes nothing.

    With `owner` the run is leased to that process at once, else it is queued. While
    another run is unfinished the message waits for it (see `engine.lifecycle.queue`).
    Raise Refused: not_found for another user's conversation, queue_full, busy if it
    cannot wait or the run does not take it along, ended if none is there to do so,
    Limited at a rate or a budget, and what `clean_text` raises.
    """
    # A person may speak of what looks like a key; the site's own is never stored.
    text = redact_values(clean_text(submission.text))
    submission = as_received(submission, text)
    if not 0 < len(submission.key) <= KEY_CHARS:
        raise Refused("bad_key", _("Reload the page and send the message again."))
    try:
        return _accept(submission, text, owner)
    except IntegrityError:
        # The same message at the same moment: now the other one is to be seen.
        return _accept(submission, text, owner)


@unit
def _accept(submission: Submission, text: str, owner: str) -> Accepted:
    conversation = _continued(submission)
    thread = submission.client.thread if submission.client else ""
    named = conversation.pk if conversation else submission.conversation_id
    known = look_up(submission.user_id, named, submission.key, thread)
    submission = with_agent(submission, known.agent if conversation else None)
    if conversation is not None:
        check_unused(conversation, submission.client)
    elif known.is_anothers:
        # An own one that began just now fails at the insert.
        raise Refused("not_found", _("This conversation does not exist."))
    if known.is_repeat and (sent := _sent_before(submission)):
        return sent
    active = _active(conversation) if conversation and known.has_run else None
    if active is not None:
        return _to_active(active, submission, text)
    if submission.steers:
        raise Refused("ended", _("This answer has ended."))
    is_behind = conversation and submission.may_wait and known.has_queue
    if conversation and is_behind and queue.next_up(conversation):
        return _waits(_enqueue(conversation, submission, text))  # behind the others
    is_new = conversation is None
    conversation = conversation or _new_conversation(submission, text)
    return begin(conversation, submission, text, owner, is_new=is_new, known=known)


def _sent_before(submission: Submission) -> Accepted | None:
    """Return the outcome of a message that was sent before, unless it is to steer."""
    known = Message.objects.filter(
        conversation__owner_id=submission.user_id, key=submission.key
    ).first()
    if known is not None:
        return Accepted(
            run_id=known.run_id, conversation_id=known.conversation_id, is_new=False
        )
    queued = QueuedMessage.objects.sent_as(submission.user_id, submission.key)
    if queued is not None and (queued.dropped_at or not submission.steers):
        return _waits(queued)
    return None


def begin(
    conversation: Conversation,
    submission: Submission,
    text: str,
    owner: str,
    *,
    is_new: bool = False,
    known: Known | None = None,
) -> Accepted:
    """
    Begin a run in a conversation that has none under way.

    Call it in a transaction that has the lock of the conversation. Raise Refused as
    `accept` does, for what is used up.
    """
    known = known or look_up(submission.user_id, conversation.pk)
    if submission.root is None:  # else it is a part of an answer that was begun
        _check_load(known.load)
        _check_limits(submission, text)
    run = _run(conversation, submission)
    if not is_new:
        _stand(run, conversation, submission.lineage)
    begin_state(run, submission)
    if owner:
        run.state, run.owner, run.epoch = RunState.RUNNING, owner, 1
        run.lease_until = known.now + float(conf.get("LEASE_S"))
    return _begin(run, submission, text, is_new=is_new)


def _active(conversation: Conversation) -> Run | None:
    return conversation.runs.filter(state__in=UNFINISHED).first()


def check_unused(conversation: Conversation, client: ClientNames | None) -> None:
    """Raise Refused run_id_used if the client has named a run like that before."""
    if client is None:
        return
    field: Any = ClientRun._meta.get_field("conversation")
    named = [field.get_db_prep_value(conversation.pk, connection), client.run]
    if has_any(ClientRun, "conversation_id = %s AND client_id = %s", named):
        raise Refused(
            "run_id_used",
            _("The run “%(id)s” already exists. Give each run its own id.")
            % {"id": client.run},
        )


def _continued(submission: Submission) -> Conversation | None:
    """Return the conversation, with its lock; None if it is not there yet."""
    thread = submission.client.thread if submission.client else ""
    named = {"thread_id": thread} if thread else {"pk": submission.conversation_id}
    # Who continues has read it; code of the site has not.
    is_read = submission.channel != Channel.CODE
    user_id = submission.user_id
    return Conversation.objects.use_own(user_id, is_read=is_read, **named)


def _new_conversation(submission: Submission, text: str) -> Conversation:
    title = " ".join(text.split())
    if len(title) > TITLE_CHARS:
        title = title[: TITLE_CHARS - 1] + "…"
    made = Conversation(
        pk=submission.conversation_id,
        owner_id=submission.user_id,
        title=title,
        thread_id=submission.client.thread if submission.client else "",
    )
    insert_row(made, {"read_at": clock.time_sql()})
    return made


def _to_active(active: Run, submission: Submission, text: str) -> Accepted:
    message = _message(active, submission, text)
    if submission.steers:  # what is asked meanwhile, it does not answer
        return _tell(active, submission, message)
    # Code of the site answers nothing for its person.
    may_answer = submission.is_message and submission.channel != Channel.CODE
    if may_answer and take_as_answer(active, message, submission.stamp):
        return Accepted(
            run_id=active.pk,
            conversation_id=active.conversation_id,
            is_new=False,
            woken=True,
        )
    if not submission.may_wait:
        raise busy()
    return _waits(_enqueue(active.conversation, submission, text), behind=active)


def _tell(active: Run, submission: Submission, message: Message) -> Accepted:
    """Let the next step of a run read a message; without one it waits for the end."""
    queued = QueuedMessage.objects.sent_as(submission.user_id, submission.key)
    queued = queued or _enqueue(active.conversation, submission, message.typed)
    if not take_along(active, message, look_only=submission.look_only):
        raise busy()
    queue.told(active, queued)
    return _waits(queued, behind=active)


def _enqueue(
    conversation: Conversation, submission: Submission, text: str
) -> QueuedMessage:
    run = _run(conversation, submission)
    queued = QueuedMessage(
        id=run.pk,  # that of its run, if code of the site has been told it
        conversation=conversation,
        user_id=submission.user_id,
        key=submission.key,
        text=text,
        command=submission.command.stored() if submission.command else {},
        label=submission.label,
        **run.sent_fields(),
    )
    queue.add_to_queue(queued)
    return queued


def _waits(queued: QueuedMessage, behind: Run | None = None) -> Accepted:
    run = behind or queue.last_ended_run(queued.conversation_id)
    return Accepted(
        run_id=run.pk if run else UUID(int=0),
        conversation_id=queued.conversation_id,
        is_new=False,
        queued=queued.pk,
    )


def busy() -> Refused:
    """Return the refusal of what cannot wait for the end of a run."""
    sentence = _("The assistant is still working. Stop it, or wait for its answer.")
    return Refused("busy", sentence)


def _check_load(active: int) -> None:
    if active >= int(conf.get("LIMITS", "RUNS_PER_USER")):
        raise Refused(
            "too_many_runs",
            _("%(n)d answers are already being written for you. Wait for one.")
            % {"n": active},
        )


def _check_limits(submission: Submission, text: str) -> None:
    """Raise Limited if a rate or a budget of the site is used up."""
    check_message_rate(submission.user_id)
    user = fresh_user(submission.user_id) if has_budgets() else None
    if user is not None:
        check_before_start(user, text)


def _run(conversation: Conversation, submission: Submission) -> Run:
    page, lineage = submission.page, submission.lineage
    return Run(
        id=submission.run_id or uuid.uuid4(),
        conversation=conversation,
        user_id=submission.user_id,
        kind=lineage.kind,
        continues_id=lineage.continues,
        root_id=submission.root,
        wish=lineage.wish,
        profile=profile_of(submission),
        agent=submission.agent or "",
        idempotency_key=submission.key,
        page_path=redact(site_path(page.path)),
        script_prefix=script_prefix(),
        language=language_of(page.path) or "",
        page_title=redact(join_surrogates(page.title))[:300],
        module=module_of_page(submission).id,
        context=redact_json(dict(page.context)),
        look_only=submission.look_only,
        **submission.stamp.fields(),
        channel=submission.channel,
        start_depth=submission.start_depth,
        context_rounds=submission.context_rounds,
        next_seq=2,
    )


def _begin(run: Run, submission: Submission, text: str, *, is_new: bool) -> Accepted:
    """Store a new run with its message and its first event."""
    insert_row(run)
    message = _message(run, submission, text)
    if run.kind == RunKind.CONTINUE and submission.label == Message.Label.USER:
        message.origin = Message.Origin.APP
    if submission.root is not None:
        message.origin = Message.Origin.AGENT
    if is_new:
        message.position = 0
        insert_row(message)
    else:
        Message.objects.append(message)
    facts: list[Event] = [RunStarted()]
    if of_site(run.state_values):
        facts.append(state_event(run.state_version, {}, run.state_values))
    events = append_events(run.pk, facts, first_seq=1, epoch=run.epoch)
    ids = {"run_id": run.pk, "conversation_id": run.conversation_id}
    announce(signals.run_started, Run, **ids, user_id=run.user_id)
    if submission.client is not None:
        named = submission.client.run
        insert_row(ClientRun(conversation=run.conversation, run=run, client_id=named))
    if conf.get("AUDIT", "STARTS"):
        run_started(run, submission.stamp.ip)
    hold = Hold(run_id=run.pk, owner=run.owner, epoch=1) if run.owner else None
    return Accepted(
        run_id=run.pk,
        conversation_id=run.conversation_id,
        is_new=True,
        hold=hold,
        rows=NewRun(run=run, message=message, events=events, is_first=is_new),
    )


def _stand(run: Run, conversation: Conversation, lineage: Lineage) -> None:
    """Set the run that the new one follows; it is shown, since it is the newest."""
    before = before_next(conversation, beside=lineage.beside, behind=lineage.continues)
    if before is not None:
        run.after_id = before.pk
        # The names of the tools that the model has found there: it keeps them.
        run.loaded_tools = before.loaded_tools[-MOST_LOADED:]
        run.state_values = before.state_values
        run.state_version, run.state_data = before.state_version, before.state_data
    if conversation.shown_run_id is not None:
        Conversation.objects.filter(pk=conversation.pk).update(shown_run=None)


def site_path(said: str) -> str:
    """Return the path of a page of this site, or nothing: it is part of the prompt."""
    is_path = said.startswith("/") and said.isprintable() and " " not in said
    return said[:PATH_CHARS] if is_path else ""


def _message(run: Run, submission: Submission, text: str) -> Message:
    command = submission.command.stored() if submission.command else {}
    message = Message.said(run, submission.key, text, command, label=submission.label)
    message.client_id = submission.client.message if submission.client else ""
    return message
