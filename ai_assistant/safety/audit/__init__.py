"""
The audit log: a chain of entries of what the assistant did and was refused.

`record` adds an entry with a keyed hash of itself, `seal` gives it its place in the
chain, with the hash of the one before, and `verify` finds entries that were altered,
deleted, moved or cut off.
"""

from ai_assistant.safety.audit.record import came_from, record, request_ip, write_at_end
from ai_assistant.safety.audit.seal import (
    BEHIND_S,
    behind_s,
    forget_before,
    seal_all,
    seal_entries,
)
from ai_assistant.safety.audit.verify import VerifiedLog, verify

__all__ = [
    "BEHIND_S",
    "VerifiedLog",
    "behind_s",
    "came_from",
    "forget_before",
    "record",
    "request_ip",
    "seal_all",
    "seal_entries",
    "verify",
    "write_at_end",
]
