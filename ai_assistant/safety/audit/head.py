"""The end of the chain: locked by a write, so that no two entries get one number."""

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
    if AuditHead.objects.filter(pk=PK).update(n=F("n")):
        head = AuditHead.objects.get(pk=PK)
        return head, "" if is_own_head(head) else ALTERED
    AuditHead.objects.bulk_create([AuditHead(pk=PK)], ignore_conflicts=True)
    AuditHead.objects.filter(pk=PK).update(n=F("n"))
    head = AuditHead.objects.get(pk=PK)
    if head.n:  # another was faster
        return head, "" if is_own_head(head) else ALTERED
    last = AuditEntry.objects.order_by("-n").first()
    if last is None:
        return head, ""
    earliest = AuditEntry.objects.order_by("n")[0]
    head.n, head.hash = last.n, last.hash
    head.first, head.first_previous = earliest.n, earliest.previous
    return head, MISSING


def keep(head: AuditHead) -> None:
    """Store the head with its proof. Its lock must be held."""
    head.mac = head_mac(head)
    head.save(update_fields=["n", "hash", "first", "first_previous", "mac"])
