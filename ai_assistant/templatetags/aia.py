"""`{% load aia %}`: the tags of the panel's own templates."""

import re
from collections.abc import Iterable, Iterator
from typing import cast

from django import template
from django.template.base import Parser, TextNode, Token, TokenType
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ai_assistant.render.html.cards.result import object_url
from ai_assistant.render.html.overview import overview_entry
from ai_assistant.render.html.reports.table import shown
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.text.direction import isolate_quoted
from ai_assistant.web.panel.layout import bridge, nonce_of

register = template.Library()
register.filter("quotes_isolated", isolate_quoted)

AS_WRITTEN = ("blocktranslate", "blocktrans", "verbatim", "comment")
# The start of a tag, its end, a quote, or a line break with the white space around it.
PIECES = re.compile(r"</?(?P<kept>(?:pre|textarea)\b)?|[>\"']|\s*\n\s*")


@register.simple_tag
def aia_bridge() -> str:
    """Return the static file of the theme's bridge sheet, or nothing."""
    return bridge()


@register.simple_tag(takes_context=True)
def aia_nonce(context: Context) -> SafeString | str:
    """Return ` nonce="..."` if the page has a content security policy with one."""
    nonce = nonce_of(getattr(context, "request", None))
    return format_html(' nonce="{}"', nonce) if nonce else ""


@register.simple_tag(takes_context=True)
def aia_overview(context: Context) -> Entry:
    """Return what stands on the assistant's start page for the user of the request."""
    return overview_entry(context["request"].user)


@register.simple_tag
def aia_icon(name: str) -> SafeString:
    """Return one of icons.html; a template for each took a conversation much longer."""
    return format_html(
        '<svg class="aia-i" aria-hidden="true" focusable="false">'
        '<use href="#aia-i-{}"/></svg>',
        name,
    )


@register.filter
def aia_shown(value: object, kind: str) -> str:
    """Return a value as a report shows those of that kind."""
    return shown(kind, value)


@register.simple_tag(name="object_url", takes_context=True)
def url_of_object(context: Context, label: str, key: str) -> str:
    """Return the admin page of an object, if the panel's viewer may open it."""
    return object_url(label, key, getattr(context.get("panel"), "viewer", None))


@register.simple_tag(takes_context=True)
def object_link(context: Context, text: str, label: str, key: str) -> SafeString:
    """Return `text`, as a link to the object if the panel's viewer may open its page."""
    url = url_of_object(context, label, key)
    return (
        format_html('<a href="{}">{}</a>', url, text)
        if url
        else format_html("{}", text)
    )


@register.tag
def trimmed(parser: Parser, token: Token) -> TextNode:
    """
    Leave line breaks and indentation out of the rest of the template.

    Like `{% extends %}` it stands first, outside of other tags, and has no end. The
    text of the template is trimmed once, when it is compiled; values, translated texts
    and what is in `<pre>` and `<textarea>` stay as they are. A line break between two
    words or two attributes becomes a space; write `{{ " " }}` for any other.
    """
    if len(token.split_contents()) > 1:
        raise template.TemplateSyntaxError("{% trimmed %} takes no arguments.")
    # The parser takes from the end of its list.
    parser.tokens = [
        *_Whitespace().trimmed(reversed(cast("list[Token]", parser.tokens)))
    ][::-1]
    return TextNode("")


class _Whitespace:
    """Knows where in the HTML the texts of a template stand, one after the other."""

    def __init__(self) -> None:
        self._in_tag = False
        self._quote = ""  # that of the attribute's value
        self._is_verbatim = False

    def trimmed(self, tokens: Iterable[Token]) -> Iterator[Token]:
        end = ""  # of a tag whose text stays as it is written
        for token in tokens:
            if token.token_type == TokenType.BLOCK:
                name = token.contents.split(maxsplit=1)[0]
                if name in AS_WRITTEN and not end:
                    end = f"end{name}"
                elif name == end:
                    end = ""
            elif token.token_type == TokenType.TEXT and not end:
                token.contents = PIECES.sub(self._replaced, token.contents)
            if token.contents:
                yield token

    def _replaced(self, piece: re.Match[str]) -> str:
        text = piece[0]
        if text.isspace():
            return self._space(piece)
        if self._quote:
            self._quote = "" if text == self._quote else self._quote
        elif text == ">":
            self._in_tag = False
        elif text[0] == "<":
            self._in_tag = True
            if piece["kept"]:
                self._is_verbatim = text[1] != "/"
        elif self._in_tag:
            self._quote = text
        return text

    def _space(self, piece: re.Match[str]) -> str:
        before = piece.string[: piece.start()][-1:]
        after = piece.string[piece.end() :][:1]
        if self._in_tag and not self._quote:
            return "" if after == ">" else " "
        if self._is_verbatim and not self._in_tag:
            return piece[0]
        return " " if before not in ("", ">") and after not in ("", "<") else ""
