import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.models.run import Door


class QueuedMessage(models.Model):
    """
    A message that waits for the end of a run; see `ai_assistant.engine.queue`.

    All that a send says is kept, so that its run starts as if it were sent then. The
    row goes when the run is there; a dropped one stays a while, without its words, so
    that a repeat of its request adds nothing.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        "ai_assistant.Conversation", on_delete=models.CASCADE, related_name="queued"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    key = models.CharField(max_length=64)  # of the send; makes it idempotent
    position = models.PositiveIntegerField()  # within the conversation, with gaps
    text = models.TextField()
    page_path = models.CharField(max_length=2000, blank=True)
    page_title = models.CharField(max_length=300, blank=True)
    script_prefix = models.CharField(max_length=300, blank=True)  # see Run
    context = models.JSONField(default=dict, blank=True)  # see Run.context
    look_only = models.BooleanField(default=False)
    profile = models.CharField(max_length=100, default="default")
    door = models.CharField(max_length=8, choices=Door, default=Door.PANEL)

    # The run that is to read it in its next step; see `ai_assistant.engine.steering`.
    told_run = models.UUIDField(null=True, blank=True)
    held = models.CharField(max_length=64, blank=True)  # the code of why it was refused
    dropped_at = models.DateTimeField(null=True, blank=True)

    session_digest = models.CharField(max_length=64, blank=True)
    session_sealed = models.TextField(blank=True)  # its key, encrypted
    password_digest = models.CharField(max_length=64, blank=True)
    session_expires_at = models.DateTimeField(null=True, blank=True)
    token_id = models.UUIDField(null=True, blank=True)  # of a program, not a session

    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("queued message")
        verbose_name_plural = _("queued messages")
        ordering = ("conversation", "position")
        indexes = (
            models.Index(
                fields=["conversation", "position"], name="aia_queued_position"
            ),
            models.Index(
                fields=["created_at", "id"],
                condition=models.Q(dropped_at=None),
                name="aia_queued_time",
            ),
        )
        constraints = (
            models.UniqueConstraint(fields=["user", "key"], name="aia_queued_key"),
        )

    def __str__(self) -> str:
        return f"{self.position} of {self.conversation_id}"
