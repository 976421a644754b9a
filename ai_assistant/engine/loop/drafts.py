"""The calls of a reply that is still being written, as far as they are shown."""

from dataclasses import dataclass, replace

from ai_assistant.engine.loop.state import CallDraft
from ai_assistant.types import ToolCallDelta

SHOWN_CHARS = 8000  # of the arguments; what is longer stands still until it is whole
SHOWN_CALLS = 25


@dataclass(slots=True)
class _Open:
    provider_id: str
    draft: CallDraft


class Drafts:
    """
    Gathers the pieces of the calls of one message.

    Only for showing: calls whose pieces are mixed up beyond its simple rule (the
    index, and a new id under the same one) look odd until the whole reply is there.
    """

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self._count = 0
        self._open: dict[int, _Open] = {}  # by the provider's index

    def add(self, delta: ToolCallDelta) -> list[CallDraft]:
        """Take a piece; return the draft if there is something new to show."""
        found = self._open.get(delta.index)
        if found is None or _is_another(found, delta):
            if self._count >= SHOWN_CALLS or not delta.name:
                return []
            found = self._open[delta.index] = self._begin(delta)
        elif not delta.arguments or len(found.draft.arguments) >= SHOWN_CHARS:
            return []
        text = found.draft.arguments + delta.arguments
        found.draft = replace(found.draft, arguments=text[:SHOWN_CHARS])
        return [found.draft]

    def _begin(self, delta: ToolCallDelta) -> _Open:
        draft = CallDraft(
            message_id=self.message_id,
            position=self._count,
            name=delta.name,
            arguments="",
        )
        self._count += 1
        return _Open(provider_id=delta.provider_id, draft=draft)


def _is_another(found: _Open, delta: ToolCallDelta) -> bool:
    return bool(
        delta.name and delta.provider_id and delta.provider_id != found.provider_id
    )
