"""Keep secrets out of prompts, rows, logs and pages."""

from ai_assistant.safety.redaction.redact import (
    MARK,
    redact,
    redact_json,
    redact_values,
    redact_values_json,
)
from ai_assistant.safety.redaction.stream import Mask

__all__ = [
    "MARK",
    "Mask",
    "redact",
    "redact_json",
    "redact_values",
    "redact_values_json",
]
