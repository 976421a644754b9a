"""Text that is not parsed as Markdown: escaped, and nothing else."""

from html import escape

from ai_assistant.render.markdown.parser import sanitise
from ai_assistant.text.unicode import visible


def plain_html(text: str) -> str:
    """Return `text` as it is written, as safe HTML."""
    return sanitise(visible(f"<pre>{escape(text, quote=False)}</pre>"))
