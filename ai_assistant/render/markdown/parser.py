"""CommonMark with tables, strikethrough and tasks, through an allow-list; HTML is text."""

from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ai_assistant.render.markdown import unfinished
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
    """Return `html` with nothing in it that is not on the list."""
    return _cleaner.clean(html)


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
    last = unfinished.last_text(state.tokens) if state.env.get("tail") else None
    for token in state.tokens:
        if token.type == "inline":
            state.env["open"] = token is last
            if token is last:
                token.content = unfinished.trim_marks(token.content)
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
    inline.ruler.before("backticks", "open_code", unfinished.open_code)
    inline.ruler.after("image", "open_link", unfinished.half_link_rule)
    inline.ruler.after("autolink", "open_autolink", unfinished.open_autolink)
    inline.ruler2.after("balance_pairs", "open_pairs", unfinished.open_pairs)
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
