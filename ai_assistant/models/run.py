"""Runs, their steps, and requests to stop a run."""

import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Self
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField, time_text
from ai_assistant.models.raw_sql import read_row
from ai_assistant.request_context import below


class RunState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    WAITING_APPROVAL = "waiting_approval", _("waiting for approval")
    WAITING_ANSWER = "waiting_answer", _("waiting for an answer")
    WAITING_BROWSER = "waiting_browser", _("waiting for the browser")
    WAITING_TASK = "waiting_task", _("waiting for a long task")
    WAITING_RUN = "waiting_run", _("waiting for another agent")
    WAITING_RETRY = "waiting_retry", _("waiting to try again")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    LIMITED = "limited", _("stopped at a limit")
    NEEDS_REVIEW = "needs_review", _("needs review")


WAITING_FOR_PERSON = (RunState.WAITING_APPROVAL, RunState.WAITING_ANSWER)
# The order in which a run that waits for several things names its state.
WAITING = (
    *WAITING_FOR_PERSON,
    RunState.WAITING_BROWSER,
    RunState.WAITING_TASK,
    RunState.WAITING_RUN,
    RunState.WAITING_RETRY,
)
UNFINISHED = (RunState.QUEUED, RunState.RUNNING, *WAITING)
# These need no person who answers. What waits for another agent is looked at when that
# one has ended: it may wait for a person.
ATTENDED = (*WAITING_FOR_PERSON, RunState.WAITING_RUN)
UNATTENDED = tuple(state for state in UNFINISHED if state not in ATTENDED)
# A stop was requested; its row may not show it yet.
STOPPING = models.Q(stop_requested=True) | models.Q(stop_request__isnull=False)
FINAL = (
    RunState.SUCCEEDED,
    RunState.FAILED,
    RunState.CANCELLED,
    RunState.LIMITED,
    RunState.NEEDS_REVIEW,
)


class Channel(models.TextChoices):
    """The channel through which a message came."""

    PANEL = "panel", _("the panel")
    AGUI = "agui", _("AG-UI")
    API = "api", _("the API")
    CODE = "code", _("code of the site")  # no person: see engine.intake.starts


class SessionFields(models.Model):
    """The session, or the token, in which something was sent."""

    session_digest = models.CharField(max_length=64, blank=True)
    session_sealed = models.TextField(blank=True)  # its key, encrypted
    password_digest = models.CharField(max_length=64, blank=True)
    session_expires_at = models.DateTimeField(null=True, blank=True)
    token_id = models.UUIDField(null=True, blank=True)  # of a program, not a session

    class Meta:
        abstract = True


class SentFields(SessionFields):
    """Fields of a sent message, be it read at once or later: see `QueuedMessage`."""

    page_path = models.CharField(_("page"), max_length=2000, blank=True)
    page_title = models.CharField(max_length=300, blank=True)
    # Of the request: its addresses are made below it. Empty: that of the site.
    script_prefix = models.CharField(max_length=300, blank=True)
    # Of the page, in which its person is spoken to. Empty: that of the site.
    language = models.CharField(max_length=20, blank=True)
    # What the page added and the person kept: browser, mentioned, dropped.
    context = models.JSONField(default=dict, blank=True)
    look_only = models.BooleanField(default=False)  # the person wants no changes
    profile = models.CharField(_("profile"), max_length=100, default="default")
    agent = models.CharField(_("agent"), max_length=64, blank=True)  # its name
    channel = models.CharField(max_length=8, choices=Channel, default=Channel.PANEL)
    start_depth = models.PositiveSmallIntegerField(default=0)  # of CODE, by such runs
    # For how many messages of the person all of it is told; None: for ever.
    context_rounds = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        abstract = True

    def sent_fields(self) -> dict[str, Any]:
        """Return how it was sent, for another row of the same message."""
        return {name: getattr(self, name) for name in SENT}

    @contextmanager
    def as_sent(self) -> Iterator[None]:
        """Make addresses, and speak, as on the page where the message was sent."""
        language = self.language or settings.LANGUAGE_CODE
        with below(self.script_prefix), override(language):
            yield


SESSION = tuple(field.name for field in SessionFields._meta.fields)
SENT = tuple(field.name for field in SentFields._meta.fields)


class RunKind(models.TextChoices):
    """The origin of a run."""

    MESSAGE = "message", _("a new message")
    CONTINUE = "continue", _("continuation of an answer")  # its question was not typed
    RETRY = "retry", _("retry of a question")
    VERSION = "version", _("another version of a question or an answer")


class RunQuerySet(models.QuerySet["Run"]):
    """Runs, and which of them a conversation shows."""

    def shown(self) -> Self:
        """Return the runs of which the first, the newest, ends what is shown."""
        is_newest = models.Q(conversation__shown_run=None)  # nothing is behind it
        is_chosen = models.Q(conversation__shown_run=models.F("pk"))
        return self.filter(is_newest | is_chosen).order_by("-created_at", "-pk")

    def read(self, run_id: UUID) -> "Run | None":
        """Return one by its key; asked for by each call of a tool."""
        own = Run._meta.pk.get_db_prep_value(run_id, connection)
        return read_row(Run, "id = %s", [own])

    def read_unfinished(self, conversation_id: UUID) -> "Run | None":
        """Return the one of a conversation that has not ended; asked for each message."""
        field: Any = Run._meta.get_field("conversation")
        own = field.get_db_prep_value(conversation_id, connection)
        states = ", ".join(["%s"] * len(UNFINISHED))
        where = f"conversation_id = %s AND state IN ({states})"
        return read_row(Run, where, [own, *UNFINISHED])


class Run(SentFields):
    """
    From one message of the user to the final answer.

    Only a `running` run has an owner and a lease. Every write of the run starts by
    checking the lease, one UPDATE of this row; see `ai_assistant.engine.storage.lease`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        "ai_assistant.Conversation",
        on_delete=models.CASCADE,
        related_name="runs",
        db_index=False,
        verbose_name=_("conversation"),
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        verbose_name=_("user"),
    )
    kind = models.CharField(
        _("kind"), max_length=16, choices=RunKind, default=RunKind.MESSAGE
    )
    continues = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("continues"),
    )
    # The run before it. Runs behind the same one are branches of the conversation.
    after = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The run of a person's message for which it works, asked by another agent; see
    # `Conversation.parent_call`. None: it is such a run itself.
    root = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="delegated",
        db_index=False,
        verbose_name=_("works for"),
    )
    wish = models.CharField(max_length=20, blank=True)  # how to answer, this time
    idempotency_key = models.CharField(max_length=64)
    module = models.CharField(max_length=100, blank=True)  # id of its ContextModule
    # Whose model has answered in place of the profile's, and the error that made it so.
    fallback = models.CharField(max_length=100, blank=True)
    fallback_code = models.CharField(max_length=64, blank=True)
    loaded_tools = models.JSONField(default=list, blank=True)  # by find_tools
    tool_versions = models.JSONField(default=dict, blank=True)  # name -> hash

    state = models.CharField(
        _("state"), max_length=20, choices=RunState, default=RunState.QUEUED
    )
    error_code = models.CharField(_("error code"), max_length=64, blank=True)
    error_text = models.TextField(_("error"), blank=True)  # a sentence for the person
    # For the operator.
    error_detail = models.TextField(_("error in detail"), blank=True)
    # When a limit is over.
    opens_at = models.DateTimeField(_("limit ends"), null=True, blank=True)

    owner = models.CharField(max_length=200, blank=True)  # of engine.storage.lease
    epoch = models.PositiveIntegerField(default=0)  # grows at each takeover
    lease_until = models.FloatField(default=0)  # seconds of the database's clock
    next_seq = models.PositiveIntegerField(default=1)
    # Interrupted ones.
    attempts = models.PositiveIntegerField(_("interruptions"), default=0)
    stop_requested = models.BooleanField(default=False)
    running_s = models.FloatField(default=0)  # of finished stretches

    # What hooks and tools keep, by namespace; see `ai_assistant.hooks.state`.
    state_values = models.JSONField(
        _("state of hooks and tools"), default=dict, blank=True
    )
    state_version = models.PositiveIntegerField(default=0)
    state_data = models.JSONField(default=list, blank=True)  # namespaces made of data
    hook_errors = models.JSONField(
        default=list, blank=True
    )  # hook, point, error, count
    # Of the runs before it that a hook has let go on: they count for its limits.
    chain = models.UUIDField(null=True, blank=True)  # the first of them
    chain_steps = models.PositiveIntegerField(default=0)
    chain_s = models.FloatField(default=0)

    created_at = DatabaseTimeField(_("created"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    asked = ""  # its question, where a page has read that

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        permissions = (("view_prompts", _("Can view what the model is told")),)
        ordering = ("created_at",)
        indexes = (
            models.Index(fields=["state", "lease_until"], name="aia_run_sweep"),
            models.Index(fields=["conversation", "created_at"], name="aia_run_conv"),
            # How many were begun in the last minute, of one user and of all.
            models.Index(fields=["user", "created_at"], name="aia_run_user"),
            models.Index(fields=["created_at"], name="aia_run_time"),
            models.Index(
                fields=["root"],
                condition=models.Q(root__isnull=False),
                name="aia_run_root",
            ),
            # What code of the site has started, and waits for its person perhaps.
            models.Index(
                fields=["user", "state"],
                condition=models.Q(channel=Channel.CODE),
                name="aia_run_of_code",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["user", "idempotency_key"], name="aia_run_key"
            ),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(state__in=UNFINISHED),
                name="aia_run_one_active",
            ),
        )

    def __str__(self) -> str:
        return self.asked or gettext("Run of %(time)s") % {
            "time": time_text(self.created_at)
        }

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop; asks for `stop_request` if that is not known."""
        return self.stop_requested or getattr(self, "stop_request", None) is not None

    @property
    def is_final(self) -> bool:
        """Whether nothing will happen to this run any more."""
        return self.state in FINAL


class ClientRun(models.Model):
    """
    A run as a client of another protocol counts it: one request, one stream.

    A run here that waits for a person continues in a new run of the client's.
    `after` and `until` are event numbers of `run`: the stream tells those between,
    `until` included; None while it is not known.
    """

    conversation = models.ForeignKey(
        "ai_assistant.Conversation",
        on_delete=models.CASCADE,
        related_name="client_runs",
        db_index=False,
    )
    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="client_runs"
    )
    client_id = models.CharField(max_length=200)  # the client's own name for it
    after = models.PositiveIntegerField(default=0)
    until = models.PositiveIntegerField(null=True, blank=True)
    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("run of a client")
        verbose_name_plural = _("runs of clients")
        ordering = ("run", "after")
        constraints = (
            models.UniqueConstraint(
                fields=["conversation", "client_id"], name="aia_client_run_id"
            ),
        )

    def __str__(self) -> str:
        return self.client_id


class Step(models.Model):
    """
    One model call and the tool calls it asked for.

    The row is written when the whole reply is there, so a step that has a row is
    never asked again. What the call took is in the `UsageLedger`.
    """

    run = models.ForeignKey(
        "ai_assistant.Run",
        on_delete=models.CASCADE,
        related_name="steps",
        db_index=False,
    )
    index = models.PositiveIntegerField()  # 0-based
    message = models.OneToOneField(
        "ai_assistant.Message", on_delete=models.CASCADE, related_name="step"
    )
    finish_reason = models.CharField(max_length=40)
    provider_fields = models.JSONField(default=dict)  # echoed verbatim
    model = models.CharField(max_length=200)
    prompt = models.JSONField(default=dict)  # see engine.accounting.prompts
    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ("run", "index")
        constraints = (
            models.UniqueConstraint(fields=["run", "index"], name="aia_step_index"),
        )

    def __str__(self) -> str:
        return f"{self.run_id} step {self.index}"


class StopRequest(models.Model):
    """
    A request to stop a run, until the run has taken note of it.

    A row of its own: that of the run may be locked, by a write or by a process that
    hangs. It does not even ask whether the run is there, since that would wait too.
    See `ai_assistant.engine.lifecycle.stop`.
    """

    run = models.OneToOneField(
        "ai_assistant.Run",
        primary_key=True,
        db_constraint=False,
        on_delete=models.CASCADE,
        related_name="stop_request",
    )
    code = models.CharField(max_length=64)
    text = models.TextField(blank=True)  # a sentence for the person

    def __str__(self) -> str:
        return f"{self.run_id} ({self.code})"


class CompressedTextField(models.BinaryField):  # type: ignore[type-arg]
    """A text that is compressed in its column: it is read whole, and never searched."""

    def from_db_value(self, value: Any, *_args: object) -> str | None:
        return None if value is None else zlib.decompress(bytes(value)).decode()

    def get_db_prep_value(self, value: Any, *args: Any, **options: Any) -> Any:
        packed = None if value is None else _compressed(value)
        return super().get_db_prep_value(packed, *args, **options)

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))


@lru_cache(maxsize=128)  # most parts of a prompt come again and again
def _compressed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "replace"), 1)


class PromptText(models.Model):
    """
    The text of a part of a prompt, without secrets.

    Steps name it by its digest; it goes with its conversation.
    """

    conversation = models.ForeignKey(
        "ai_assistant.Conversation",
        on_delete=models.CASCADE,
        related_name="prompt_texts",
        db_index=False,
    )
    digest = models.CharField(max_length=32)  # hexadecimal
    text: "models.Field[str, str]" = CompressedTextField()

    class Meta:
        verbose_name = _("text of a prompt")
        verbose_name_plural = _("texts of prompts")
        constraints = (
            models.UniqueConstraint(
                fields=["conversation", "digest"], name="aia_prompt_text"
            ),
        )

    def __str__(self) -> str:
        return self.digest  # the text is for those who may view prompts
