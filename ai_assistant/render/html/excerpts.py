"""The place in a text where the words of a search stand."""

import re
from typing import NamedTuple

BEFORE, LENGTH = 40, 160  # characters
GAP = "…"
# What Markdown says by signs: lines of tables and rulers, headings, quotations, weight.
SIGNS = re.compile(
    r"^[ \t|:+=-]+$|^[ \t]*(?:#{1,6}|>|```\w*)\s*|\*\*|`|\|", re.MULTILINE
)


class Piece(NamedTuple):
    """A piece of an excerpt; `is_hit` if it is one of the words."""

    text: str
    is_hit: bool


def excerpt(text: str, words: tuple[str, ...], *, length: int = LENGTH) -> list[Piece]:
    """Return the text around the first of the words, in pieces, on one line."""
    pattern = re.compile("|".join(map(re.escape, words)) or r"(?!)", re.IGNORECASE)
    line = " ".join(text.split())
    first = pattern.search(line)
    start = max(0, first.start() - BEFORE) if first and len(line) > length else 0
    if start:
        start = line.rfind(" ", 0, start) + 1 or start
    end = start + length
    pieces = _marked(line[start:end], pattern)
    head = [Piece(GAP, is_hit=False)] if start else []
    tail = [Piece(GAP, is_hit=False)] if end < len(line) else []
    return [*head, *pieces, *tail]


def without_signs(text: str) -> str:
    """Return Markdown as it is read: an excerpt of a table is its cells."""
    return SIGNS.sub(" ", text)


def _marked(line: str, pattern: re.Pattern[str]) -> list[Piece]:
    pieces, at = [], 0
    for hit in pattern.finditer(line):
        pieces += [
            Piece(line[at : hit.start()], is_hit=False),
            Piece(hit[0], is_hit=True),
        ]
        at = hit.end()
    pieces.append(Piece(line[at:], is_hit=False))
    return [piece for piece in pieces if piece.text]
