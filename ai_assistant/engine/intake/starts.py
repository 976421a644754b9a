"""
Runs that the site's own code starts, for one of its users: nobody need be signed in.

What waits for that person, only they decide. Code of the site that a run calls may
start another one; how many may stand above each other is limited.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, get_args
from uuid import UUID, uuid4

from django.db import connection
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.setup import agent_named
from ai_assistant.engine.intake.submission import accept, clean_text, site_path
from ai_assistant.engine.intake.values import Accepted, SentPage, Submission
from ai_assistant.engine.queries import conversations
from ai_assistant.engine.storage.rounds import MOST_ROUNDS
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, Refused
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import Channel, Run
from ai_assistant.request_context import at_depth, start_depth
from ai_assistant.safety.identity.permissions import fresh_user, may_use
from ai_assistant.types import Label

MOST_STARTS = 3  # runs that have started one another
SALT = "ai_assistant.start"
SHOWN_CHARS = 100  # of a wrong argument
LABELS = get_args(Label)


@dataclass(frozen=True, kw_only=True, slots=True)
class StartRequest:
    """What code of the site says to the assistant. A repeat of `key` is harmless."""

    user: Any
    text: str
    page: str | None = None  # a path of the site
    conversation: Conversation | UUID | str | None = None  # None: one of its own
    key: str | None = None  # of the site's own choice; None: it is never repeated
    profile: str = DEFAULT
    agent: str | None = None  # None: that of the conversation
    label: Label = "data"  # whose words the text is
    context_rounds: int | None = None  # for how many messages it is told


@dataclass(kw_only=True, slots=True)
class StartedRun:
    """
    A run that code of the site has started, by the ids of its rows.

    In a transaction they are stored after its commit; if it is rolled back, never.
    `is_new` is False for a repeat. `is_queued`: it waits for the end of another run.
    `refused` says why it could not be stored after the commit.
    """

    run_id: UUID
    conversation_id: UUID
    is_new: bool = True
    is_queued: bool = False
    refused: Refused | None = None

    @property
    def run(self) -> Run | None:
        """The row as it is now; None before it is stored, and while it is queued."""
        return Run.objects.filter(pk=self.run_id).first()


def check_off_the_loop() -> None:
    """Raise Refused async in code of an event loop, which must not wait here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise Refused(
        "async",
        _(
            "ai_assistant.start() cannot be called in async code. Await %(name)s instead."
        )
        % {"name": "ai_assistant.astart()"},
    )


_migrated: set[str] = set()  # names of databases that have the tables


def check_migrated() -> None:
    """Raise Refused not_migrated if the tables of this app are missing."""
    name = str(connection.settings_dict["NAME"])
    if name in _migrated:
        return
    if Run._meta.db_table not in connection.introspection.table_names():
        raise Refused(
            "not_migrated",
            _(
                "The tables of the assistant are missing. Run “manage.py migrate” first."
            ),
        )
    _migrated.add(name)


def submission_of(wanted: StartRequest) -> Submission:
    """
    Return the message that is to be accepted. Asks the database, and writes nothing.

    Raise Refused: disabled, anonymous, deactivated, permission, bad_label, bad_rounds,
    bad_page, bad_profile, no_agent, not_found, and what `clean_text` raises.
    """
    _check_settings(wanted)
    user_id = _checked_user(wanted.user)
    text = clean_text(str(wanted.text or ""))  # it may be lazy, or missing
    # From the key: a repeat names the same rows, and nobody else can guess them.
    said = f"{user_id}:{wanted.key or uuid4()}"
    digest = salted_hmac(SALT, said, algorithm="sha256").digest()
    return Submission(
        user_id=user_id,
        conversation_id=_conversation_of(wanted, user_id)
        or UUID(bytes=digest[:16], version=4),
        run_id=UUID(bytes=digest[16:], version=4),
        key=digest.hex(),
        text=text,
        page=SentPage(path=_checked_page(wanted.page or "")),
        channel=Channel.CODE,
        profile=wanted.profile,
        agent=wanted.agent,
        label=wanted.label,
        context_rounds=wanted.context_rounds,
        start_depth=start_depth.get() + 1,
    )


def sent_before(submission: Submission) -> StartedRun | None:
    """Return what an earlier start of the same key has begun."""
    said = Message.objects.filter(
        conversation__owner_id=submission.user_id, key=submission.key
    ).first()
    if said is not None:
        return StartedRun(
            run_id=said.run_id, conversation_id=said.conversation_id, is_new=False
        )
    queued = QueuedMessage.objects.sent_as(submission.user_id, submission.key)
    if queued is None:
        return None
    return StartedRun(
        run_id=queued.pk,
        conversation_id=queued.conversation_id,
        is_new=False,
        is_queued=True,
    )


def expected(submission: Submission) -> StartedRun:
    """
    Return the names of what is to be stored.

    Raise Refused too_deep in a run of a chain that is long enough.
    """
    if submission.start_depth > MOST_STARTS:
        raise Refused(
            "too_deep",
            _(
                "%(n)d runs of the assistant have started one another, each by code of "
                "this site. Another one is not started."
            )
            % {"n": MOST_STARTS},
        )
    return StartedRun(
        run_id=submission.run_id or UUID(int=0),
        conversation_id=submission.conversation_id,
    )


def accept_start(submission: Submission, started: StartedRun) -> Accepted | None:
    """
    Store a run that code of the site has started; None for a repeat.

    Raise Refused as `accept` does, then `started` says so too.
    """
    if (before := sent_before(submission)) is not None:
        _copy(before, started)
        return None
    try:
        # What hooks of the site start meanwhile stands below it.
        with at_depth(submission.start_depth):
            accepted = accept(submission)
    except Refused as refused:
        started.refused = refused
        raise
    started.run_id = accepted.queued or accepted.run_id
    started.conversation_id = accepted.conversation_id
    started.is_queued = accepted.queued is not None
    started.is_new = accepted.is_new or started.is_queued
    return accepted


def _copy(source: StartedRun, target: StartedRun) -> None:
    target.run_id, target.conversation_id = source.run_id, source.conversation_id
    target.is_new, target.is_queued = source.is_new, source.is_queued


def _check_settings(wanted: StartRequest) -> None:
    if not conf.enabled():
        raise Refused("disabled", _("The assistant is switched off on this site."))
    if wanted.label not in LABELS:
        raise Refused(
            "bad_label",
            _("The label %(label)r is unknown. Use 'data', 'site' or 'user'.")
            % {"label": wanted.label},
        )
    rounds = wanted.context_rounds
    if rounds is not None and not 0 < rounds <= MOST_ROUNDS:
        sentence = _("context_rounds is %(given)r. Use 1 to %(most)d, or leave it out.")
        values = {"given": rounds, "most": MOST_ROUNDS}
        raise Refused("bad_rounds", sentence % values)
    refresh()
    try:
        conf.profile(wanted.profile)
    except ImproperlyConfiguredAssistant as error:
        raise Refused("bad_profile", str(error)) from error
    if wanted.agent and agent_named(wanted.agent) is None:
        sentence = _("There is no agent “%(name)s”.")
        raise Refused("no_agent", sentence % {"name": wanted.agent[:SHOWN_CHARS]})


def _checked_user(given: Any) -> Any:
    """Return the key of the user for whom the run is. Raise Refused."""
    user_id = getattr(given, "pk", None)
    user = fresh_user(user_id) if user_id is not None else None
    if user is None:
        raise Refused(
            "anonymous",
            _("The assistant works for users of this site, and this is none of them."),
        )
    named = {"name": user.get_username()}
    if not user.is_active:
        sentence = _(
            "The account “%(name)s” is deactivated: nothing is started for it."
        )
        raise Refused("deactivated", sentence % named)
    if not may_use(user):
        sentence = _(
            "“%(name)s” may not use the assistant: nothing is started for them."
        )
        raise Refused("permission", sentence % named)
    return user_id


def _checked_page(path: str) -> str:
    """Return the path of a page. Raise Refused bad_page if it is none of a site."""
    if path and not site_path(path):
        sentence = _("The page “%(path)s” is no path of this site. Begin it with “/”.")
        raise Refused("bad_page", sentence % {"path": path[:SHOWN_CHARS]})
    return path


def _conversation_of(wanted: StartRequest, user_id: Any) -> UUID | None:
    """Return the key of the conversation that is named. Raise Refused not_found."""
    named = wanted.conversation
    if named is None:
        return None
    key = named.pk if isinstance(named, Conversation) else _uuid(named)
    if key is None or not conversations(user_id).filter(pk=key).exists():
        raise Refused("not_found", _("This conversation does not exist."))
    return key


def _uuid(named: UUID | str) -> UUID | None:
    try:
        return named if isinstance(named, UUID) else UUID(named)
    except ValueError:
        return None
