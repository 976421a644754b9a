"""A whole text, as a page draws it and as every stream of it ends."""

from ai_assistant.render.markdown.blocks import closed_html, cut_all
from ai_assistant.render.markdown.cache import Cache
from ai_assistant.render.markdown.characters import readable
from ai_assistant.render.markdown.parser import References, block_tokens

_pages: Cache[str, list[str]] = Cache(max_chars=8_000_000)


def render(text: str) -> list[str]:
    """Return the HTML of each block of a finished text. Treat it as read-only."""
    return _pages.get(text, lambda: _render(text))


def _render(text: str) -> list[str]:
    sources = cut_all(readable(text))
    references: References = {}
    for source in sources:
        if "[" in source:
            block_tokens(source, references)
    return [closed_html(source, references) for source in sources]
