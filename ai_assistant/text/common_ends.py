"""Two texts without what they share at both ends: fast, however long they are."""

import re
from typing import NamedTuple

WORD_CHARS = 100  # in which the beginning of a word is looked for
LAST_WORD = re.compile(r"\w*\Z")
FIRST_WORD = re.compile(r"\w*")


class SplitTexts(NamedTuple):
    """`head` + `old` + `tail` is the first text, with `new` it is the second."""

    head: str
    old: str
    new: str
    tail: str


def split_common_ends(first: str, second: str) -> SplitTexts:
    """Return two texts parted where they differ, between words if they have any."""
    left = _shared(first, second)
    word = LAST_WORD.search(first[max(0, left - WORD_CHARS) : left])
    left -= len(word[0]) if word else 0
    old, new = first[left:], second[left:]
    right = _shared(old[::-1], new[::-1])
    tail = old[len(old) - right :]
    word = FIRST_WORD.match(tail[:WORD_CHARS])
    tail = tail[len(word[0]) if word else 0 :]
    return SplitTexts(
        first[:left], old[: len(old) - len(tail)], new[: len(new) - len(tail)], tail
    )


def _shared(first: str, second: str) -> int:
    """Return how many characters both begin with."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
