"""The end of the chain: locked, so that no two entries get one number."""

import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.utils.crypto import constant_time_compare, salted_hmac

from ai_assistant import conf
from ai_assistant.models.audit import AuditEntry, AuditHead

PK = 1  # there is one
ALTERED = "audit.head_altered"
MISSING = "audit.head_missing"


def locked_head() -> tuple[AuditHead, str]:
    """
    Return the head, locked until the transaction ends, and what is wrong with it.

    The latter is an action to be recorded first: what was cut off together with the
    head would not be missed otherwise.
    """
    # A write first: on SQLite too it makes others wait instead of fail.
    if not AuditHead.objects.filter(pk=PK).update(n=F("n")):
        AuditHead.objects.bulk_create([AuditHead(pk=PK)], ignore_conflicts=True)
        AuditHead.objects.filter(pk=PK).update(n=F("n"))
    return _checked_head(AuditHead.objects.get(pk=PK))


def free_head() -> tuple[AuditHead, str] | None:
    """Return what `locked_head` does; None if another process has it just now."""
    if not connection.features.has_select_for_update_skip_locked:
        return locked_head()
    if not AuditHead.objects.filter(pk=PK).exists():
        return locked_head()
    rows = AuditHead.objects.select_for_update(skip_locked=True)
    head = rows.filter(pk=PK).first()
    return None if head is None else _checked_head(head)


def _checked_head(head: AuditHead) -> tuple[AuditHead, str]:
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


def store_head(head: AuditHead) -> None:
    """Store the head of the chain with its MAC. The caller must hold its lock."""
    head.mac = head_mac(head)
    head.save(update_fields=["n", "hash", "first", "first_previous", "mac"])


ENTRY = "ai_assistant.audit.entry"
HEAD = "ai_assistant.audit.head"


def entry_hash(entry: AuditEntry, *, n: int | None = None, key: str = "") -> str:
    """
    Return the hash of `entry`, as if its number were `n`.

    That of one without a number shows that it was not altered, nor made by others;
    only the chain shows that one is missing.
    """
    fields = {
        "n": entry.n if n is None else n,
        "previous": entry.previous,
        "created_at": entry.created_at.astimezone(UTC).isoformat(),
        "user": entry.user_name,
        "action": entry.action,
        "tool": entry.tool,
        "run": str(entry.run_id or ""),
        "call": str(entry.call_id or ""),
        "details": entry.details,
        "ip": entry.ip,
    }
    return _keyed(ENTRY, fields, key or keys()[0])


def is_own_hash(entry: AuditEntry, *, n: int | None = None) -> bool:
    """Return whether the stored hash is that of the entry, under any of the keys."""
    return any(
        constant_time_compare(entry.hash, entry_hash(entry, n=n, key=key))
        for key in keys()
    )


def head_mac(head: AuditHead, *, key: str = "") -> str:
    """Return the proof that this app has written the head as it is."""
    fields = {
        "n": head.n,
        "hash": head.hash,
        "first": head.first,
        "first_previous": head.first_previous,
    }
    return _keyed(HEAD, fields, key or keys()[0])


def is_own_head(head: AuditHead) -> bool:
    """Return whether the head is as the assistant has stored it."""
    return any(
        constant_time_compare(head.mac, head_mac(head, key=key)) for key in keys()
    )


def keys() -> list[str]:
    """Return the key that signs now, and those that signed before."""
    configured = [conf.get("AUDIT", "KEY")] if conf.get("AUDIT", "KEY") else []
    return [*configured, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _keyed(salt: str, fields: Mapping[str, Any], key: str) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return salted_hmac(salt, text, secret=key, algorithm="sha256").hexdigest()
