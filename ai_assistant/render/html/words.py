"""Two values as one text in which the words that differ are marked."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from math import sqrt
from typing import Literal, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ai_assistant.render.html.hidden import visible

PIECES = re.compile(r"\s+|\w+|[^\w\s]")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
MOST_PIECES = 400  # that are compared word by word; more, line by line
FEW_PIECES = 24
SHORT_WORDS = 3  # a value that has no more is replaced as a whole
ALIKE = 0.4  # of two texts; less have nothing in common worth a mark
AROUND = 8  # words kept beside a change
LONG_CHARS = 300  # of a text that is shown in its beginning only


class Piece(NamedTuple):
    """A stretch of text that is in both values, or in one."""

    kind: Literal["same", "del", "ins"]
    text: str


class Marked(NamedTuple):
    """A difference as HTML; `whole` only if `brief` leaves something out."""

    brief: SafeString
    whole: SafeString


def difference(
    before: str, after: str, *, strict: bool = False, among: int = 1
) -> Marked:
    """
    Return `before` and `after` in one, with what goes and what comes marked.

    `among` so many differences of one card: the more, the less each may cost.
    """
    most = max(FEW_PIECES, int(MOST_PIECES / sqrt(max(1, among))))
    pieces = compared(before, after, most=most)
    whole = _html(pieces, strict=strict)
    shortened = list(_shortened(pieces))
    if shortened == [piece.text for piece in pieces]:
        return Marked(whole, SafeString(""))
    brief = _html(
        (
            piece._replace(text=text)
            for piece, text in zip(pieces, shortened, strict=True)
        ),
        strict=strict,
    )
    return Marked(brief, whole)


def alone(text: str) -> Marked:
    """Return a value that has nothing before it."""
    if len(text) <= LONG_CHARS:
        return Marked(visible(text), SafeString(""))
    return Marked(visible(_beginning(text)), visible(text))


def compared(before: str, after: str, *, most: int = MOST_PIECES) -> list[Piece]:
    """Return the pieces of two texts, in order."""
    old, new = PIECES.findall(before), PIECES.findall(after)
    few, many = sorted((_words(old), _words(new)))
    if few <= SHORT_WORDS and many <= 3 * SHORT_WORDS:
        return _replaced(before, after)
    left = _common(zip(old, new, strict=False))
    room = min(len(old), len(new)) - left
    right = min(room, _common(zip(reversed(old), reversed(new), strict=False)))
    head, tail = "".join(old[:left]), "".join(old[len(old) - right :])
    middle = _apart(old[left : len(old) - right], new[left : len(new) - right], most)
    pieces = [Piece("same", head), *middle, Piece("same", tail)]
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    if same < ALIKE * max(len(before), len(after)):
        return _replaced(before, after)
    return _joined(pieces)


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    """Return how many pairs at the beginning are of equals."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _apart(old: Sequence[str], new: Sequence[str], most: int) -> list[Piece]:
    """Return what differs between two rows of words, and what does not."""
    if max(len(old), len(new)) <= most:
        return list(_matched(old, new, _replaced))
    lines = LINES.findall("".join(old)), LINES.findall("".join(new))
    if max(map(len, lines)) > most:
        return _replaced("".join(old), "".join(new))

    def by_word(before: str, after: str) -> list[Piece]:
        words = PIECES.findall(before), PIECES.findall(after)
        if max(map(len, words)) > most:
            return _replaced(before, after)
        return list(_matched(*words, _replaced))

    return list(_matched(*lines, by_word))


def _matched(
    old: Sequence[str],
    new: Sequence[str],
    apart: Callable[[str, str], list[Piece]],
) -> Iterator[Piece]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, start, end, new_start, new_end in codes:
        if kind == "equal":
            yield Piece("same", "".join(old[start:end]))
        else:
            yield from apart("".join(old[start:end]), "".join(new[new_start:new_end]))


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces, with changes that only a space parts as one."""
    found: list[Piece] = []
    waiting = [piece for piece in pieces if piece.text]
    for place, piece in enumerate(waiting):
        is_between = 0 < place < len(waiting) - 1
        if piece.kind == "same" and piece.text == " " and is_between:
            found += [Piece("del", " "), Piece("ins", " ")]
        else:
            found.append(piece)
    return _sorted(found)


def _sorted(pieces: list[Piece]) -> list[Piece]:
    """Return each stretch of changes as one piece that goes and one that comes."""
    result: list[Piece] = []
    gone = come = ""
    for piece in [*pieces, Piece("same", "")]:
        if piece.kind == "del":
            gone += piece.text
        elif piece.kind == "ins":
            come += piece.text
        else:
            result += _replaced(gone, come)
            gone = come = ""
            result += [piece] if piece.text else []
    return result


def _replaced(before: str, after: str) -> list[Piece]:
    if before == after:
        return [Piece("same", before)] if before else []
    gone, come = Piece("del", before), Piece("ins", after)
    return [piece for piece in (gone, come) if piece.text]


def _shortened(pieces: Sequence[Piece]) -> Iterator[str]:
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        if piece.kind != "same":
            yield _beginning(piece.text)
        else:
            yield _around(piece.text, is_first=place == 0, is_last=place == last)


def _around(text: str, *, is_first: bool, is_last: bool) -> str:
    """Return what stands beside a change, and "…" for the rest."""
    parts = re.findall(r"\s*\S+\s*", text)
    keep = AROUND * (2 - is_first - is_last)
    if len(parts) <= keep + AROUND:
        return text
    head = "" if is_first else "".join(parts[:AROUND]).rstrip() + " "
    tail = "" if is_last else " " + "".join(parts[-AROUND:]).lstrip()
    return f"{head}…{tail}"


def _beginning(text: str) -> str:
    if len(text) <= LONG_CHARS:
        return text
    start = text[:LONG_CHARS]
    return f"{start.rpartition(' ')[0].rstrip() or start} …"


def _words(pieces: Sequence[str]) -> int:
    return sum(not piece.isspace() for piece in pieces)


def _html(pieces: Iterable[Piece], *, strict: bool) -> SafeString:
    shown = list(pieces)
    # Spaces at the ends of a value count, those between two changes are seen.
    is_replaced = all(piece.kind != "same" for piece in shown)
    drawn = ((_piece(piece, strict=strict, edges=is_replaced),) for piece in shown)
    return format_html_join(" " if is_replaced else "", "{}", drawn)


def _piece(piece: Piece, *, strict: bool, edges: bool) -> SafeString:
    if piece.kind == "same":
        return visible(piece.text, strict=strict, edges=False)
    is_blank = piece.text.isspace()
    text = piece.text.replace("\n", "¶\n") if is_blank else piece.text
    shown = visible(text, strict=strict, edges=edges or is_blank)
    tag = "<del>{}</del>" if piece.kind == "del" else "<ins>{}</ins>"
    return format_html(tag, shown)
