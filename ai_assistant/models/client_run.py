from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class ClientRun(models.Model):
    """
    A run as a client of another protocol counts it: one request, one stream.

    A run of ours that waits for a person goes on in a new one of the client's.
    `after` and `until` are event numbers of `run`: the stream tells those between,
    `until` included; None while it is not known.
    """

    conversation = models.ForeignKey(
        "ai_assistant.Conversation",
        on_delete=models.CASCADE,
        related_name="client_runs",
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
