"""Seal entries, and delete the oldest so that the rest of the chain still verifies."""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction

from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry, AuditHead, AuditQuerySet
from ai_assistant.models.clock import database_now
from ai_assistant.safety.audit.chain import (
    entry_hash,
    free_head,
    is_own_hash,
    locked_head,
    store_head,
)
from ai_assistant.safety.audit.record import record


def forget_before(moment: datetime) -> int:
    """
    Delete the entries from the start of the log up to `moment`; return how many.

    The signed head says where the log begins from now on, and a new entry records it.
    The last entry always stays.
    """
    with transaction.atomic():
        head, fault = locked_head()
        # Only an unbroken start: what is out of order is not swept away.
        first_kept = (
            AuditEntry.objects.filter(n__gte=head.first, created_at__gte=moment)
            .order_by("n")
            .first()
        )
        last = head.n if first_kept is None else first_kept.place
        count = last - head.first
        if fault or count <= 0:
            return 0
        first = AuditEntry.objects.filter(n=last).first()
        if first is None:
            return 0
        old = AuditEntry.objects.filter(n__lt=last)
        old._raw_delete(old.db)  # noqa: SLF001 - delete() itself is refused
        head.first, head.first_previous = last, first.previous
        store_head(head)
        details = {"entries": count, "before": moment.isoformat()}
        record("audit.purged", user=None, details=details)
    return count


logger = logging.getLogger("ai_assistant.audit")

SEALED_AT_ONCE = 200  # entries in one transaction
ANCHOR_EVERY = 100  # entries between two lines in the log
BEHIND_S = 300  # so old an entry should be sealed
FORGED = "audit.entry_altered"


def seal_entries() -> int:
    """
    Seal the oldest SEALED_AT_ONCE entries that are not sealed; return how many.

    0 too if another process does that just now.
    """
    with transaction.atomic():
        free = free_head()
        if free is None:
            return 0
        head, fault = free
        rows = list(_rows())
        if not rows:
            return 0
        if fault:
            _note(head, fault)
        for row in rows:
            if not is_own_hash(row):
                _note(head, FORGED)
            _chain(head, row)
        # Its base manager: that of the log refuses to change entries.
        AuditEntry._base_manager.bulk_update(rows, ["n", "previous", "hash"])
        store_head(head)
    return len(rows)


def seal_all(batch: Callable[[], int] = seal_entries) -> int:
    """
    Seal what is not sealed, a batch at a time; return how many entries.

    `batch` is `seal`, or what makes a unit of it.
    """
    count = 0
    # Asked outside of any transaction, which on SQLite would keep others waiting.
    while unsealed_entries().exists() and (sealed := batch()):
        count += sealed
    return count


def unsealed_entries() -> AuditQuerySet:
    """Return the entries that are not sealed, in the order of writing."""
    return AuditEntry.objects.filter(n=None).order_by("id")


def behind_s() -> float:
    """Return the age of the oldest entry that is not sealed, by the database's clock."""
    oldest = unsealed_entries().values_list("created_at", flat=True).first()
    return max(0.0, database_now() - oldest.timestamp()) if oldest else 0.0


def anchor_later(n: int, own_hash: str) -> None:
    """Write the end of the chain to the log, where SQL does not reach it."""
    transaction.on_commit(lambda: logger.info("audit anchor %s:%s", n, own_hash))


def _rows() -> AuditQuerySet:
    # Entries that are locked, as while their user is deleted, come next time.
    skips = connection.features.has_select_for_update_skip_locked
    return unsealed_entries().select_for_update(skip_locked=skips)[:SEALED_AT_ONCE]


def _note(head: AuditHead, action: str) -> None:
    row = AuditEntry(created_at=clock.now(), action=action)
    _chain(head, row)
    AuditEntry.objects.bulk_create([row])


def _chain(head: AuditHead, row: AuditEntry) -> None:
    row.n, row.previous = head.n + 1, head.hash
    row.hash = entry_hash(row)
    head.n, head.hash = row.n, row.hash
    if row.n % ANCHOR_EVERY == 0:
        anchor_later(row.n, row.hash)
