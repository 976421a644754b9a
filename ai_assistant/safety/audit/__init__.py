"""
The audit log: a chain of entries of what the assistant did and was refused.

Each entry holds a keyed hash of itself and of the one before. `record` adds one,
`verify` finds what was altered, deleted, moved or cut off behind our back.
"""

from ai_assistant.safety.audit.record import came_from, gathered, record, request_ip
from ai_assistant.safety.audit.retention import forget_before
from ai_assistant.safety.audit.verify import Verified, verify

__all__ = [
    "Verified",
    "came_from",
    "forget_before",
    "gathered",
    "record",
    "request_ip",
    "verify",
]
