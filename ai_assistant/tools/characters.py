"""
Text that every database, socket and provider takes.

A model, or a tool, may say half a character (a lone surrogate) or NUL: JSON can
spell both, but UTF-8 and PostgreSQL take neither. They become U+FFFD. Plain Python.
"""

import codecs
from typing import Any

REPLACEMENT = "\ufffd"
UTF16 = "utf-16-le"  # in which a half of a character has a form


def whole(text: str) -> str:
    """Return `text` without NUL and halves of characters; two that fit are joined."""
    if not text.isascii():
        text = text.encode(UTF16, "surrogatepass").decode(UTF16, "replace")
    return text.replace("\0", REPLACEMENT)


def whole_json(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON `value` with every text in it made whole."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(str(key)): whole_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_json(item) for item in value]
    return value


class Joiner:
    """Makes a text whole that comes in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF16)("replace")

    def add(self, piece: str) -> str:
        """Return what can be told after `piece`; a half at its end is kept back."""
        if not piece.isascii() or self._decoder.getstate()[0]:
            piece = self._decoder.decode(piece.encode(UTF16, "surrogatepass"))
        return piece.replace("\0", REPLACEMENT)

    def end(self) -> str:
        """Return what is left when no more comes."""
        tail = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return tail
