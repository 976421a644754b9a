"""What is kept of the steps of a run: its facts, and the words that models were given."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class RunEvent(models.Model):
    """
    One immutable, numbered fact of a run. Insert only.

    Only `ai_assistant.engine.storage.eventlog` writes and reads this table.
    """

    run = models.ForeignKey(
        "ai_assistant.Run",
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,
    )
    seq = models.PositiveIntegerField()  # from 1, without gaps
    type = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    epoch = models.PositiveIntegerField()
    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ("run", "seq")
        constraints = (
            models.UniqueConstraint(fields=["run", "seq"], name="aia_event_seq"),
        )

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


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
    text = models.TextField()

    class Meta:
        verbose_name = _("text of a prompt")
        verbose_name_plural = _("texts of prompts")
        constraints = (
            models.UniqueConstraint(
                fields=["conversation", "digest"], name="aia_prompt_text"
            ),
        )

    def __str__(self) -> str:
        return self.text[:80]
