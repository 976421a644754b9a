from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class Step(models.Model):
    """
    One model call and the tool calls it asked for.

    The row is written when the whole reply is there, so a step that has a row is
    never asked again.
    """

    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="steps"
    )
    index = models.PositiveIntegerField()  # 0-based
    message = models.OneToOneField(
        "ai_assistant.Message", on_delete=models.CASCADE, related_name="step"
    )
    finish_reason = models.CharField(max_length=40)
    provider_fields = models.JSONField(default=dict)  # echoed verbatim
    model = models.CharField(max_length=200)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True
    )
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
