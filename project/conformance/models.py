from django.db import models


class WrittenRow(models.Model):
    """What `slow_write` has written: one row a call."""

    text = models.TextField()
    run_id = models.UUIDField(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.text
