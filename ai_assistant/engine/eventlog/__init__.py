"""The numbered facts of runs. Nothing else touches their table."""

from ai_assistant.engine.eventlog.append import append
from ai_assistant.engine.eventlog.read import (
    StoredEvent,
    events_after,
    open_messages,
    partial_texts,
    steps_until,
)

__all__ = [
    "StoredEvent",
    "append",
    "events_after",
    "open_messages",
    "partial_texts",
    "steps_until",
]
