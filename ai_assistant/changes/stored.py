"""The changes of a card as JSON, in the interrupt that waits for a person."""

from typing import Any

from pydantic import TypeAdapter

from ai_assistant.changes.values import Changes

_adapter: TypeAdapter[Changes] = TypeAdapter(Changes)


def to_json(changes: Changes) -> dict[str, Any]:
    """Return `changes` as it is stored."""
    return _adapter.dump_python(changes, mode="json", exclude={"needs_trial"})  # type: ignore[no-any-return]


def from_json(stored: Any) -> Changes:
    """Return the stored changes. Raise ValueError if they are malformed."""
    return _adapter.validate_python(stored)


def stored_changes(stored: Any) -> Changes | None:
    """Return the stored changes; None if there are none, or of another release."""
    try:
        return from_json(stored) if stored else None
    except ValueError:
        return None
