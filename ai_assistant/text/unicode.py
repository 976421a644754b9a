"""Characters that a database, a parser or a reader cannot take."""

import codecs
import re
from typing import Any

REPLACEMENT = "\ufffd"
UTF16 = "utf-16-le"  # in which a half of a character has a form


def join_surrogates(text: str) -> str:
    """Return `text` without NUL and halves of characters; two that fit are joined."""
    if not text.isascii():
        text = text.encode(UTF16, "surrogatepass").decode(UTF16, "replace")
    return text.replace("\0", REPLACEMENT)


def whole_json(value: Any) -> Any:
    """Return the JSON `value` with every text in it made whole."""
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, dict):
        return {
            join_surrogates(str(key)): whole_json(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [whole_json(item) for item in value]
    return value


class SurrogateJoiner:
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


# Lone surrogates are no text; NUL is replaced as CommonMark asks.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")

# Removed: they show nothing, and may reorder or hide what is shown. Joiners and
# the two common variation selectors stay behind a character that is not ASCII,
# where scripts and emoji need them.
_INVISIBLE = re.compile(
    "["
    "\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]|(?<![^\x00-\x7f])[\u034f\u200c\u200d\ufe0e\ufe0f]"
)
# Shown as the picture of the control character, so that an escape sequence is seen.
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SEPARATOR = re.compile("[\u2028\u2029]")


def normalize_text(text: str) -> str:
    """
    Return `text` with LF as its only line end and nothing in it that is no text.

    A CR at the end is a line end; a stream holds it back until it knows more.
    """
    return _UNREADABLE.sub("\ufffd", _LINE_END.sub("\n", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def strip_invisible(text: str) -> str:
    """Return `text` without invisible characters, control characters shown."""
    text = _SEPARATOR.sub(" ", _CONTROL.sub(_picture, text))
    return _INVISIBLE.sub("", text)
