"""
Find a value in what a person has typed: verbatim, and as whole words.

Look-alikes never match: invisible characters, letters of another script, compatibility
forms that the person did not type.
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
        set_field = object.__setattr__
        set_field(self, "_exact", tuple(_spaced(_nfc(text)) for text in self.texts))
        set_field(self, "_plain", tuple(map(_folded, self.texts)))
        set_field(self, "_numbers", frozenset(_numbers_of(self.texts)))

    def has_number(self, value: float | Decimal) -> bool:
        """Return whether the number occurs as a word of its own."""
        return -MOST < value < MOST and Decimal(str(value)) in self._numbers

    def has_text(self, value: str) -> bool:
        """Return whether the text occurs between word boundaries, and hides nothing."""
        text = value.strip(" \n\r\t")
        if not text or is_deceptive(text):
            return False
        if NUMBER.fullmatch(text) and self.has_number(Decimal(text)):
            return True
        if unicodedata.normalize("NFKC", text) != _nfc(text):
            phrase = _spaced(_nfc(text))
            return any(_occurs_in(phrase, typed) for typed in self._exact)
        phrase = _folded(text)
        return any(_occurs_in(phrase, typed) for typed in self._plain)


def is_deceptive(text: str) -> bool:
    """Return whether `text` has invisible or look-alike characters."""
    if any(is_hidden(char) for char in {*text} - {*"\n\r\t"}):
        return True
    return any(
        len({*map(confusable_script, word)} - {""}) > 1 for word in WORDS.findall(text)
    )


def _occurs_in(phrase: str, typed: str) -> bool:
    at = typed.find(phrase)
    while at >= 0:
        if _begins(typed, at) and _ends(typed, at + len(phrase)):
            return True
        at = typed.find(phrase, at + 1)
    return False


def _begins(typed: str, at: int) -> bool:
    """Return whether a word may begin at `at`."""
    if at == 0 or typed[at - 1].isspace():
        return True
    if typed[at - 1] == "'":
        return at == 1 or not typed[at - 2].isalnum()  # not in O'Brien
    return typed[at - 1] in BEFORE  # not in shop.example, nor in 10:30


def _ends(typed: str, at: int) -> bool:
    """Return whether a word may end before `at`, perhaps with a full stop."""
    while at < len(typed) and typed[at] in STOPS:
        at += 1
    if at == len(typed) or typed[at].isspace():
        return True
    if typed[at] == "'":
        return at + 1 == len(typed) or not typed[at + 1].isalnum()
    return typed[at] in AFTER


def _numbers_of(texts: Iterable[str]) -> Iterable[Decimal]:
    for text in texts:
        clean = unicodedata.normalize("NFKC", text).translate(QUOTES).replace("=", " ")
        for word in clean.split():
            part = word.strip(AROUND_NUMBERS)
            part = "".join(char for char in part if unicodedata.category(char) != "Sc")
            if NUMBER.fullmatch(part):
                yield Decimal(part)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _spaced(text: str) -> str:
    return SPACES.sub(" ", text.strip())


def _folded(text: str) -> str:
    normalized = unicodedata.normalize("NFKC", text).translate(QUOTES).casefold()
    return _spaced(normalized)
