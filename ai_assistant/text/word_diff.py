"""Two values merged into one text, with the differing words marked; what is left out."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from math import sqrt
from typing import Literal, NamedTuple

from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from ai_assistant.text.hidden_characters import (
    mark_hidden_characters,
    split_common_ends,
)

PIECES = re.compile(r"\s+|\w+|[^\w\s]")
WORDS = re.compile(r"\s*\S+\s*")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
MOST_PIECES = 400  # that are compared word by word; more, line by line
FEW_PIECES = 24
SHORT_WORDS = 3  # a value that has no more is replaced as a whole
ALIKE = 0.4  # of two texts; less have nothing in common worth a mark
AROUND = 8  # words kept beside a change
AROUND_CHARS = 200  # in which they are looked for
LONG_CHARS = 300  # of a text that is shown in its beginning only
BRIEF_CHARS = 3_000  # of what is shown of a text that is not there as a whole
CARD_CHARS = 20_000  # of all whole texts of one card; beyond it they are cut
LEAST_CHARS = 1_000  # of one of them, however many there are


class DiffPiece(NamedTuple):
    """A stretch of text that is in both values, or in one."""

    kind: Literal["same", "del", "ins"]
    text: str


class MarkedDiff(NamedTuple):
    """
    A difference as HTML; `whole` only if `brief` leaves something out.

    Of a text that is too long, `more` changed characters are in neither.
    """

    brief: SafeString
    whole: SafeString
    more: int = 0


def marked_diff(
    before: str, after: str, *, strict: bool = False, among: int = 1
) -> MarkedDiff:
    """
    Return `before` and `after` in one, with deletions and insertions marked.

    `among` is the number of differences on the card: the more, the less each may cost.
    """
    limit = max(FEW_PIECES, int(MOST_PIECES / sqrt(max(1, among))))
    pieces = diff_words(before, after, most=limit)
    if sum(len(piece.text) for piece in pieces) > whole_text_limit(among):
        brief, hidden = _brief(pieces)
        return MarkedDiff(mark_pieces(brief, strict=strict), SafeString(""), hidden)
    brief = [
        piece._replace(text=text)
        for piece, text in zip(pieces, _shortened(pieces), strict=True)
    ]
    whole = mark_pieces(pieces, strict=strict)
    if brief == pieces:
        return MarkedDiff(whole, SafeString(""))
    return MarkedDiff(mark_pieces(brief, strict=strict), whole)


def mark_lone_value(text: str, *, among: int = 1) -> MarkedDiff:
    """Return a value without a previous one."""
    if len(text) <= LONG_CHARS:
        return MarkedDiff(mark_hidden_characters(text), SafeString(""))
    brief = mark_hidden_characters(_beginning(text))
    if len(text) > whole_text_limit(among):
        return MarkedDiff(brief, SafeString(""), len(text) - _shown_length(text))
    return MarkedDiff(brief, mark_hidden_characters(text))


def whole_text_limit(among: int) -> int:
    """Return how long a text may be for a card to hold all of it."""
    return max(LEAST_CHARS, CARD_CHARS // max(1, among))


def mark_pieces(pieces: Iterable[DiffPiece], *, strict: bool) -> SafeString:
    """Return pieces as HTML."""
    listed = list(pieces)
    # Spaces at the ends of a value count, those between two changes are seen.
    is_replaced = all(piece.kind != "same" for piece in listed)
    drawn = ((_piece(piece, strict=strict, edges=is_replaced),) for piece in listed)
    return format_html_join(" " if is_replaced else "", "{}", drawn)


def diff_words(before: str, after: str, *, most: int = MOST_PIECES) -> list[DiffPiece]:
    """Return the word diff of two texts as a list of pieces."""
    fewer, more = sorted(map(_count_words, (before, after)))
    if fewer <= SHORT_WORDS and more <= 3 * SHORT_WORDS:
        return _replaced(before, after)
    head, old, new, tail = split_common_ends(before, after)
    middle = _by_word(old, new, most) or _by_line(old, new, most)
    pieces = [DiffPiece("same", head), *middle, DiffPiece("same", tail)]
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    if same < ALIKE * max(len(before), len(after)):
        return _replaced(before, after)
    return _joined(pieces)


def _by_word(old: str, new: str, most: int) -> list[DiffPiece]:
    """Return the word differences of two texts; nothing if there are too many words."""
    if len(old) + len(new) > CARD_CHARS:
        return []
    words = PIECES.findall(old), PIECES.findall(new)
    if max(map(len, words)) > most:
        return []
    return list(_matched(*words, _replaced))


def _by_line(old: str, new: str, most: int) -> list[DiffPiece]:
    """Return the line differences of two texts, unless there are too many lines."""
    if max(old.count("\n"), new.count("\n")) >= most:
        return _replaced(old, new)
    budget = CARD_CHARS

    def by_word(before: str, after: str) -> list[DiffPiece]:
        nonlocal budget
        budget -= len(before) + len(after)
        words = _by_word(before, after, most) if budget >= 0 else []
        return words or _replaced(before, after)

    return list(_matched(LINES.findall(old), LINES.findall(new), by_word))


def _matched(
    old: Sequence[str],
    new: Sequence[str],
    apart: Callable[[str, str], list[DiffPiece]],
) -> Iterator[DiffPiece]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, start, end, new_start, new_end in codes:
        if kind == "equal":
            yield DiffPiece("same", "".join(old[start:end]))
        else:
            yield from apart("".join(old[start:end]), "".join(new[new_start:new_end]))


def _joined(pieces: Iterable[DiffPiece]) -> list[DiffPiece]:
    """
    Return each stretch of changes as one deleted and one inserted piece.

    Changes separated only by a space are one stretch.
    """
    result: list[DiffPiece] = []
    deleted = inserted = ""
    pending = [piece for piece in pieces if piece.text]
    for place, (kind, text) in enumerate(pending):
        parts_two = text == " " and 0 < place < len(pending) - 1
        if kind == "same" and not parts_two:
            begun = result.pop().text if result and not deleted + inserted else ""
            result += [*_replaced(deleted, inserted), DiffPiece("same", begun + text)]
            deleted = inserted = ""
            continue
        if kind != "ins":
            deleted += text
        if kind != "del":
            inserted += text
    return result + _replaced(deleted, inserted)


def _replaced(before: str, after: str) -> list[DiffPiece]:
    if before == after:
        return [DiffPiece("same", before)] if before else []
    deleted, inserted = DiffPiece("del", before), DiffPiece("ins", after)
    return [piece for piece in (deleted, inserted) if piece.text]


def _shortened(pieces: Sequence[DiffPiece]) -> Iterator[str]:
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        if piece.kind != "same":
            yield _beginning(piece.text)
        else:
            yield _around(piece.text, is_first=place == 0, is_last=place == last)


def _brief(pieces: Sequence[DiffPiece]) -> tuple[list[DiffPiece], int]:
    """Return the first pieces, and how many changed characters are left out."""
    brief: list[DiffPiece] = []
    hidden, room = 0, BRIEF_CHARS
    for piece, text in zip(pieces, _shortened(pieces), strict=True):
        if room > 0:
            brief.append(piece._replace(text=text))
        if piece.kind != "same":
            shown_length = _shown_length(piece.text) if room > 0 else 0
            hidden += len(piece.text) - shown_length
        room -= len(text)
    return (brief if room > 0 else [*brief, DiffPiece("same", " …")]), hidden


def _around(text: str, *, is_first: bool, is_last: bool) -> str:
    """Return the text beside a change, with "…" for the rest."""
    if len(text) <= 2 * AROUND_CHARS:
        begin = end = WORDS.findall(text)
        if len(begin) <= AROUND * (3 - is_first - is_last):
            return text
    else:
        begin = WORDS.findall(text[:AROUND_CHARS])
        end = WORDS.findall(text[-AROUND_CHARS:])
    head = "" if is_first else "".join(begin[:AROUND]).rstrip() + " "
    tail = "" if is_last else " " + "".join(end[-AROUND:]).lstrip()
    return f"{head}…{tail}"


def _beginning(text: str) -> str:
    length = _shown_length(text)
    return text if length == len(text) else f"{text[:length]} …"


def _shown_length(text: str) -> int:
    """Return how many characters the beginning of a text shows."""
    if len(text) <= LONG_CHARS:
        return len(text)
    start = text[:LONG_CHARS]
    return len(start.rpartition(" ")[0].rstrip() or start)


def _count_words(text: str) -> int:
    pieces = PIECES.findall(text, 0, CARD_CHARS)
    return sum(not piece.isspace() for piece in pieces)


def _piece(piece: DiffPiece, *, strict: bool, edges: bool) -> SafeString:
    if piece.kind == "same":
        return mark_hidden_characters(piece.text, strict=strict, edges=False)
    is_blank = piece.text.isspace()
    text = piece.text.replace("\n", "¶\n") if is_blank else piece.text
    marked = mark_hidden_characters(text, strict=strict, edges=edges or is_blank)
    tag = "<del>{}</del>" if piece.kind == "del" else "<ins>{}</ins>"
    return format_html(tag, marked)


def more_sentence(count: int) -> str:
    """Return the sentence with the number of omitted characters; empty for none."""
    if not count:
        return ""
    sentence = ngettext(
        "%(count)s more character is not shown here.",
        "%(count)s more characters are not shown here.",
        count,
    )
    return sentence % {"count": number_format(count, force_grouping=True)}
