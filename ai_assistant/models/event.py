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
