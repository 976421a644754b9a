"""Take the site's secrets out of a text that comes in pieces, cut anywhere."""

import re
from functools import lru_cache

from ai_assistant.safety.redaction.patterns import OWN_CHARS
from ai_assistant.safety.redaction.redact import redact_values, secrets

# What may be the beginning of an access token, at the end of a text.
OWN_BEGINNING = re.compile(r"(?:a|ai|aia|aia_[A-Za-z0-9_-]*)\Z")


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
    own = OWN_BEGINNING.search(text, max(0, len(text) - OWN_CHARS + 1))
    least = len(own[0]) if own else 0
    for length in range(min(longest, len(text)), least, -1):
        if text[-length:] in beginnings:
            return length
    return least


@lru_cache(maxsize=4)
def _beginnings(every: tuple[str, ...]) -> tuple[frozenset[str], int]:
    found = {secret[:n] for secret in every for n in range(1, len(secret))}
    return frozenset(found), max(map(len, found), default=0)
