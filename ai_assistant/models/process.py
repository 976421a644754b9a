from django.db import models
from django.utils.translation import gettext_lazy as _


class ExecutorProcess(models.Model):
    """
    A process that executes runs, and when it last said so.

    Others see by it that messages are worked on; see `ai_assistant.engine.presence`.
    """

    owner = models.CharField(primary_key=True, max_length=200)  # see engine.owner
    in_memory = models.BooleanField(default=False)  # its layer reaches no other process
    seen_at = models.FloatField()  # seconds of the database's clock

    class Meta:
        verbose_name = _("executing process")
        verbose_name_plural = _("executing processes")

    def __str__(self) -> str:
        return self.owner
