"""Render one fragment from its template."""

from typing import Any

from django.template.loader import render_to_string

FOLDER = "ai_assistant/"


def fragment(name: str, **context: Any) -> str:  # noqa: ANN401 - a template's data
    """Return the HTML of the template `name`, without white space around it."""
    return render_to_string(f"{FOLDER}{name}.html", context).strip()


def entry_html(entry: dict[str, Any], panel: Any) -> str:  # noqa: ANN401
    """Return the HTML of one entry of a conversation."""
    name = "message_user" if entry["kind"] == "user" else "message_assistant"
    return fragment(name, entry=entry, panel=panel)


def part_html(part: dict[str, Any], panel: Any) -> str:  # noqa: ANN401
    """Return the HTML of one part of a run."""
    return fragment("part", part=part, panel=panel)
