"""A program starts a run, or tries one again; a repeat of the same starts nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from rest_framework.request import Request

from ai_assistant.engine.queries import (
    conversations,
    get_or_404,
    messages,
    queued_message,
)
from ai_assistant.engine.service import (
    SentPage,
    Submission,
    Version,
    again_submission,
    clean_text,
    send,
    waiting_for_person,
)
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import QueuedMessage
from ai_assistant.models.run import UNFINISHED, Channel, Run
from ai_assistant.text.redaction.redact import redact, redact_values
from ai_assistant.types import UserKey
from ai_assistant.web.principal import Caller
from ai_assistant.web.rest.base import carry_out

SALT = "ai_assistant.api.conversation"
KEY_HEADER = "Idempotency-Key"
KEY_CHARS = 50

StartFields = Mapping[str, Any]  # the fields of a StartBody


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """`is_new` is False for a repeat; `queued` waits for the end of the run."""

    run_id: UUID
    is_new: bool
    queued: QueuedMessage | None = None


def read_key(request: Request) -> str:
    """Return the key that makes a repeat harmless; a new one if none is given."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return str(uuid4())
    if 0 < len(key) <= KEY_CHARS and key.isascii() and key.isprintable():
        return key
    sentence = _("%(header)s must be 1 to %(most)d printable ASCII characters.")
    values = {"header": KEY_HEADER, "most": KEY_CHARS}
    raise Refused("bad_key", sentence % values)


def start(caller: Caller, fields: StartFields, key: str) -> Started:
    """
    Start a run; the same key and message a second time change nothing.

    While another one works the message waits for its end. Raise Refused: not_found,
    key_reused, interrupts_open, and what the engine says: queue_full, empty, too_long,
    binary, too_many_runs, limited.
    """
    user_id = caller.user.pk
    run = _run_of_key(user_id, key)
    if run is not None:
        _check_same(run, fields, key)
        return Started(run_id=run.pk, is_new=False)
    conversation_id = fields["conversation"] or _new_conversation(user_id, key)
    if fields["conversation"] is not None:
        _check_conversation(user_id, fields["conversation"])
    submission = Submission(
        user_id=user_id,
        conversation_id=conversation_id,
        key=key,
        text=fields["text"],
        page=SentPage(path=fields["page_path"]),
        look_only=fields["look_only"],
        agent=fields["agent"],
        stamp=caller.stamp,
        channel=Channel.API,
    )
    accepted = carry_out(send(submission))
    queued = queued_message(user_id, key) if accepted.queued is not None else None
    if queued is not None:
        if not _is_same(queued, queued.text, fields):  # or it was dropped
            raise _reused()
        return Started(run_id=accepted.run_id, is_new=False, queued=queued)
    if accepted.queued is not None:
        return _started_meanwhile(user_id, fields, key)
    if not accepted.is_new and not accepted.woken:  # another request was quicker
        _check_same(Run.objects.get(pk=accepted.run_id), fields, key)
    return Started(run_id=accepted.run_id, is_new=accepted.is_new)


def start_again(caller: Caller, run_id: UUID, key: str) -> Started:
    """
    Start a run that continues an ended one.

    Raise Refused: not_found, not_ended, key_reused, and what the engine says.
    """
    submission = again_submission(caller.user.pk, run_id, key, caller.stamp)
    accepted = carry_out(send(replace(submission, channel=Channel.API)))
    run = Run.objects.get(pk=accepted.run_id)
    if run.continues_id != run_id:
        raise _reused()
    return Started(run_id=run.pk, is_new=accepted.is_new)


def steer(caller: Caller, run: Run, text: str, key: str) -> Started:
    """
    Tell a run under way something, which its next step reads.

    What it does not read is the next message of the queue. Raise Refused: ended, busy
    if it takes none, and what the engine says of a text.
    """
    if run.is_final:
        raise Refused("ended", _("This answer has ended."))
    submission = Submission(
        user_id=caller.user.pk,
        conversation_id=run.conversation_id,
        key=key,
        text=text,
        page=SentPage(path=run.page_path),
        look_only=run.look_only,
        steers=True,
        agent=run.agent,
        stamp=caller.stamp,
        channel=Channel.API,
    )
    accepted = carry_out(send(submission))
    queued = queued_message(caller.user.pk, key)
    return Started(run_id=accepted.run_id, is_new=False, queued=queued)


def start_version(caller: Caller, submission: Submission) -> Started:
    """
    Start another version of a question or an answer, beside the one before.

    Raise Refused: key_reused, busy, and what the engine says.
    """
    accepted = carry_out(send(replace(submission, channel=Channel.API)))
    run = Run.objects.get(pk=accepted.run_id)
    message = run.messages.filter(key=submission.key).first()
    if message is None or message.typed != redact_values(clean_text(submission.text)):
        raise _reused()
    return Started(run_id=run.pk, is_new=accepted.is_new)


def version_of(caller: Caller, run_id: UUID, key: str) -> Version:
    """Return who wants another version of a run."""
    user_id = caller.user.pk
    return Version(user_id=user_id, run_id=run_id, key=key, stamp=caller.stamp)


def _run_of_key(user_id: UserKey, key: str) -> Run | None:
    message = messages(user_id).filter(key=key).select_related("run").first()
    return message.run if message else None


def _check_same(run: Run, fields: StartFields, key: str) -> None:
    """Raise Refused key_reused if `run` was started by something else."""
    message = run.messages.filter(key=key).first()
    if message is None or not _is_same(run, message.typed, fields):
        raise _reused()


def _started_meanwhile(user_id: UserKey, fields: StartFields, key: str) -> Started:
    """Return the run of a message that waited for a moment only."""
    run = _run_of_key(user_id, key)
    if run is None:
        raise Refused("not_found", _("This conversation does not exist."))
    _check_same(run, fields, key)
    return Started(run_id=run.pk, is_new=False)


def _is_same(row: Run | QueuedMessage, text: str, fields: StartFields) -> bool:
    return (
        text == redact_values(clean_text(fields["text"]))
        and fields["conversation"] in (None, row.conversation_id)
        and row.page_path == redact(fields["page_path"])
        and row.look_only == fields["look_only"]
        and fields["agent"] in (None, row.agent)
    )


def _reused() -> Refused:
    return Refused(
        "key_reused",
        _("This Idempotency-Key was already used for another request. Send a new one."),
    )


def _new_conversation(user_id: UserKey, key: str) -> UUID:
    """Return the id that a repeat will name too, and that nobody else can guess."""
    digest = salted_hmac(SALT, f"{user_id}:{key}", algorithm="sha256").digest()
    return UUID(bytes=digest[:16], version=4)


def _check_conversation(user_id: UserKey, conversation_id: UUID) -> None:
    """Raise Refused not_found, or interrupts_open if it waits for a person."""
    get_or_404(conversations(user_id), conversation_id)
    of_it = Q(run__conversation_id=conversation_id)
    of_it |= Q(run__root__conversation_id=conversation_id)
    waiting = waiting_for_person(run__state__in=UNFINISHED).filter(of_it)
    if waiting.exists():
        raise Refused(
            "interrupts_open",
            _("The assistant is waiting for an answer. Give it, or stop the run."),
        )
