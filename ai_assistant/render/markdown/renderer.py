"""Render the parser's tokens; classify where a link of the model may go."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal
from urllib.parse import unquote, urlsplit

from markdown_it.common.utils import unescapeAll
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ai_assistant.render.markdown.highlight import highlight
from ai_assistant.text.unicode import strip_invisible

REL = "noopener noreferrer nofollow"

_SCHEME = re.compile(r"^[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
# What a browser reads differently from a URL parser is refused, not repaired.
_ODD = re.compile(r"[\x00-\x20\\\x7f-\x9f]")
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_\-.]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^\s@<>()?&,;:]+@[a-z0-9.\-]+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkTarget:
    """`host` is what the reader is shown: the host, or the address of a mail."""

    kind: Literal["foreign", "local", "mail", "refused"]
    href: str = ""
    host: str = ""


REFUSED = LinkTarget(kind="refused")


def target(href: str) -> LinkTarget:
    """
    Classify where `href` goes.

    Foreign is any URL with a host, also without a scheme. Refused are all other
    schemes, hosts with a user name, and URLs that parsers read differently.
    """
    if not href or _ODD.search(href):
        return REFUSED
    if href.startswith("//"):
        return _foreign(href, href[2:])
    if not _SCHEME.match(href):
        return LinkTarget(kind="local", href=href)
    scheme, rest = href.split(":", 1)
    if scheme.lower() in {"http", "https"} and rest.startswith("//"):
        return _foreign(href, rest[2:])
    if scheme.lower() == "mailto":
        return _mail(href, rest)
    return REFUSED


def _foreign(href: str, rest: str) -> LinkTarget:
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if not _HOST.fullmatch(host):
        return REFUSED
    return LinkTarget(kind="foreign", href=href, host=host.lower())


def _mail(href: str, rest: str) -> LinkTarget:
    address = rest.split("?", 1)[0]
    if not _MAIL.fullmatch(address):
        return REFUSED
    return LinkTarget(kind="mail", href=href, host=address)


def last_segment(href: str) -> str:
    """Return the file name of `href`, or else all of it."""
    return unquote(urlsplit(href).path).rstrip("/").rsplit("/", 1)[-1] or href


MAX_LABEL_CHARS = 80


class PanelRenderer(RendererHTML):
    """Renders code, tables, links, images and tasks; never an image's address."""

    def fence(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Render a fence; its colours wait until it is closed."""
        token = tokens[idx]
        words = unescapeAll(token.info).split(maxsplit=1)
        language = words[0][:30] if words else ""
        if fence_is_closed(token):
            return code_html(highlight(token.content, language), language)
        return code_html(escape(token.content), language)

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Render indented code."""
        return code_html(escape(tokens[idx].content), "")

    def definition(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Render a link reference definition: it shows nothing."""
        return ""

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Open a link; one that may not be followed is a mere text."""
        env["link"] = target(str(tokens[idx].attrs["href"])), idx
        return link_start_tag(env["link"][0])

    def link_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Close a link and say where it goes, unless its text is its address."""
        goal, start = env.pop("link")
        text = self.renderInlineAsText(tokens[start + 1 : idx], options, env)
        return close_link(goal, text)

    def image(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Render an image as a link that says its alternative text."""
        token = tokens[idx]
        goal = target(str(token.attrs["src"]))
        text = self.renderInlineAsText(token.children, options, env).strip()
        label = escape(text or last_segment(goal.href))
        if "link" in env or goal.kind == "refused":
            return f'<span class="aia-image">{label}</span>'
        return link_start_tag(goal, "aia-image") + label + close_link(goal, text)

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Open a table in a box that scrolls, named after its columns."""
        heads = []
        for at in range(idx, len(tokens)):
            if tokens[at].type == "thead_close":
                break
            if tokens[at].type == "inline":
                heads.append(self.renderInlineAsText(tokens[at].children, options, env))
        label = strip_invisible(", ".join(filter(None, heads)))[
            :MAX_LABEL_CHARS
        ].strip()
        aria = f' aria-label="{escape(label)}"' if label else ""
        return f'<div class="aia-table" tabindex="0" role="region"{aria}><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Close a table and its box."""
        return "</table></div>\n"

    def th_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Open a cell, its alignment as a class."""
        token = tokens[idx]
        style = str(token.attrs.get("style", ""))
        if not style:
            return f"<{token.tag}>"
        return f'<{token.tag} class="aia-{style.removeprefix("text-align:")}">'

    td_open = th_open

    def list_item_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Open an item; the box of a task is a character, not a form field."""
        meta = tokens[idx].meta
        if "checked" not in meta:
            return "<li>"
        box = "☑" if meta["checked"] else "☐"
        return f'<li class="aia-task"><span class="aia-check">{box}</span> '


def fence_is_closed(token: Token) -> bool:
    """Return whether a fence has its closing line; the text must end in a line end."""
    first, after = token.map or (0, 0)
    return token.content.count("\n") == after - first - 2


def code_html(code: str, language: str) -> str:
    """Return a block of code; `code` is HTML, `language` is not."""
    label = f'<span class="aia-lang">{escape(language)}</span>' if language else ""
    return (
        f'<div class="aia-code">{label}<pre tabindex="0"><code>{code}</code></pre>'
        "</div>\n"
    )


def link_start_tag(goal: LinkTarget, css_class: str = "") -> str:
    """Return the start tag of a link to `goal`, or of a mere text."""
    if goal.kind == "refused":
        return "<span>"
    class_attribute = f' class="{css_class}"' if css_class else ""
    target_attributes = f' target="_blank" rel="{REL}"' if goal.kind != "local" else ""
    return f'<a{class_attribute} href="{escape(goal.href)}"{target_attributes}>'


def close_link(goal: LinkTarget, text: str) -> str:
    """Return the end tag, after the host if `text` does not say it all."""
    if goal.kind == "refused":
        return "</span>"
    if not goal.host or text in {goal.href, goal.host}:
        return "</a>"
    return f' <span class="aia-host">{escape(goal.host)}</span></a>'
