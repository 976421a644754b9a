from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField


class ToolVersion(models.Model):
    """
    A tool as it was when it was called, so that old calls can be read and drawn.

    Its key is the hash of what the model was told of it.
    """

    hash = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(_("tool"), max_length=200)
    label = models.CharField(max_length=200, blank=True)
    effect = models.CharField(max_length=16)
    template = models.CharField(max_length=200, blank=True)
    schema = models.JSONField(default=dict)
    created_at = DatabaseTimeField(_("first used"), auto_now_add=True)

    class Meta:
        verbose_name = _("tool version")
        verbose_name_plural = _("tool versions")
        ordering = ("name", "created_at")

    def __str__(self) -> str:
        return f"{self.name} {self.hash[:8]}"
