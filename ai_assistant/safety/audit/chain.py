"""
The hash of an entry: keyed, so that who can write to the database cannot make one.

The key comes from SECRET_KEY, or from AI_ASSISTANT["AUDIT_KEY"] where a site changes
the former; SECRET_KEY_FALLBACKS go on to verify what was written before.
"""

import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from ai_assistant import conf
from ai_assistant.models.audit import AuditEntry, AuditHead

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
    """Tell whether the stored hash is that of the entry, under any of the keys."""
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
    """Tell whether nobody else has changed the head."""
    return any(
        constant_time_compare(head.mac, head_mac(head, key=key)) for key in keys()
    )


def keys() -> list[str]:
    """Return the key that signs now, and those that signed before."""
    own = [conf.get("AUDIT_KEY")] if conf.get("AUDIT_KEY") else []
    return [*own, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _keyed(salt: str, fields: Mapping[str, Any], key: str) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return salted_hmac(salt, text, secret=key, algorithm="sha256").hexdigest()
