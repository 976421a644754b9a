"""Take the site's secrets out of a text that comes in pieces, cut anywhere."""

from functools import lru_cache

from ai_assistant.safety.redaction.redact import redact_values, secrets


class Mask:
    """Keeps back what may be the beginning of a secret until it is known."""

    def __init__(self) -> None:
        self._kept = ""

    def add(self, piece: str) -> str:
        """Return what can be told after `piece`."""
        text = redact_values(self._kept + piece)
        kept = _beginning(text)
        self._kept = text[len(text) - kept :]
        return text[: len(text) - kept]

    def end(self) -> str:
        """Return what is left when no more comes."""
        kept, self._kept = self._kept, ""
        return kept


def _beginning(text: str) -> int:
    """Return how many characters at the end may be the beginning of a secret."""
    beginnings, longest = _beginnings(secrets())
    for length in range(min(longest, len(text)), 0, -1):
        if text[-length:] in beginnings:
            return length
    return 0


@lru_cache(maxsize=4)
def _beginnings(every: tuple[str, ...]) -> tuple[frozenset[str], int]:
    found = {secret[:n] for secret in every for n in range(1, len(secret))}
    return frozenset(found), max(map(len, found), default=0)
