"""CommonMark with tables, strikethrough and tasks, through an allow-list; HTML is text."""

import re
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from ai_assistant.render.markdown.highlight import CLASSES
from ai_assistant.render.markdown.renderer import REL, PanelRenderer
from ai_assistant.text.unicode import strip_invisible

_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"),
    *("strong", "em", "s", "code", "pre", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "span", "div"),
}
_ALIGNMENTS = {"aia-left", "aia-center", "aia-right"}

_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "div": {"aria-label"}, "ol": {"start"}},
    tag_attribute_values={
        "a": {"rel": {REL}, "target": {"_blank"}},
        "div": {"role": {"region"}, "tabindex": {"0"}},
        "pre": {"tabindex": {"0"}},
    },
    allowed_classes={
        "a": {"aia-image"},
        "div": {"aia-code", "aia-table"},
        "li": {"aia-task"},
        "span": {"aia-host", "aia-lang", "aia-check", "aia-image", *CLASSES},
        "td": _ALIGNMENTS,
        "th": _ALIGNMENTS,
    },
    url_schemes={"http", "https", "mailto"},
    link_rel=None,  # the renderer sets it, on what leaves the site
)


def sanitise(html: str) -> str:
    """Return `html` without anything that is not on the allow-list."""
    return _cleaner.clean(html)


# --- the end of a text that still grows: no half mark is shown ---

# What is open is closed, what is undecided is hidden until the next words decide. The
# rules work on the parser's own tokens, so that code is never touched. They act where
# `env["open"]` is set: on the last text of an open tail.

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
    """Return whether the text may end in a table header, and is worth parsing."""
    *before, last = text.rstrip("\n").rsplit("\n", 3)[-3:]
    return "|" in last and not (len(before) == 2 and all("|" in row for row in before))


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
    trimmed = content.rstrip(_HALF_MARKS)
    if trimmed.endswith("!") and content.startswith("[", len(trimmed)):
        trimmed = trimmed[:-1]
    return trimmed.rstrip()


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


# --- the parser ---

INLINE_CHARS = 4_000  # of one paragraph or cell: the work on marks grows much faster

References = dict[str, Any]


class PanelMarkdown(MarkdownIt):
    """The parser. All links are parsed; the renderer decides what they may do."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the parser's name
        """Accept every link, so that a refused one is not shown as raw marks."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the parser's name
        """Return the encoded `url`, or nothing if it cannot be read."""
        try:
            return super().normalizeLink(url)
        except ValueError:
            return ""


def _inline(state: StateCore) -> None:
    """Parse the text of all blocks; the last of an open tail is unfinished."""
    last = last_text(state.tokens) if state.env.get("tail") else None
    for token in state.tokens:
        if token.type == "inline":
            state.env["open"] = token is last
            if token is last:
                token.content = trim_marks(token.content)
            token.children = []
            if len(token.content) > INLINE_CHARS:
                token.children.append(Token("text", "", 0, content=token.content))
                continue
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _build() -> PanelMarkdown:
    options = {"html": False, "tasklists": True, "inline_definitions": True}
    parser = PanelMarkdown("commonmark", options, renderer_cls=PanelRenderer)
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.core.ruler.at("inline", _inline)
    inline = parser.inline
    inline.ruler.before("backticks", "open_code", open_code)
    inline.ruler.after("image", "open_link", half_link_rule)
    inline.ruler.after("autolink", "open_autolink", open_autolink)
    inline.ruler2.after("balance_pairs", "open_pairs", open_pairs)
    return parser


_parser = _build()


def block_tokens(text: str, references: References | None = None) -> list[Token]:
    """
    Return the block tokens of `text`, its words not parsed.

    Link reference definitions are added to `references`; the first one counts.
    """
    env: dict[str, Any] = {"references": {} if references is None else references}
    tokens: list[Token] = []
    _parser.block.parse(text, _parser, env, tokens)
    return tokens


def to_html(text: str, references: References, *, tail: bool = False) -> str:
    """
    Return `text` as safe HTML.

    A `tail` may end anywhere: its unfinished marks are hidden or closed.
    Definitions in `text` are added to `references`.
    """
    env: dict[str, Any] = {"references": references, "tail": tail}
    html = str(_parser.render(text, env))
    return sanitise(strip_invisible(html)).strip("\n")
