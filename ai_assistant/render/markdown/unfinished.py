"""
The end of a text that still grows: no half mark is shown.

What is open is closed, what is undecided is hidden until the next words decide.
The rules work on the parser's own tokens, so that code is never touched. They act
where `env["open"]` is set: on the last text of an open tail.
"""

import re

from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

MAX_UNDECIDED_CHARS = 200  # a longer line is shown as it is

# A last line of marks alone could still become a list, a rule, a heading, a fence.
_UNDECIDED_LINE = re.compile(
    r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*"
    r"(?:[-=+*_#`~>|!\[<:. \t]*|\d{1,9}[.)]?|\[[ xX]?\]?)[ \t]*"
)
_HALF_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:\s*(?:<[^>]*|\S+\s+[\"'(].*)?")
_HALF_MARKS = "*_~`\\["
# What follows `[text]` and may yet become the rest of a link.
_HALF_TARGET = re.compile(
    r"""\[[^\]]*+
    |\(\s*+(?:<[^<>\n]*+>?|[^\s<][^\s]*+)?
      (?:\s++(?:"[^"]*+"?|'[^']*+'?|\([^()]*+\)?)?)?\s*+""",
    re.VERBOSE,
)
_HALF_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^<>\x00-\x20]*")
_TABLE_LINE = re.compile(r"[ \t]*\|[^\n]*")
_TABLE_RULE = re.compile(r"[ \t]*\|[-:| \t]*")


def without_undecided_line(text: str) -> str:
    """Return `text` without its last line if that is unfinished and all marks."""
    head, end, last = text.rpartition("\n")
    if len(last) > MAX_UNDECIDED_CHARS:
        return text
    if _UNDECIDED_LINE.fullmatch(last) or _HALF_DEFINITION.fullmatch(last):
        return head + end
    return text


def may_be_table_header(text: str) -> bool:
    """Tell whether `with_table_rule` is worth its parse: not within a table."""
    *before, last = text.rstrip("\n").rsplit("\n", 3)[-3:]
    return "|" in last and not (len(before) == 2 and all("|" in one for one in before))


def with_table_rule(text: str, tokens: list[Token]) -> str:
    """Return `text` with the missing delimiter row of an unfinished table, if any."""
    last = last_text(tokens)
    if last is None:
        return text
    lines = last.content.split("\n")
    if len(lines) > 1 and _TABLE_RULE.fullmatch(lines[-1]):
        text = text.rstrip("\n").rpartition("\n")[0]
        lines.pop()
    if not _TABLE_LINE.fullmatch(lines[-1]) or not text.rstrip().endswith(lines[-1]):
        return text
    if len(lines) > 1 and _TABLE_LINE.fullmatch(lines[-2]):
        return text
    body = text.rstrip("\n")
    start = body.rfind("\n") + 1
    indent = re.sub(r"[^ \t]", " ", body[start : body.rindex(lines[-1])])
    columns = len(_cells(lines[-1]))
    return f"{body}\n{indent}|{'---|' * columns}\n"


def _cells(line: str) -> list[str]:
    cells = escapedSplit(line.strip())
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return cells


def last_text(tokens: list[Token]) -> Token | None:
    """Return the token of the last words of a tail, or None if it ends otherwise."""
    for token in reversed(tokens):
        if token.type == "inline" and token.content:
            return token
        if token.type in {"fence", "code_block", "hr", "definition", "tbody_open"}:
            return None
    return None


def trim_marks(content: str) -> str:
    """Return the text without trailing Markdown marks, which may open or close."""
    kept = content.rstrip(_HALF_MARKS)
    if kept.endswith("!") and content.startswith("[", len(kept)):
        kept = kept[:-1]
    return kept.rstrip()


def _at_open_end(state: StateInline) -> bool:
    return bool(state.env.get("open")) and state.posMax == len(state.src)


def open_code(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule
    """Read code whose end is missing as code up to the end of the text."""
    if state.src[state.pos] != "`" or not _at_open_end(state):
        return False
    rest = state.src[state.pos :].lstrip("`")
    marks = "`" * (state.posMax - state.pos - len(rest))
    if re.search(rf"(?<!`){marks}(?!`)", rest):
        return False
    content = rest.replace("\n", " ").strip()
    if content and not silent:
        token = state.push("code_inline", "code", 0)
        token.markup = marks
        token.content = content
    state.pos = state.posMax
    return True


def half_link_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule
    """Read the text of a half link or image as plain text, without its target."""
    start = state.pos
    if state.src.startswith("![", start):
        start += 1
    if state.src[start] != "[" or not _at_open_end(state):
        return False
    end = state.md.helpers.parseLinkLabel(state, start)
    if end < 0:
        state.pos = start + 1
        return True
    rest = state.src[end + 1 :]
    if rest and not _HALF_TARGET.fullmatch(rest):
        return False
    if not silent:
        state.pos, state.posMax = start + 1, end
        state.md.inline.tokenize(state)
        state.posMax = len(state.src)
    state.pos = state.posMax
    return True


def open_autolink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule
    """Hide the bracket of a half autolink."""
    if state.src[state.pos] != "<" or not _at_open_end(state):
        return False
    if not _HALF_AUTOLINK.fullmatch(state.src, state.pos):
        return False
    state.pos += 1
    return True


def open_pairs(state: StateInline) -> None:
    """Close what is still emphasised or struck through at the end of the text."""
    if not state.env.get("open"):
        return
    inside = -1  # an opener within a finished pair can have no end any more
    openers = []
    for index, delimiter in enumerate(state.delimiters):
        if delimiter.end != -1:
            inside = max(inside, delimiter.end)
        elif delimiter.open and index > inside:
            openers.append(delimiter)
    for opener in reversed(openers):
        token = state.push("text", "", 0)
        token.content = state.tokens[opener.token].content
        opener.end = len(state.delimiters)
        state.delimiters.append(
            Delimiter(
                marker=opener.marker,
                length=opener.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=False,
                close=True,
            )
        )
