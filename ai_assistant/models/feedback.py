from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class Feedback(models.Model):
    """What a person thinks of an answer."""

    class Value(models.TextChoices):
        UP = "up", _("good")
        DOWN = "down", _("bad")

    class Reason(models.TextChoices):
        WRONG = "wrong", _("Not right")
        INCOMPLETE = "incomplete", _("Not complete")
        UNASKED = "unasked", _("Not what I asked")
        SLOW = "slow", _("Too slow")
        LONG = "long", _("Too long")

    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="feedback"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    value = models.CharField(_("value"), max_length=4, choices=Value)
    reasons = models.JSONField(_("reasons"), default=list, blank=True)
    text = models.TextField(_("comment"), blank=True)
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        ordering = ("-created_at",)
        constraints = (
            models.UniqueConstraint(fields=["run", "user"], name="aia_feedback_one"),
        )

    def __str__(self) -> str:
        return f"{self.value} of {self.run_id}"
