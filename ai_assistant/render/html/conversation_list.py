"""The list of conversations: its headings, and where a search hit."""

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils.dateformat import format as formatted
from django.utils.formats import get_format
from django.utils.timezone import is_aware, localdate, localtime, now
from django.utils.translation import gettext as _

BEFORE, LENGTH = 40, 160  # characters
LONG_WORD = 30
GAP = "…"
# What Markdown says by signs: lines of tables and rulers, headings, quotations, weight.
SIGNS = re.compile(
    r"^[ \t|:+=-]+$|^[ \t]*(?:#{1,6}|>|```\w*)\s*|\*\*|`|\|", re.MULTILINE
)
AROUND_WORDS = frozenset({"**", "`"})  # which a full stop may follow


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
    end = start + length
    if start:
        start = _word_before(line, start)
    if end < len(line):
        end = max(_word_before(line, end), first.end() if first else 0)
    pieces = _marked(line[start:end].rstrip(), pattern)
    head = [Piece(GAP, is_hit=False)] if start else []
    tail = [Piece(GAP, is_hit=False)] if end < len(line) else []
    return [*head, *pieces, *tail]


def _word_before(line: str, at: int) -> int:
    """Return where the word at `at` begins, unless it has no spaces around it."""
    begins = line.rfind(" ", 0, at) + 1
    return begins if at - begins <= LONG_WORD else at


def without_signs(text: str) -> str:
    """Return Markdown as it is read: an excerpt of a table is its cells."""
    return SIGNS.sub(lambda sign: "" if sign[0] in AROUND_WORDS else " ", text)


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


def period(moment: datetime, today: date) -> str:
    """Return the list heading for `moment`: a day, this week, or the month."""
    there = localtime(moment) if is_aware(moment) else moment
    day = there.date()
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day >= _begin_of_week(today):
        return _("This week")
    return formatted(there, get_format("YEAR_MONTH_FORMAT"))


def here_today() -> date:
    """Return today's date in the current time zone."""
    return localdate() if is_aware(now()) else date.today()  # noqa: DTZ011


def _begin_of_week(today: date) -> date:
    first = int(get_format("FIRST_DAY_OF_WEEK"))  # 0 is Sunday
    return today - timedelta(days=(today.isoweekday() - first) % 7)
