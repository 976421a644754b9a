"""Merge texts: what a person wrote since stays where the undo does not touch it."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

MOST_CHARS = 20_000
Edit = tuple[int, int, list[str]]  # from and to in the base, and what stands there


def merged_text(left: str, now: str, before: str) -> str | None:
    """
    Return `now` with the change from `before` to `left` taken back.

    None if both changes touch each other, or the texts are too long to compare.
    """
    if max(map(len, (left, now, before))) > MOST_CHARS:
        return None
    base = _words(left)
    edits = sorted([*_edits(base, _words(now)), *_edits(base, _words(before))])
    pieces, place = [], 0
    for number, (start, end, words) in enumerate(edits):
        if number and start <= edits[number - 1][1]:
            return None
        pieces += [*base[place:start], *words]
        place = end
    return "".join([*pieces, *base[place:]])


def _words(text: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def _edits(base: list[str], other: list[str]) -> Iterator[Edit]:
    matcher = SequenceMatcher(None, base, other, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield start, end, other[first:last]
