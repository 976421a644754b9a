"""A text of the model as HTML: whole, as a page draws it, and while it grows."""

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from ai_assistant.render.markdown.blocks import closed_html, cut, cut_all, tail_html
from ai_assistant.render.markdown.highlight import Cache
from ai_assistant.render.markdown.parser import References, block_tokens, sanitise
from ai_assistant.text.unicode import normalize_text, strip_invisible

# --- whole ---

PART_CHARS = 100_000  # of a text that are drawn at once: 8,000 tokens are whole
LINE_CHARS = 2_000  # more, for the line that is not cut
TABLE_RULE = re.compile(r"^ {0,3}\|?[\s:|-]*-[\s:|-]*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")

_pages: Cache[str, list[str]] = Cache(max_chars=8_000_000)


def render(text: str) -> list[str]:
    """Return the HTML of each block of a finished text. Treat it as read-only."""
    return _pages.get(text, lambda: _render(text))


def _render(text: str) -> list[str]:
    sources = cut_all(normalize_text(text))
    references: References = {}
    for source in sources:
        if "[" in source:
            block_tokens(source, references)
    return [closed_html(source, references) for source in sources]


def part_end(text: str) -> int:
    """
    Return where the first part of a text ends: after the line that fills it.

    For a growing text it is the end of the text so far, until the part is full.
    """
    if len(text) <= PART_CHARS:
        return len(text)
    end = text.find("\n", PART_CHARS, PART_CHARS + LINE_CHARS)
    return end + 1 if end >= 0 else min(len(text), PART_CHARS + LINE_CHARS)


def parts_of(text: str) -> list[str]:
    """
    Return the parts of a finished text, each to be drawn by itself.

    A table or a block of code that is cut continues in the next one as what it is.
    """
    parts: list[str] = []
    beginning = ""
    while text.strip():
        end = part_end(text)
        part, text = beginning + text[:end], text[end:]
        beginning = _going_on(part)
        parts.append(part)
    return parts


def _going_on(part: str) -> str:
    """Return the lines with which the next part begins, if a block is cut."""
    fence, head, before = "", "", ""
    for line in part.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence:
            closes = mark and line.strip() == mark[1] and mark[1].startswith(fence[:3])
            fence = "" if closes else fence
        elif mark:
            fence, head = line, ""
        elif not line.strip():
            head = ""
        elif "|" in before and TABLE_RULE.match(line):
            head = before + line
        before = line
    return (fence or head)[:LINE_CHARS]


# --- while it grows ---


def plain_html(text: str) -> str:
    """Return `text` as it is written, as safe HTML."""
    return sanitise(strip_invisible(f"<pre>{escape(text, quote=False)}</pre>"))


TICK_S = 0.1
LONG_CHARS = 2048  # above this, an open block is drawn less often
OPEN_CHARS = 6_000  # above this, the end of an open block is shown as plain text
GROWN = 4 / 3  # growth after which all of it is drawn again


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockChange:
    """A block that is new or differs from what was returned before."""

    index: int
    html: str
    closed: bool  # it will not change before `finish`


class BlockStream:
    """
    Renders one message while it grows.

    `feed` takes the text in any pieces, `changes` says what is to be redrawn;
    its work grows with the open block, not with the message, and has a bound: what
    goes beyond the first part of the text is not drawn at all, and of a large open
    block mostly the beginning. After `finish` the list of blocks equals
    `render(text[:part_end(text)])`.
    """

    def __init__(self) -> None:
        self.is_cut = False  # the text is longer than what is drawn of it
        self._text = ""
        self._fed: list[str] = []  # since the last look
        self._held = ""  # a line end that may be half of one
        self._open = ""  # what follows the last closed block
        self._parsed_chars = 0  # characters of complete lines seen at the last look
        self._closed = 0
        self._references: dict[str, Any] = {}
        self._block_html: list[str] = []
        self._drawn_html = ""  # of the large open block, as far as it was drawn
        self._drawn_chars = 0

    @property
    def open_chars(self) -> int:
        """How many characters the next look parses again."""
        return len(self._open)

    @property
    def pause_s(self) -> float:
        """
        Seconds to wait before the next look.

        It grows with the open block, so that a list or table of many thousand
        characters, which is drawn whole, takes no larger share of the time.
        """
        return TICK_S * min(max(len(self._open) / LONG_CHARS, 1.0), 10.0)

    def feed(self, delta: str) -> None:
        """Add a piece of the text."""
        length, text = len(self._text), self._text + delta
        end = part_end(text)
        self.is_cut = self.is_cut or bool(text[end:].strip())
        self._text = text[:end]
        if end > length:
            self._fed.append(self._text[length:])

    def changes(self) -> list[BlockChange]:
        """
        Return the blocks to draw since the last call, in order.

        Closed ones come once; the last may be open and comes as often as it
        changes. An index is at most one above those returned before.
        """
        if not self._fed:
            return []
        self._take()
        changes = self._close()
        if self._open.strip(" \t\n"):
            html = self._open_html()
            if html or self._closed < len(self._block_html):
                self._add_change(changes, self._closed, html, closed=False)
        return changes

    def finish(self) -> list[BlockChange]:
        """
        Return the blocks that the end of the text changes.

        That is the open one, and closed ones with links defined after them.
        """
        self._fed.clear()
        changes: list[BlockChange] = []
        for index, html in enumerate(render(self._text)):
            self._add_change(changes, index, html, closed=True)
        return changes

    def _take(self) -> None:
        text = self._held + "".join(self._fed)
        self._fed.clear()
        self._held = "\r" if text.endswith("\r") else ""
        self._open += normalize_text(text.removesuffix("\r"))

    def _close(self) -> list[BlockChange]:
        changes: list[BlockChange] = []
        complete = self._open.rfind("\n") + 1
        if complete == self._parsed_chars or self._is_large():
            return changes
        split = cut(self._open)
        for source in split.closed:
            html = closed_html(source, self._references)
            self._add_change(changes, self._closed, html, closed=True)
            self._closed += 1
        if split.closed:
            self._drawn_chars = 0  # another block is open now
        self._open = self._open[split.end :]
        self._parsed_chars = complete - split.end
        return changes

    def _is_large(self) -> bool:
        """Return whether the open block is too long to be parsed again just now."""
        chars = len(self._open)
        return chars > OPEN_CHARS and chars < self._drawn_chars * GROWN

    def _open_html(self) -> str:
        if self._is_large():
            return self._drawn_html + plain_html(self._open[self._drawn_chars :])
        self._drawn_html = tail_html(self._open, self._references)
        self._drawn_chars = len(self._open)
        return self._drawn_html

    def _add_change(
        self, changes: list[BlockChange], index: int, html: str, *, closed: bool
    ) -> None:
        if index == len(self._block_html):
            self._block_html.append(html)
        elif self._block_html[index] == html:
            return
        self._block_html[index] = html
        changes.append(BlockChange(index=index, html=html, closed=closed))
