"""The rows that the result of a data tool names, as they were read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ai_assistant.registry import registry
from ai_assistant.tools.data.access.reader import Named

ORIGIN = "ai_assistant.tools.data."  # of the tools of which it is known


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedRow:
    """A row in a result; `fields` are the values that were read of it, by name."""

    label: str
    key: str
    text: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedRows:
    """All rows in a result; `total` is how many were found, None if it is no list."""

    rows: tuple[NamedRow, ...]
    label: str
    total: int | None


def is_data_tool(name: str) -> bool:
    """Return whether a call of that name is of one of our tools on rows."""
    tool = registry.tool(name)
    return tool is not None and tool.origin.startswith(ORIGIN)


def data_tools() -> list[str]:
    """Return the names of our tools on rows."""
    return [name for name in registry.tools() if is_data_tool(name)]


def rows_in(data: Any) -> NamedRows | None:
    """Return the rows in the data of a result; None if these are anything else."""
    label = data.get("model") if isinstance(data, dict) else None
    if not isinstance(label, str):
        return None
    total = data.get("total") if "rows" in data else None
    rows = data.get("rows", [data])
    if not isinstance(rows, list) or ("rows" in data and not isinstance(total, int)):
        return None
    found = [_row(label, row) for row in rows]
    known = tuple(row for row in found if row is not None)
    if len(known) < len(found):
        return None
    return NamedRows(rows=known, label=label, total=total)


def _row(label: str, row: Any) -> NamedRow | None:
    if not isinstance(row, dict) or not isinstance(row.get("id"), int | str):
        return None
    fields, text = row.get("fields") or {}, row.get("text")
    if not isinstance(fields, dict):
        return None
    said = text if isinstance(text, str) else ""
    return NamedRow(label=label, key=str(row["id"]), text=said, fields=fields)


def named_by(field: Any, value: Any) -> list[Named]:
    """Return the rows that the value of a field names."""
    if not field.is_relation or value is None:
        return []
    label = field.related_model._meta.label_lower
    values = value if isinstance(value, list) else [value]
    keys = (one.get("id") if isinstance(one, dict) else one for one in values)
    return [(label, str(key)) for key in keys]
