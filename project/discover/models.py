from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class LogLine(models.Model):
    """One thing that a service wrote down."""

    class Level(models.TextChoices):
        DEBUG = "debug", _("debug")
        INFO = "info", _("info")
        WARNING = "warning", _("warning")
        ERROR = "error", _("error")

    time = models.DateTimeField(_("time"), db_index=True)
    level = models.CharField(_("level"), max_length=10, choices=Level)
    service = models.CharField(_("service"), max_length=40)
    message = models.CharField(_("message"), max_length=500)
    status = models.PositiveSmallIntegerField(_("status"), null=True, blank=True)
    duration_ms = models.PositiveIntegerField(_("duration (ms)"), null=True, blank=True)

    class Meta:
        verbose_name = _("log line")
        verbose_name_plural = _("log lines")
        ordering = ("-time", "-pk")

    def __str__(self) -> str:
        return f"{self.level} {self.service}: {self.message}"


class ExplorerQuery(models.Model):
    """What stands in a user's explorer. Losing it does no harm."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="explorer_query",
        verbose_name=_("user"),
    )
    query = models.CharField(_("query"), max_length=500, blank=True)
    description = models.CharField(_("description"), max_length=200, blank=True)
    is_run = models.BooleanField(_("run"), default=True)

    class Meta:
        verbose_name = _("query of a user")
        verbose_name_plural = _("queries of users")

    def __str__(self) -> str:
        return self.query
