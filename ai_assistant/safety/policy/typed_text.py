"""
Find a value in what a person has typed: word for word, and as a whole.

What only looks like it never does: invisible characters, look-alikes of another
script, compatibility forms that the person did not type.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from ai_assistant.text.unicode import confusable_script, is_hidden

SPACES = re.compile(r"[ \t\r\n]+")
WORDS = re.compile(r"\w+")
DOUBLE, SINGLE = "“”„‟«»❝❞", "\u2018\u2019\u201a\u201b\u2039\u203a`"
QUOTES = dict.fromkeys(map(ord, DOUBLE), '"') | dict.fromkeys(map(ord, SINGLE), "'")
NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?", re.ASCII)
MOST = 10**30  # a larger number is no word of a person
BEFORE = frozenset('"([{<=#*「『《〈【、。')  # a value may begin behind these
AFTER = frozenset('")]}>*」』》〉】、。')  # and end before these
STOPS = frozenset(".,;:!?…")
AROUND_NUMBERS = "\"'()[]{}<>.,;:!?…#*%"


@dataclass(frozen=True, slots=True)
class TypedWords:
    """All that one person has typed, ready to be looked up in."""

    texts: tuple[str, ...]
    _exact: tuple[str, ...] = field(init=False, repr=False)
    _plain: tuple[str, ...] = field(init=False, repr=False)
    _numbers: frozenset[Decimal] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "_exact", tuple(_spaced(_nfc(text)) for text in self.texts))
        put(self, "_plain", tuple(map(_folded, self.texts)))
        put(self, "_numbers", frozenset(_numbers_of(self.texts)))

    def has_number(self, value: float | Decimal) -> bool:
        """Return whether the number stands there as a word of its own."""
        return -MOST < value < MOST and Decimal(str(value)) in self._numbers

    def has_text(self, value: str) -> bool:
        """Return whether the text stands there, between words, and hides nothing."""
        text = value.strip(" \n\r\t")
        if not text or is_deceptive(text):
            return False
        if NUMBER.fullmatch(text) and self.has_number(Decimal(text)):
            return True
        if unicodedata.normalize("NFKC", text) != _nfc(text):
            wanted = _spaced(_nfc(text))
            return any(_stands_in(wanted, said) for said in self._exact)
        wanted = _folded(text)
        return any(_stands_in(wanted, said) for said in self._plain)


def is_deceptive(text: str) -> bool:
    """Return whether `text` holds what a reader does not see, or takes for another."""
    if any(is_hidden(char) for char in {*text} - {*"\n\r\t"}):
        return True
    return any(
        len({*map(confusable_script, word)} - {""}) > 1 for word in WORDS.findall(text)
    )


def _stands_in(wanted: str, said: str) -> bool:
    at = said.find(wanted)
    while at >= 0:
        if _begins(said, at) and _ends(said, at + len(wanted)):
            return True
        at = said.find(wanted, at + 1)
    return False


def _begins(said: str, at: int) -> bool:
    """Return whether a word may begin at `at`."""
    if at == 0 or said[at - 1].isspace():
        return True
    if said[at - 1] == "'":
        return at == 1 or not said[at - 2].isalnum()  # not in O'Brien
    return said[at - 1] in BEFORE  # not in shop.example, nor in 10:30


def _ends(said: str, at: int) -> bool:
    """Return whether a word may end before `at`, perhaps with a full stop."""
    while at < len(said) and said[at] in STOPS:
        at += 1
    if at == len(said) or said[at].isspace():
        return True
    if said[at] == "'":
        return at + 1 == len(said) or not said[at + 1].isalnum()
    return said[at] in AFTER


def _numbers_of(texts: Iterable[str]) -> Iterable[Decimal]:
    for text in texts:
        plain = unicodedata.normalize("NFKC", text).translate(QUOTES).replace("=", " ")
        for word in plain.split():
            bare = word.strip(AROUND_NUMBERS)
            bare = "".join(one for one in bare if unicodedata.category(one) != "Sc")
            if NUMBER.fullmatch(bare):
                yield Decimal(bare)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _spaced(text: str) -> str:
    return SPACES.sub(" ", text.strip())


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(QUOTES).casefold()
    return _spaced(plain)
