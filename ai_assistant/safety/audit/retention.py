"""Let go of the oldest entries, so that the rest of the chain still verifies."""

from datetime import datetime

from django.db import transaction

from ai_assistant.models.audit import AuditEntry
from ai_assistant.safety.audit.head import keep, locked_head
from ai_assistant.safety.audit.record import record


def forget_before(moment: datetime) -> int:
    """
    Delete the entries from the start of the log up to `moment`; return how many.

    The signed head says where the log begins from now on, and a new entry tells of
    it. The last entry always stays.
    """
    with transaction.atomic():
        head, wrong = locked_head()
        # Only an unbroken start: what is out of order is not swept away.
        kept = (
            AuditEntry.objects.filter(n__gte=head.first, created_at__gte=moment)
            .order_by("n")
            .first()
        )
        last = head.n if kept is None else kept.place
        count = last - head.first
        if wrong or count <= 0:
            return 0
        first = AuditEntry.objects.filter(n=last).first()
        if first is None:
            return 0
        old = AuditEntry.objects.filter(n__lt=last)
        old._raw_delete(old.db)  # noqa: SLF001 - delete() itself is refused
        head.first, head.first_previous = last, first.previous
        keep(head)
        details = {"entries": count, "before": moment.isoformat()}
        record("audit.purged", user=None, details=details)
    return count
