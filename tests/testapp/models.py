from django.db import models


class Effect(models.Model):
    """One effect of a tool. Nothing is unique: a doubled effect is to be seen."""

    key = models.CharField(max_length=100, db_index=True)
    value = models.CharField(max_length=200, blank=True)
    run = models.UUIDField(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.key}={self.value}"
