import uuid
from datetime import datetime
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class ToolVersion(models.Model):
    """
    A tool as it was when it was called, so that old calls can be read and drawn.

    Its key is the hash of the description that the model gets.
    """

    hash = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(_("tool"), max_length=200)
    label = models.CharField(max_length=200, blank=True)
    effect = models.CharField(max_length=16)
    template = models.CharField(max_length=200, blank=True)
    schema = models.JSONField(default=dict)
    created_at = DatabaseTimeField(_("first used"), auto_now_add=True)

    class Meta:
        verbose_name = _("tool version")
        verbose_name_plural = _("tool versions")
        ordering = ("name", "created_at")

    def __str__(self) -> str:
        return f"{self.name} {self.hash[:8]}"


class CallStatus(models.TextChoices):
    PENDING = "pending", _("pending")
    WAITING = "waiting", _("waiting")
    EXECUTING = "executing", _("working")
    COMPLETE = "complete", _("done")
    FAILED = "failed", _("failed")
    DENIED = "denied", _("denied")
    CANCELLED = "cancelled", _("cancelled")
    UNKNOWN = "unknown", _("outcome unknown")


OPEN_CALL = (CallStatus.PENDING, CallStatus.WAITING, CallStatus.EXECUTING)
WORKED_CALL = (CallStatus.COMPLETE, CallStatus.FAILED)  # ended by what it did


class ToolCall(models.Model):
    """
    A tool call of the model, with its one result.

    Its key is (run, step, position), never the provider's id, which may repeat.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(
        "ai_assistant.Run",
        on_delete=models.CASCADE,
        related_name="calls",
        db_index=False,
    )
    step = models.ForeignKey(
        "ai_assistant.Step", on_delete=models.CASCADE, related_name="calls"
    )
    position = models.PositiveIntegerField()  # 0-based within the step
    provider_id = models.CharField(max_length=200, blank=True)
    provider_fields = models.JSONField(default=dict)

    parent = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="children",
        db_index=False,
        verbose_name=_("called by"),
    )
    version = models.CharField(max_length=64, blank=True)  # of the tool, by its schema

    name = models.CharField(_("tool"), max_length=200)
    label = models.CharField(max_length=200, blank=True)
    effect = models.CharField(_("effect"), max_length=16, blank=True)
    arguments = models.JSONField(_("arguments"), default=dict)
    arguments_text = models.TextField(blank=True)  # only if it is no JSON object
    arguments_digest = models.CharField(max_length=64, blank=True)
    background = models.BooleanField(default=False)
    approved = models.BooleanField(_("approved"), default=False)
    asks = models.BooleanField(default=False)  # it has to be approved
    # For how many messages of the person its result is told; None: for ever.
    context_rounds = models.PositiveSmallIntegerField(null=True, blank=True)
    # Why, for its card.
    asks_because = models.CharField(_("why"), max_length=300, blank=True)
    # What hooks made of it before it was shown: by, refused, approval, changed_by, asked.
    hooked = models.JSONField(default=dict, blank=True)

    status = models.CharField(
        _("status"), max_length=16, choices=CallStatus, default=CallStatus.PENDING
    )
    # expired, skipped, ...
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    # Fields of types.ToolResult.
    result = models.JSONField(_("result"), null=True, blank=True)
    result_text = models.TextField(blank=True)  # what the model reads
    preview = models.TextField(blank=True)  # the first of the result, for its card
    error = models.TextField(_("error"), blank=True)  # a sentence, for its card
    # What its card says to the person: what happened, or why it failed.
    summary = models.CharField(max_length=300, blank=True)
    shown = models.JSONField(null=True, blank=True)  # its result, as a small table
    # Of a fault of the tool; kept under DEBUG only, and shown to superusers.
    traceback = models.TextField(blank=True)

    progress = models.FloatField(null=True, blank=True)  # 0 to 1
    progress_text = models.CharField(max_length=200, blank=True)
    steps = models.JSONField(default=list, blank=True)  # what context.step said
    partial = models.JSONField(null=True, blank=True)  # the newest partial result

    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ("run", "step__index", "position")
        indexes = (
            models.Index(
                fields=["status"],
                condition=models.Q(background=True),
                name="aia_call_background",
            ),
            models.Index(fields=["created_at"], name="aia_call_created"),
            models.Index(fields=["finished_at"], name="aia_call_time"),
            # Without the calls of a step, which are most: SQLite would look for those
            # of one step among all that have no parent.
            models.Index(
                fields=["parent"],
                condition=models.Q(parent__isnull=False),
                name="aia_call_parent",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["run", "step", "position"], name="aia_call_position"
            ),
        )

    def __str__(self) -> str:
        return f"{self.label or self.name} ({self.get_status_display()})"

    @property
    def work_started_at(self) -> datetime:
        """When it was claimed; when it was asked for, of what only reads and is not."""
        return self.started_at or self.created_at

    @property
    def worked_s(self) -> float | None:
        """For how many seconds it worked; None while it does, and if it never did."""
        waited = (CallStatus.CANCELLED, CallStatus.DENIED)  # for a person
        if self.finished_at is None or self.status in waited:
            return None
        return (self.finished_at - self.work_started_at).total_seconds()

    @property
    def needs_proposal(self) -> bool:
        """Whether this pending call must be shown for approval first."""
        return self.status == CallStatus.PENDING and self.asks and not self.approved

    @property
    def is_open(self) -> bool:
        """Whether the call has no result yet."""
        return self.status in OPEN_CALL

    @property
    def mark(self) -> Any:
        """The resume mark of a background call; None if there is none."""
        work = getattr(self, "background_call", None) if self.background else None
        return None if work is None else work.mark


class BackgroundCall(models.Model):
    """
    A call that was queued for the background: which process works on it, how far.

    A process claims it as it does a run; see `ai_assistant.engine.calls.background`.
    """

    call = models.OneToOneField(
        ToolCall,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="background_call",
    )
    owner = models.CharField(max_length=200, blank=True)  # a process
    epoch = models.PositiveIntegerField(default=0)  # grows at each claim
    lease_until = models.FloatField(default=0)  # seconds of the database's clock
    sent_at = models.FloatField(default=0)  # when last given to a worker, ditto
    mark = models.JSONField(null=True, blank=True)  # where a resumable call continues

    class Meta:
        verbose_name = _("background call")
        verbose_name_plural = _("background calls")

    def __str__(self) -> str:
        return str(self.call_id)
