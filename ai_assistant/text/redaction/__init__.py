"""Keep secrets out of prompts, rows, logs and pages."""

from ai_assistant.text.redaction.redact import (
    MARK,
    Mask,
    redact,
    redact_json,
    redact_values,
    redact_values_json,
)

__all__ = [
    "MARK",
    "Mask",
    "redact",
    "redact_json",
    "redact_values",
    "redact_values_json",
]
