"""
Unicode properties of characters: control, hidden, script, confusable.

Scripts and look-alikes are those of Unicode's own data (UTS #39), as the package
confusable-homoglyphs has them. Texts are normalized here for a database, a parser and a
reader.
"""

import codecs
import json
import math
import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Any

REPLACEMENT = "\ufffd"
UTF16 = "utf-16-le"  # in which a half of a character has a form
CACHED = 4096  # characters of which the properties are kept

# The property Default_Ignorable_Code_Point, as the inside of a character class: drawn as
# nothing, though some of these count among the letters and marks.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
JOINERS = "\u200c\u200d"  # scripts and emoji need them
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
CONFUSABLE_SCRIPTS = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}
)
_BLANK = re.compile(f"[{IGNORABLE}\u2800]")  # the last is a pattern without dots
_VARIATION = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def is_control(char: str) -> bool:
    """Return whether `char` is a control character, or half of a character."""
    return unicodedata.category(char) in ("Cc", "Cs")


def is_bidi_control(char: str) -> bool:
    """Return whether `char` changes the direction of the text around it."""
    return _BIDI.match(char) is not None


def is_blank(char: str) -> bool:
    """Return whether `char` is drawn as nothing, whatever its category."""
    return _BLANK.match(char) is not None


def is_hidden(char: str) -> bool:
    """Return whether a reader sees nothing of `char`; spaces are not hidden."""
    return is_blank(char) or unicodedata.category(char) in HIDDEN_CATEGORIES


def is_variation_selector(char: str) -> bool:
    """Return whether `char` only selects a variant of the preceding character."""
    return _VARIATION.match(char) is not None


@lru_cache(maxsize=CACHED)
def confusable_script(char: str) -> str:
    """Return the script of a letter that may pass for one of another, else ""."""
    if char.isascii():
        return "LATIN" if char.isalpha() else ""
    from confusable_homoglyphs.categories import alias  # noqa: PLC0415 - a large table

    script = str(alias(char)) if char.isalpha() else ""
    return script if script in CONFUSABLE_SCRIPTS else ""


@lru_cache(maxsize=CACHED)
def lookalike(char: str) -> str:
    """Return the Latin letter, or letters, that `char` looks like; else itself."""
    if char.isascii() and char != "I":  # which looks like an l
        return char
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415

    # What looks like several others is the prototype of its class in the data.
    twins = [str(twin["c"]) for twin in confusables_data.get(char, ())]
    return twins[0] if len(twins) == 1 and twins[0].isascii() else char


def join_surrogates(text: str) -> str:
    """Return `text` without NUL and halves of characters; two that fit are joined."""
    if not text.isascii():
        text = text.encode(UTF16, "surrogatepass").decode(UTF16, "replace")
    return text.replace("\0", REPLACEMENT)


def whole_json(value: Any) -> Any:
    """Return the JSON `value` with the surrogates of every text joined."""
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, dict):
        return {
            join_surrogates(str(key)): whole_json(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [whole_json(item) for item in value]
    return value


def short_value(value: Any, chars: int) -> Any:
    """Return the value of a field as JSON, cut to `chars`."""
    if isinstance(value, list | dict):
        text = json.dumps(value, default=str)
        return whole_json(value) if len(text) <= chars else short_text(text, chars)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return short_text(amount_with_currency(value) or str(value), chars)


def amount_with_currency(value: Any) -> str:
    """Return an amount of money, the same in every language; empty if it is none."""
    amount = getattr(value, "amount", None)
    currency = getattr(value, "currency", None)
    is_money = isinstance(amount, Decimal) and currency is not None
    return f"{amount} {currency}" if is_money else ""


def short_text(text: str, chars: int) -> str:
    """Return `text` in whole characters, cut to `chars` of them."""
    joined = join_surrogates(text)
    return joined if len(joined) <= chars else f"{joined[:chars]}…"


class SurrogateJoiner:
    """Joins surrogate halves in a text that comes in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF16)("replace")

    def add(self, piece: str) -> str:
        """Return the text after `piece`; a half at its end is held back."""
        if not piece.isascii() or self._decoder.getstate()[0]:
            piece = self._decoder.decode(piece.encode(UTF16, "surrogatepass"))
        return piece.replace("\0", REPLACEMENT)

    def end(self) -> str:
        """Return the text that is still held back."""
        tail = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return tail


# Lone surrogates are no text; NUL is replaced as CommonMark asks.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?")

# Removed. Joiners and the two common variation selectors stay behind a character that
# is not ASCII, where scripts and emoji need them.
_NEEDED = f"\u034f{JOINERS}\ufe0e\ufe0f"
_INVISIBLE = re.compile(
    f"(?![{_NEEDED}])[{IGNORABLE}\ufff9-\ufffb]|(?<![^\x00-\x7f])[{_NEEDED}]"
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


def _control_picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def strip_invisible(text: str) -> str:
    """Return `text` without invisible characters, control characters shown."""
    text = _SEPARATOR.sub(" ", _CONTROL.sub(_control_picture, text))
    return _INVISIBLE.sub("", text)
