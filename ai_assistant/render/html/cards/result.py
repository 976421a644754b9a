"""The result of a call as its card draws it, and links to the objects it names."""

from typing import Any

from django.contrib.admin.utils import quote
from django.urls import NoReverseMatch, reverse

from ai_assistant.changes.values import model_of_label
from ai_assistant.text.hidden_characters import mark_hidden_characters

Entry = dict[str, Any]


def table_entry(stored: Any) -> Entry | None:
    """Return what `tool_table.html` draws of `ToolCall.shown`; None if it is empty."""
    if not isinstance(stored, dict):
        return None
    return {
        "fields": [
            {"label": mark_hidden_characters(label), "cell": _cell(cell)}
            for label, cell in stored["fields"]
        ],
        "columns": [mark_hidden_characters(label) for label in stored["columns"]],
        "rows": [[_cell(cell) for cell in row] for row in stored["rows"]],
        "more": stored["more"],
    }


def _cell(cell: Entry) -> Entry:
    return {
        "text": mark_hidden_characters(cell["text"]),
        "label": cell.get("model", ""),
        "id": cell.get("id", ""),
    }


def object_url(label: str, key: str, viewer: Any) -> str:
    """
    Return the admin page of an object; empty if there is none for this viewer.

    `label` is "app.model". The page itself checks once more who may see the object.
    """
    model = model_of_label(label) if label and key else None
    if model is None or viewer is None or not viewer.may_open(model):
        return ""
    options = model._meta
    name = f"admin:{options.app_label}_{options.model_name}_change"
    try:
        return reverse(name, args=[quote(key)])
    except NoReverseMatch:
        return ""
