"""Text that is not parsed as Markdown: escaped, and nothing else."""

from dataclasses import dataclass
from html import escape
from typing import Any

from ai_assistant.render.markdown.blocks import closed_html, cut, tail_html
from ai_assistant.render.markdown.page import part_end, render
from ai_assistant.render.markdown.parser import sanitise
from ai_assistant.text.unicode import normalize_text, strip_invisible


def plain_html(text: str) -> str:
    """Return `text` as it is written, as safe HTML."""
    return sanitise(strip_invisible(f"<pre>{escape(text, quote=False)}</pre>"))


TICK_S = 0.1
LONG_CHARS = 2048  # above this, an open block is drawn less often
OPEN_CHARS = 6_000  # above this, the end of an open block is shown as plain text
GROWN = 4 / 3  # by so much it has grown when all of it is drawn again


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockChange:
    """A block that is new or differs from what was told before."""

    index: int
    html: str
    closed: bool  # it will not change before `finish`


class BlockStream:
    """
    Renders one message while it grows.

    `feed` takes the text in any pieces, `changes` says what is to be drawn anew;
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
        self._looked = 0  # characters of complete lines seen at the last look
        self._closed = 0
        self._references: dict[str, Any] = {}
        self._told: list[str] = []
        self._drawn_html = ""  # of the large open block, as far as it was drawn
        self._drawn_chars = 0

    @property
    def open_chars(self) -> int:
        """How much text the next look goes through again."""
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
        known, text = len(self._text), self._text + delta
        end = part_end(text)
        self.is_cut = self.is_cut or bool(text[end:].strip())
        self._text = text[:end]
        if end > known:
            self._fed.append(self._text[known:])

    def changes(self) -> list[BlockChange]:
        """
        Return the blocks to draw since the last call, in order.

        Closed ones come once; the last may be open and comes as often as it
        changes. An index is at most one above those told before.
        """
        if not self._fed:
            return []
        self._take()
        changes = self._close()
        if self._open.strip(" \t\n"):
            html = self._open_html()
            if html or self._closed < len(self._told):
                self._tell(changes, self._closed, html, closed=False)
        return changes

    def finish(self) -> list[BlockChange]:
        """
        Return the blocks that the end of the text changes.

        That is the open one, and closed ones with links defined after them.
        """
        self._fed.clear()
        changes: list[BlockChange] = []
        for index, html in enumerate(render(self._text)):
            self._tell(changes, index, html, closed=True)
        return changes

    def _take(self) -> None:
        text = self._held + "".join(self._fed)
        self._fed.clear()
        self._held = "\r" if text.endswith("\r") else ""
        self._open += normalize_text(text.removesuffix("\r"))

    def _close(self) -> list[BlockChange]:
        changes: list[BlockChange] = []
        complete = self._open.rfind("\n") + 1
        if complete == self._looked or self._is_large():
            return changes
        found = cut(self._open)
        for source in found.closed:
            html = closed_html(source, self._references)
            self._tell(changes, self._closed, html, closed=True)
            self._closed += 1
        if found.closed:
            self._drawn_chars = 0  # another block is open now
        self._open = self._open[found.end :]
        self._looked = complete - found.end
        return changes

    def _is_large(self) -> bool:
        """Tell whether the open block is too long to be parsed again just now."""
        chars = len(self._open)
        return chars > OPEN_CHARS and chars < self._drawn_chars * GROWN

    def _open_html(self) -> str:
        if self._is_large():
            return self._drawn_html + plain_html(self._open[self._drawn_chars :])
        self._drawn_html = tail_html(self._open, self._references)
        self._drawn_chars = len(self._open)
        return self._drawn_html

    def _tell(
        self, changes: list[BlockChange], index: int, html: str, *, closed: bool
    ) -> None:
        if index == len(self._told):
            self._told.append(html)
        elif self._told[index] == html:
            return
        self._told[index] = html
        changes.append(BlockChange(index=index, html=html, closed=closed))
