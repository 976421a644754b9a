from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.exceptions import AppendOnly

ADVICE = "Call ai_assistant.safety.audit.record() for a new one."


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Read-only entries."""

    def update(self, **_fields: Any) -> NoReturn:
        """Refuse: entries are never changed."""
        raise AppendOnly(f"The audit log cannot be changed. {ADVICE}")

    def bulk_update(self, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: entries are never changed."""
        raise AppendOnly(f"The audit log cannot be changed. {ADVICE}")

    def delete(self) -> NoReturn:
        """Refuse: old entries go by `manage.py assistant_purge` only."""
        raise AppendOnly(
            "Entries of the audit log cannot be deleted one by one. "
            "Use manage.py assistant_purge for those that are old enough."
        )


class AuditEntry(models.Model):
    """
    One thing that the assistant did or was refused, never changed afterwards.

    Once it is sealed, it has a number, and `hash` is over the fields and the hash of
    the entry before; until then over the fields alone: see safety.audit.
    It names runs and calls by id only, so that it outlives them; `user` is not under
    the hash, for the same reason, but `user_name` is, and the id in `details`.
    """

    id = models.BigAutoField(primary_key=True)  # in the order of writing
    # From 1, in the order of sealing; none: not sealed yet.
    n = models.PositiveBigIntegerField(_("number"), null=True, blank=True, unique=True)
    previous = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(_("time"), db_index=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("user"),
    )
    user_name = models.CharField(_("user name"), max_length=200, blank=True)
    action = models.CharField(_("action"), max_length=40)
    tool = models.CharField(_("tool"), max_length=200, blank=True)
    run_id = models.UUIDField(_("run"), null=True, blank=True, db_index=True)
    call_id = models.UUIDField(_("tool call"), null=True, blank=True)
    details = models.JSONField(_("details"), default=dict, blank=True)
    ip = models.CharField(_("address"), max_length=45, blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.n or '-'} {self.action}"

    def save(self, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: an entry gets its hash where it is recorded."""
        raise AppendOnly(f"An entry of the audit log cannot be saved. {ADVICE}")

    def delete(self, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: entries are never deleted one by one."""
        raise AppendOnly(f"An entry of the audit log cannot be deleted. {ADVICE}")

    @property
    def place(self) -> int:
        """The number of a sealed entry; 0 of one that is not sealed."""
        return self.n or 0


class AuditHead(models.Model):
    """
    The beginning and the end of the audit log: the one row that sealing waits for.

    Without it, an entry that was cut off at the end would not be missed. `mac` is
    over the other fields.
    """

    n = models.PositiveBigIntegerField(default=0)  # of the last entry; 0: none
    hash = models.CharField(max_length=64, blank=True)  # of the last entry
    first = models.PositiveBigIntegerField(default=1)  # older ones were purged
    first_previous = models.CharField(max_length=64, blank=True)  # hash before `first`
    mac = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name = _("end of the audit log")
        verbose_name_plural = _("end of the audit log")

    def __str__(self) -> str:
        return str(self.n)
