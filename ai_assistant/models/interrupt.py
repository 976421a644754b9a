import secrets
import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


def new_nonce() -> str:
    """Return what an answer must carry: a page that never saw the card has it not."""
    return secrets.token_urlsafe(24)


class Interrupt(models.Model):
    """
    Why a call waits. A row, so that it outlives every process and page.

    The first answer wins. `arguments_digest` binds it to the exact arguments.
    """

    class Kind(models.TextChoices):
        """The built-in ones; `engine.interrupts.base` has all that are registered."""

        APPROVAL = "approval", _("approval")
        QUESTION = "question", _("question")
        TASK = "task", _("long task")
        BROWSER = "browser", _("browser")
        RUN = "run", _("another agent")

    class QuestionKind(models.TextChoices):
        TEXT = "text", _("text")
        CONFIRM = "confirm", _("yes or no")
        SELECT = "select", _("single choice")
        MULTI_SELECT = "multi_select", _("multiple choice")

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        APPROVED = "approved", _("approved")
        DENIED = "denied", _("denied")
        ANSWERED = "answered", _("answered")
        DECLINED = "declined", _("declined")
        EXPIRED = "expired", _("expired")
        CANCELLED = "cancelled", _("cancelled")
        DONE = "done", _("done")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(
        "ai_assistant.Run",
        on_delete=models.CASCADE,
        related_name="interrupts",
        db_index=False,
    )
    call = models.ForeignKey(
        "ai_assistant.ToolCall", on_delete=models.CASCADE, related_name="interrupts"
    )
    kind = models.CharField(max_length=16)
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    nonce = models.CharField(max_length=64, default=new_nonce)
    arguments_digest = models.CharField(max_length=64, blank=True)
    # What a person is shown before a change: changes.values.Changes, as JSON.
    proposal = models.JSONField(null=True, blank=True)
    question = models.TextField(blank=True)
    question_kind = models.CharField(
        max_length=16, choices=QuestionKind, default=QuestionKind.TEXT
    )
    options = models.JSONField(default=list)  # of {id, label, description}
    strict = models.BooleanField(default=False)  # one of the options, no free text
    default = models.JSONField(null=True, blank=True)
    # In the answers of the call, or of the nested call that has asked.
    key = models.CharField(max_length=100, blank=True)
    asked_by = models.CharField(max_length=64, blank=True)  # empty: the call itself
    answer = models.JSONField(null=True, blank=True)
    # A client of another protocol executes it, not a page.
    is_of_client = models.BooleanField(default=False)
    tab = models.CharField(max_length=64, blank=True)  # that executes it
    lease_until = models.FloatField(default=0)  # of that tab; the database's clock
    request = models.JSONField(default=dict, blank=True)  # what the page is to do
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("interrupt")
        verbose_name_plural = _("interrupts")
        ordering = ("created_at",)
        indexes = (
            models.Index(fields=["run", "status"], name="aia_interrupt_open"),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status="open"),
                name="aia_interrupt_expiry",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} ({self.status})"
