"""Who works on what: locks of objects, and the processes that execute runs."""

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.utils.translation import gettext_lazy as _


class ObjectLock(models.Model):
    """
    A run works on this object: no one else can save it meanwhile.

    It holds as long as its run is `running` and has its lease, which a heartbeat
    renews; see `ai_assistant.safety.object_locks`.
    """

    content_type = models.ForeignKey(
        ContentType, on_delete=models.CASCADE, db_index=False
    )
    object_id = models.CharField(max_length=255)
    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="locks"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        verbose_name = _("object lock")
        verbose_name_plural = _("object locks")
        constraints = (
            models.UniqueConstraint(
                fields=["content_type", "object_id"], name="aia_lock_object"
            ),
        )

    def __str__(self) -> str:
        return f"{self.content_type_id} {self.object_id}"


class ExecutorProcess(models.Model):
    """
    A process that executes runs, and when it last said so.

    Others see from it that messages are processed; see
    `ai_assistant.engine.execution.presence`.
    """

    owner = models.CharField(primary_key=True, max_length=200)  # of storage.lease
    in_memory = models.BooleanField(default=False)  # its layer reaches no other process
    seen_at = models.FloatField()  # seconds of the database's clock

    class Meta:
        verbose_name = _("executor process")
        verbose_name_plural = _("executor processes")

    def __str__(self) -> str:
        return self.owner
