"""A program starts a run, or tries one again; a repeat of the same starts nothing."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from pydantic import Field

from ai_assistant.engine.queries import (
    conversations,
    get_or_404,
    messages,
    queued_message,
)
from ai_assistant.engine.service import (
    SentPage,
    Submission,
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
from ai_assistant.web.panel.fields import MAX_PATH_CHARS, page_path
from ai_assistant.web.principal import Caller
from ai_assistant.web.rest.errors import Invalid
from ai_assistant.web.rest.reading import Body, carry_out

SALT = "ai_assistant.api.conversation"


class StartBody(Body):
    """A message of the user."""

    text: str = Field(min_length=1, description="The message of the user.")
    conversation: UUID | None = Field(
        None, description="One of your conversations; without it a new one is created."
    )
    page_path: str = Field(
        "",
        max_length=MAX_PATH_CHARS,
        description="The page of this site that the user is on.",
        examples=["/admin/shop/order/"],
    )
    look_only: bool = Field(default=False, description="This run may only read.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """`is_new` is False for a repeat; `queued` waits for the end of the run."""

    run_id: UUID
    is_new: bool
    queued: QueuedMessage | None = None


def start(caller: Caller, body: StartBody, key: str) -> Started:
    """
    Start a run; the same key and message a second time change nothing.

    While another one works the message waits for its end. Raise Refused: not_found,
    key_reused, interrupts_open, invalid, and what the engine says: queue_full, empty, too_long, binary, too_many_runs, limited.
    """
    _check_path(body.page_path)
    user_id = caller.user.pk
    run = _run_of_key(user_id, key)
    if run is not None:
        _check_same(run, body, key)
        return Started(run_id=run.pk, is_new=False)
    conversation_id = body.conversation or _new_conversation(user_id, key)
    if body.conversation is not None:
        _check_conversation(user_id, body.conversation)
    submission = Submission(
        user_id=user_id,
        conversation_id=conversation_id,
        key=key,
        text=body.text,
        page=SentPage(path=body.page_path),
        look_only=body.look_only,
        stamp=caller.stamp,
        channel=Channel.API,
    )
    accepted = carry_out(send(submission))
    queued = queued_message(user_id, key) if accepted.queued is not None else None
    if queued is not None:
        if not _is_same(queued, queued.text, body):  # or it was dropped
            raise _reused()
        return Started(run_id=accepted.run_id, is_new=False, queued=queued)
    if accepted.queued is not None:
        return _started_meanwhile(user_id, body, key)
    if not accepted.is_new and not accepted.woken:  # another request was quicker
        _check_same(Run.objects.get(pk=accepted.run_id), body, key)
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


def _check_path(path: str) -> None:
    if path and (page_path(path) != path or " " in path):
        detail = _("it is not the path of a page of this site; begin it with “/”")
        raise Invalid([{"field": "page_path", "detail": detail}])


def _run_of_key(user_id: UserKey, key: str) -> Run | None:
    message = messages(user_id).filter(key=key).select_related("run").first()
    return message.run if message else None


def _check_same(run: Run, body: StartBody, key: str) -> None:
    """Raise Refused key_reused if `run` was started by something else."""
    message = run.messages.filter(key=key).first()
    if message is None or not _is_same(run, message.text, body):
        raise _reused()


def _started_meanwhile(user_id: UserKey, body: StartBody, key: str) -> Started:
    """Return the run of a message that waited for a moment only."""
    run = _run_of_key(user_id, key)
    if run is None:
        raise Refused("not_found", _("This conversation does not exist."))
    _check_same(run, body, key)
    return Started(run_id=run.pk, is_new=False)


def _is_same(row: Run | QueuedMessage, text: str, body: StartBody) -> bool:
    return (
        text == redact_values(clean_text(body.text))
        and body.conversation in (None, row.conversation_id)
        and row.page_path == redact(body.page_path)
        and row.look_only == body.look_only
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
    waiting = waiting_for_person(
        run__conversation_id=conversation_id, run__state__in=UNFINISHED
    )
    if waiting.exists():
        raise Refused(
            "interrupts_open",
            _("The assistant is waiting for an answer. Give it, or stop the run."),
        )
