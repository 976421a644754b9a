"""
Where the blocks of a text begin and end: a function of the text alone.

A block is closed when no later text can change where it ends: when another one
has begun, or when it is complete in itself (a heading, a closed fence, a paragraph
and its blank line). Only complete lines decide.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from markdown_it.token import Token

from ai_assistant.render.markdown.highlight import Cache
from ai_assistant.render.markdown.parser import (
    References,
    block_tokens,
    may_be_table_header,
    to_html,
    with_table_rule,
    without_undecided_line,
)
from ai_assistant.render.markdown.renderer import fence_is_closed
from ai_assistant.text.unicode import normalize_text

_ENDED_BY_BLANK_LINE = {
    "paragraph_open",
    "table_open",
    "blockquote_open",
    "definition",
}

_closed: Cache[str, str] = Cache(max_chars=4_000_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One block. The html of an open one has its unfinished marks closed."""

    source: str
    html: str
    closed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """The closed blocks at the start of a text, and where the rest begins."""

    closed: list[str]
    end: int  # in characters


def split_blocks(text: str) -> list[Block]:
    """
    Return the blocks of a text that may continue.

    All but the last are closed. Links whose definition comes later are not
    resolved; `render` does that for the whole text.
    """
    text = normalize_text(text.removesuffix("\r"))
    split = cut(text)
    references: References = {}
    blocks = [
        Block(source=source, html=closed_html(source, references), closed=True)
        for source in split.closed
    ]
    tail = text[split.end :]
    if tail.strip(" \t\n"):
        html = tail_html(tail, references)
        blocks.append(Block(source=tail, html=html, closed=False))
    return blocks


def cut(text: str) -> Cut:
    """Cut the closed blocks off a normalized text that starts with a new block."""
    complete = text[: text.rfind("\n") + 1]
    groups = _groups(block_tokens(complete), complete.split("\n"))
    if not groups:
        return Cut(closed=[], end=0)
    offsets = [0, *(end.end() for end in re.finditer("\n", complete))]
    starts = [offsets[first] for first, _ in groups]
    if _is_complete(groups[-1][1], complete):
        starts.append(len(complete))
    closed = [
        _without_blank_lines(complete[start:end]) for start, end in pairwise(starts)
    ]
    return Cut(closed=closed, end=starts[-1])


def cut_all(text: str) -> list[str]:
    """Cut a finished, normalized text into its blocks."""
    text += "\n"
    split = cut(text)
    tail = text[split.end :]
    return split.closed + ([_without_blank_lines(tail)] if tail.strip(" \t\n") else [])


def _groups(tokens: list[Token], lines: list[str]) -> list[tuple[int, Token]]:
    """
    Return the first line and the last top-level token of each block.

    The title of a definition may follow on the next lines, so what follows a
    definition without a blank line belongs to its block.
    """
    groups: list[tuple[int, Token]] = []
    before = ""
    for token in tokens:
        if token.level == 0 and token.nesting >= 0 and token.map:
            first = token.map[0]
            if groups and before == "definition" and lines[first - 1].strip(" \t"):
                first = groups.pop()[0]
            groups.append((first, token))
        if token.nesting >= 0:
            before = token.type
    return groups


def _is_complete(token: Token, complete: str) -> bool:
    """Return whether the last block, which ends with `token`, can grow no more."""
    if token.type in {"heading_open", "hr"}:
        return True
    if token.type == "fence":
        return fence_is_closed(token)
    last_line = complete[complete.rfind("\n", 0, -1) + 1 :]
    return token.type in _ENDED_BY_BLANK_LINE and not last_line.strip(" \t\n")


def _without_blank_lines(source: str) -> str:
    lines = source.split("\n")
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines) + "\n"


def closed_html(source: str, references: References) -> str:
    """Return a closed block as HTML; its definitions are added to `references`."""
    if "[" in source:
        block_tokens(source, references)
        if references:  # the HTML may depend on them, so the source is not a key
            return to_html(source, references)
    return _closed.get(source, lambda: to_html(source, {}))


def tail_html(source: str, references: References) -> str:
    """Return an open block as HTML, without unfinished marks."""
    source = without_undecided_line(source)
    if not source.endswith("\n"):
        source += "\n"
    if may_be_table_header(source):
        source = with_table_rule(source, block_tokens(source))
    return to_html(source, dict(references), tail=True)
