"""The words that models were given, each stored once in a conversation."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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
