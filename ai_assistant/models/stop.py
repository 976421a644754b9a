from django.db import models


class StopRequest(models.Model):
    """
    The wish that a run stops, until the run has taken note of it.

    A row of its own: that of the run may be locked, by a write or by a process that
    hangs. It does not even ask whether the run is there, since that would wait too.
    See `ai_assistant.engine.stop`.
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
