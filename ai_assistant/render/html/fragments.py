"""Render one fragment from its template."""

from typing import Any

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import gettext as _

BLOCK = '<div class="aia-code">'  # what is no tag is escaped: no text can say it


SCROLLED = '<pre tabindex="0"'


def with_buttons(html: str) -> str:
    """Return the HTML of a block of an answer; code gets a button, and a name."""
    if BLOCK not in html:
        return html
    named = f'{SCROLLED} role="region" aria-label="{escape(_("Code"))}"'
    whole = html.replace(BLOCK, BLOCK + fragment("code_copy"))
    return whole.replace(SCROLLED, named)


FOLDER = "ai_assistant/"


def fragment(name: str, **context: Any) -> str:
    """Return the HTML of the template `name`, without white space around it."""
    return render_to_string(f"{FOLDER}{name}.html", context).strip()


def entry_html(entry: dict[str, Any], panel: Any) -> str:
    """Return the HTML of one entry of a conversation."""
    name = "message_user" if entry["kind"] == "user" else "message_assistant"
    return fragment(name, entry=entry, panel=panel)


def pinned_html(item: dict[str, Any], panel: Any) -> str:
    """Return the HTML of what waits for the person, by the template of its kind."""
    return render_to_string(item["template"], {"item": item, "panel": panel}).strip()


def part_html(part: dict[str, Any], panel: Any) -> str:
    """Return the HTML of one part of a run."""
    return fragment("part", part=part, panel=panel)
