"""What the card of a call says of its result: a line, and a small table."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Field, Model
from django.utils.text import capfirst
from django.utils.translation import ngettext

from ai_assistant.changes.display import plain_text
from ai_assistant.changes.values import model_of_label
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.redaction.redact import redact
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.types import JSON, ToolDefinition, ToolResult

SUMMARY_CHARS = 300
NAME_CHARS = 80  # of one object, in a summary
MOST_ROWS, MOST_COLUMNS, MOST_FIELDS = 10, 4, 20
CELL_CHARS = 120
MOST_LINKED = 3  # objects that one cell names
# What says nothing to a person, or is said by the row's link.
UNSHOWN = ("version", "model", "id", "text", "page", "pages")
NOTHING: tuple[Any, ...] = (None, "", [], {})

Cell = dict[str, str]  # its text; and model and id, if it names an object
Table = dict[str, Any]  # its fields, columns and rows, and how many rows are left out


# --- the line ---


def summary_of(
    tool: ToolDefinition | None,
    label: str,
    arguments: dict[str, Any],
    result: ToolResult,
) -> str:
    """Return what happened, in a line; empty if the label of the tool says it all."""
    text = result.summary
    own = tool.display.summary if tool is not None else None
    if not text and result.ok and own is not None:
        text = value_or(
            "",
            lambda: str(own(arguments, result.data) or ""),
            "the summary of tool %r failed",
            tool and tool.name,
        )
    if not text and result.ok:
        text = result.message.rstrip(".") or _counted(label, result.data)
    line = " ".join(redact(join_surrogates(text)).split())
    return line if len(line) <= SUMMARY_CHARS else f"{line[: SUMMARY_CHARS - 1]}…"


def found(count: int) -> str:
    """Return "26 found"."""
    return ngettext("%(count)d found", "%(count)d found", count) % {"count": count}


def model_words(label: object, *, count: int = 2) -> str:
    """Return what the objects of "app.model" are called: "schedules"."""
    model = _model(label)
    if model is None:
        return str(label)
    options = model._meta
    return str(options.verbose_name if count == 1 else options.verbose_name_plural)


def name_in(data: JSON) -> str:
    """Return what an object in a result is called; empty if it has no name."""
    if not isinstance(data, dict):
        return ""
    names = (data.get(key) for key in ("text", "title", "name"))
    name = next((one for one in names if isinstance(one, str) and one), "")
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def _counted(label: str, data: JSON) -> str:
    """Return the label with the number of rows, or the name of the object."""
    total = data.get("total") if isinstance(data, dict) else None
    rows = _rows_in(data)
    if isinstance(total, int) and not isinstance(total, bool):
        said = found(total)
    elif rows or data == []:
        said = found(len(rows))
    else:
        said = name_in(data)
    return f"{label}: {said}" if label and said else ""


# --- the table ---


def table_of(data: JSON, *, order: str = "", first: int = 0) -> Table | None:
    """
    Return the fields and the first rows of a result; None if it has neither.

    Labels, choices and dates are those of the model that the result names. `order` is
    the number of a column, with - for descending; `first` the first row to show.
    """
    rows = _rows_in(data)
    model = _model(data.get("model")) if isinstance(data, dict) else None
    fields = [*_fields(data, model)] if isinstance(data, dict) else []
    flat = [_flat(row) for row in rows]
    if len(flat) == 1 and "" not in flat[0]:
        fields, flat = [*fields, *_fields(flat[0], model)], []
    names = _columns(flat[:MOST_ROWS])[:MOST_COLUMNS]
    if not fields and not names:
        return None
    shown = _in_order(flat, names, order)[first : first + MOST_ROWS]
    return {
        "fields": fields[:MOST_FIELDS],
        "columns": [_label(name, model) for name in names],
        "rows": [
            [_cell(row.get(name), name, model) for name in names] for row in shown
        ],
        "more": len(flat) - len(shown),
    }


def lines_of(data: JSON) -> list[list[str]]:
    """Return all rows of a result with all columns, as text; their labels first."""
    rows = [_flat(row) for row in _rows_in(data)]
    model = _model(data.get("model")) if isinstance(data, dict) else None
    names = _columns(rows)
    return [
        [_label(name, model) for name in names],
        *([_line(row.get(name), name, model) for name in names] for row in rows),
    ]


def _line(value: Any, name: str, model: Any) -> str:
    if value in NOTHING:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, list) and _is_linked(value):
        return ", ".join(str(one["text"]) for one in value)
    return _words(value, _field(model, name))


def _in_order(
    rows: list[dict[str, Any]], names: list[str], order: str
) -> list[dict[str, Any]]:
    """Return flat rows by a column; those without a value come last."""
    number = order.removeprefix("-")
    if not (number.isascii() and number.isdigit() and int(number) < len(names)):
        return rows
    name = names[int(number)]
    known = [row for row in rows if row.get(name) not in NOTHING]
    known.sort(key=lambda row: _rank(row[name]), reverse=order.startswith("-"))
    return [*known, *(row for row in rows if row.get(name) in NOTHING)]


def _rank(value: Any) -> tuple[bool, float, str]:
    """Return what a value is ordered by: numbers before texts."""
    if isinstance(value, int | float):
        return False, value, ""
    text = value.get("text") if isinstance(value, dict) else value
    return True, 0, str(text).casefold()


def _rows_in(data: JSON) -> list[dict[str, Any]]:
    """Return the longest list of objects in a result."""
    lists = data.values() if isinstance(data, dict) else [data]
    found_rows = [
        one
        for one in lists
        if isinstance(one, list) and one and all(isinstance(row, dict) for row in one)
    ]
    return max(found_rows, key=len, default=[])


def _fields(data: dict[str, Any], model: Any) -> Iterator[list[Any]]:
    if named := _named(data, model):
        yield [capfirst(str(model._meta.verbose_name)) if model else "", named]
    for name, value in _flat(data).items():
        is_rows = isinstance(value, list) and any(
            isinstance(row, dict) for row in value
        )
        is_table = is_rows and not _is_linked(value)
        is_said = value is not False and value not in NOTHING
        if name and is_said and not is_table:
            yield [_label(name, model), _cell(value, name, model)]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its fields beside its name, which has no name itself."""
    flat: dict[str, Any] = {}
    if isinstance(row.get("text"), str) and "id" in row:
        flat[""] = {"id": row["id"], "text": row["text"] or f"#{row['id']}"}
    for name, value in row.items():
        if name in ("fields", "group") and isinstance(value, dict):
            flat |= {own: one for own, one in value.items() if own}
        elif not name:
            continue  # a key of a site's own JSON, which has no label
        elif name not in UNSHOWN or (name in ("id", "text") and "" not in flat):
            flat[name] = value
    named = flat.get("")
    return {
        name: value
        for name, value in flat.items()
        if not name or named is None or value != named["text"]
    }


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for row in rows for name in row)
    return [
        name
        for name in names
        if any(row.get(name) not in (None, "", []) for row in rows)
    ]


def _label(name: str, model: Any) -> str:
    field = _field(model, name)
    if not name:
        return capfirst(str(model._meta.verbose_name)) if model else ""
    if field is not None:
        return capfirst(str(getattr(field, "verbose_name", name)))
    return name.replace("__", " ").replace("_", " ").capitalize()


def _cell(value: Any, name: str, model: Any) -> Cell:
    if not name and isinstance(value, dict):
        return _named(value, model) or {"text": str(value["text"])}
    field = _field(model, name)
    related = getattr(field, "related_model", None)
    if isinstance(value, dict) and (linked := _named(value, related)):
        return linked
    if isinstance(value, list) and value and _is_linked(value):
        texts = ", ".join(str(one["text"]) for one in value[:MOST_LINKED])
        return _text(f"{texts}, …" if len(value) > MOST_LINKED else texts)
    return _text(_words(value, field))


def _words(value: Any, field: Any) -> str:
    if isinstance(value, list) and not any(
        isinstance(one, list | dict) for one in value
    ):
        return ", ".join(_words(one, field) for one in value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    choices = getattr(field, "flatchoices", ())
    labels = {str(key): str(text) for key, text in choices}
    if str(value) in labels:
        return labels[str(value)]
    if isinstance(field, Field) and isinstance(value, str):
        value = value_or(value, lambda: field.to_python(value))
    return plain_text(value)


def _text(text: str) -> Cell:
    return {"text": text if len(text) <= CELL_CHARS else f"{text[: CELL_CHARS - 1]}…"}


def _named(value: dict[str, Any], model: Any) -> Cell | None:
    """Return the cell of an object that has a name, with what it links to."""
    text, key = value.get("text"), value.get("id")
    if not isinstance(text, str) or isinstance(key, dict | list) or key is None:
        return None
    cell = _text(text or f"#{key}")
    return {**cell, "model": model._meta.label_lower, "id": str(key)} if model else cell


def _is_linked(values: list[Any]) -> bool:
    """Return whether these are related objects, and no rows of their own."""
    return all(isinstance(one, dict) and one.keys() == {"id", "text"} for one in values)


def _model(label: object) -> type[Model] | None:
    return model_of_label(label) if isinstance(label, str) else None


def _field(model: Any, name: str) -> Any:
    if model is None or not name:
        return None
    fields = {field.name: field for field in model._meta.get_fields()}
    return fields.get(name)
