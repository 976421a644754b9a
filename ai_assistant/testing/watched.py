"""The context providers and tools of a test, which may not fail unseen."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

from ai_assistant.testing.recorded import Recording

logger = logging.getLogger("ai_assistant")


class _ProviderLog(logging.Handler):
    """
    Notes the first context provider of which the log says something.

    On a site it leaves a chip and that line, and the message is sent without it; a
    test would only miss some words of the prompt.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(logging.WARNING)
        self._recording = recording

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if not said.startswith("context provider ") or self._recording.broken:
            return
        error = record.exc_info[1] if record.exc_info else None
        why = f": {type(error).__name__}: {error}" if error else ""
        self._recording.broken = AssertionError(
            f"{said[0].upper()}{said[1:]}{why}. On the site the message is sent "
            "without what it tells."
        )
        self._recording.broken.__cause__ = error


@contextmanager
def watched_providers(recording: Recording) -> Iterator[None]:
    """Break the recording with the first context provider that fails meanwhile."""
    log = _ProviderLog(recording)
    logger.addHandler(log)
    try:
        yield
    finally:
        logger.removeHandler(log)


@contextmanager
def watched_tools(recording: Recording) -> Iterator[None]:
    """Keep the first error that a tool raises by a fault of its own."""
    faults = import_module("ai_assistant.engine.faults")
    tell = faults.tell

    def told(call: Any, error: BaseException) -> None:  # noqa: ANN401 - a ToolCall
        tell(call, error)
        recording.raised = recording.raised or error

    with patch.object(faults, "tell", told):
        yield
