"""The result of a call as its card draws it, and links to the objects it names."""

from typing import Any

from django.contrib.admin.utils import quote
from django.urls import NoReverseMatch, reverse

from ai_assistant.changes.values import model_of_label
from ai_assistant.models.call import ToolCall
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.summary import MOST_ROWS, lines_of, table_of

Entry = dict[str, Any]

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a spreadsheet's begins


def table_entry(stored: Any, *, order: str = "", first: int = 0) -> Entry | None:
    """Return what `tool_table.html` draws of `ToolCall.shown`; None if it is empty."""
    if not isinstance(stored, dict):
        return None
    total = len(stored["rows"]) + stored["more"]
    after = first + len(stored["rows"])
    return {
        "order": order,
        "total": total,
        "first": first + 1,
        "last": after,
        "before": max(0, first - MOST_ROWS) if first else None,
        "after": after if after < total else None,
        "fields": [
            {"label": mark_hidden_characters(label), "cell": _cell(cell)}
            for label, cell in stored["fields"]
        ],
        "columns": [mark_hidden_characters(label) for label in stored["columns"]],
        "rows": [[_cell(cell) for cell in row] for row in stored["rows"]],
        "more": stored["more"],
    }


def table_page(call: ToolCall, order: str, first: int) -> Entry | None:
    """Return some rows of a result as `tool_rows.html` draws them; None without any."""
    table = table_of(_data(call), order=order, first=first)
    entry = table_entry(table, order=order, first=first)
    return entry if entry and entry["rows"] else None


def csv_lines(call: ToolCall) -> list[list[str]]:
    """Return all rows of a result, as a spreadsheet may open them: without formulas."""
    return [
        [f"'{text}" if text.startswith(FORMULA) else text for text in line]
        for line in lines_of(_data(call))
    ]


def _data(call: ToolCall) -> Any:
    return (call.result or {}).get("data")


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
