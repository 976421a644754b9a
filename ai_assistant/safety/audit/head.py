"""The end of the chain: locked, so that no two entries get one number."""

from django.db import connection
from django.db.models import F

from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.safety.audit.chain import head_mac, is_own_head

PK = 1  # there is one
ALTERED = "audit.head_altered"
MISSING = "audit.head_missing"


def locked_head() -> tuple[AuditHead, str]:
    """
    Return the head, locked until the transaction ends, and what is wrong with it.

    The latter is an action to be recorded first: what was cut off together with the
    head would not be missed otherwise.
    """
    # A write first: on SQLite too it makes others wait, and nobody fail.
    if not AuditHead.objects.filter(pk=PK).update(n=F("n")):
        AuditHead.objects.bulk_create([AuditHead(pk=PK)], ignore_conflicts=True)
        AuditHead.objects.filter(pk=PK).update(n=F("n"))
    return _looked_at(AuditHead.objects.get(pk=PK))


def free_head() -> tuple[AuditHead, str] | None:
    """Return what `locked_head` does; None if another process has it just now."""
    if not connection.features.has_select_for_update_skip_locked:
        return locked_head()
    if not AuditHead.objects.filter(pk=PK).exists():
        return locked_head()
    rows = AuditHead.objects.select_for_update(skip_locked=True)
    head = rows.filter(pk=PK).first()
    return None if head is None else _looked_at(head)


def _looked_at(head: AuditHead) -> tuple[AuditHead, str]:
    if head.mac or head.n:
        return head, "" if is_own_head(head) else ALTERED
    sealed = AuditEntry.objects.exclude(n=None)
    last = sealed.order_by("-n").first()
    if last is None:
        return head, ""
    earliest = sealed.order_by("n")[0]
    head.n, head.hash = last.place, last.hash
    head.first, head.first_previous = earliest.place, earliest.previous
    return head, MISSING


def keep(head: AuditHead) -> None:
    """Store the head with its proof. Its lock must be held."""
    head.mac = head_mac(head)
    head.save(update_fields=["n", "hash", "first", "first_previous", "mac"])
