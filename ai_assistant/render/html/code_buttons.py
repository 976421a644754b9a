"""The button on a block of code that copies it."""

from ai_assistant.render.html.fragments import fragment

BLOCK = '<div class="aia-code">'  # what is no tag is escaped: no text can say it


def with_buttons(html: str) -> str:
    """Return the HTML of a block of an answer, with a button on code."""
    if BLOCK not in html:
        return html
    return html.replace(BLOCK, BLOCK + fragment("code_copy"))
