"""The filter of our loggers: no secrets, and no characters that fool a terminal."""

import logging
import re

from ai_assistant.text.redaction.redact import redact
from ai_assistant.text.unicode import IGNORABLE

NAMES = ("ai_assistant", "ai_assistant.audit")  # a logger's filter sees its own only
# Escapes of terminals, and what turns or hides text: all but newline and tab.
HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{IGNORABLE}]")
_formatter = logging.Formatter()


class Redacting(logging.Filter):
    """Passes every record on, redacted."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the message, and the traceback if it contains a secret."""
        record.msg, record.args = clean(_message(record)), ()
        if record.exc_info:
            traceback = _formatter.formatException(record.exc_info)
            cleaned = clean(traceback)
            # The exception itself is kept for those who group by it, if it may be.
            if cleaned != traceback:
                record.exc_info = None
            record.exc_text = cleaned
        if record.stack_info:
            record.stack_info = clean(record.stack_info)
        return True


def clean(text: str) -> str:
    """Return `text` for a log: redacted, hidden characters spelled out."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", redact(text))


def install() -> None:
    """Put the filter on our loggers. Idempotent."""
    for name in NAMES:
        logger = logging.getLogger(name)
        if not any(isinstance(log_filter, Redacting) for log_filter in logger.filters):
            logger.addFilter(Redacting())


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # arguments that do not fit: logging reports it
        return str(record.msg)
