"""A whole text, as a page draws it and as every stream of it ends."""

import re

from ai_assistant.render.markdown.blocks import closed_html, cut_all
from ai_assistant.render.markdown.highlight import Cache
from ai_assistant.render.markdown.parser import References, block_tokens
from ai_assistant.text.unicode import normalize_text

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
    Return where the first part of a text ends: behind the line that fills it.

    Of a text that grows it is the end of what is known, until the part is full.
    """
    if len(text) <= PART_CHARS:
        return len(text)
    end = text.find("\n", PART_CHARS, PART_CHARS + LINE_CHARS)
    return end + 1 if end >= 0 else min(len(text), PART_CHARS + LINE_CHARS)


def parts_of(text: str) -> list[str]:
    """
    Return the parts of a finished text, each to be drawn by itself.

    A table or a block of code that is cut goes on in the next one as what it is.
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
