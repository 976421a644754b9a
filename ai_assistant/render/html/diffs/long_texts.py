"""A text that is too long for a card, in parts: all of it is shown for approval."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from ai_assistant.changes.stored import stored_changes
from ai_assistant.changes.values import FieldChange, ObjectChange
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import RowChange
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.diffs.rows import readable_rows
from ai_assistant.render.markdown import parts_of, render
from ai_assistant.text.hidden_characters import looks_like, mark_hidden_characters
from ai_assistant.text.word_diff import DiffPiece, diff_words, mark_pieces

PART_CHARS = 20_000
RESULT = "result"  # the side of a call that is not what was asked for
SPACE_CHARS = 300  # at the end of a part, in which it is looked for a space

Entry = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the text stands: in a field of a row of a proposal, or as an argument."""

    row: int = 0
    field: int = 0
    argument: str = ""


def whole_entry(interrupt: Interrupt, place: Place, part: int) -> Entry | None:
    """
    Return what `whole_text.html` draws of the part of a text, from 1 on.

    With 0 of the first that has a change. None if there is no such text.
    """
    found = _argument(interrupt, place) if place.argument else _field(interrupt, place)
    if found is None:
        return None
    return _entry(found, part, _query(interrupt, place))


def whole_change(row: RowChange, number: int, part: int) -> Entry | None:
    """Return the same of a field of a row that was changed, as the list of it says."""
    (change,) = readable_rows([row])
    if number >= len(change.fields):
        return None
    found = _of_field(change, change.fields[number], "")
    return _entry(found, part, {"change": row.pk, "field": number})


def whole_call(call: ToolCall, side: str, part: int) -> Entry | None:
    """Return the same of what a call was asked for, or of its result."""
    if side == RESULT:
        label, value = _("Result"), (call.result or {}).get("data")
    else:
        label, value = _("Asked for"), call.arguments or call.arguments_text
    if value in (None, {}, ""):
        return None
    pieces = [DiffPiece("same", argument_text(value))]
    found = call.label or call.name, label, pieces, False
    query = {"call": str(call.pk), "side": side}
    return _entry(found, part, query)


def whole_message(message: Message, part: int) -> Entry | None:
    """Return the same of what the assistant has said, drawn as it is in the panel."""
    parts = parts_of(message.text)
    if not parts:
        return None
    number = min(max(part, 1), len(parts))
    return {
        "title": mark_hidden_characters(message.conversation.title),
        "label": _("Answer"),
        # Escaped and allow-listed by render.markdown.
        "blocks": [mark_safe(html) for html in render(parts[number - 1])],  # noqa: S308
        "number": number,
        "count": len(parts),
        "query": urlencode({"message": str(message.pk)}),
    }


def _entry(found: "Found", part: int, query: Mapping[str, str | int]) -> Entry:
    title, label, pieces, strict = found
    parts = list(_parts(pieces))
    changed = [n for n, one in enumerate(parts, 1) if _changes(one)]
    number = min(part or next(iter(changed), 1), len(parts))
    return {
        "title": mark_hidden_characters(title),
        "label": mark_hidden_characters(label),
        "text": mark_pieces(parts[number - 1], strict=strict),
        "number": number,
        "count": len(parts),
        # Of a text that is new as a whole they say nothing.
        "changed": changed if len(changed) < len(parts) else [],
        "query": urlencode(query),
    }


def argument_text(value: object) -> str:
    """Return an argument as text: strings as they are, other values as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False)


def argument_label(name: str) -> str:
    """Return the name of an argument as a label, as Django makes those of fields."""
    return name.replace("_", " ").capitalize()


Found = tuple[str, str, list[DiffPiece], bool]


def _argument(interrupt: Interrupt, place: Place) -> Found | None:
    arguments, name = interrupt.call.arguments, place.argument
    if name not in arguments:
        return None
    text = argument_text(arguments[name])
    title = interrupt.call.label or interrupt.call.name
    return title, argument_label(name), [DiffPiece("same", text)], False


def _field(interrupt: Interrupt, place: Place) -> Found | None:
    changes = stored_changes(interrupt.proposal)
    if changes is None:
        return None
    try:
        row = changes.objects[place.row]
        field = row.fields[place.field]
    except IndexError:
        return None
    return _of_field(row, field, changes.title)


def _of_field(row: ObjectChange, field: FieldChange, title: str) -> Found:
    strict = looks_like(field.before, field.after)
    return row.text or title, field.label, _pieces(row, field), strict


def _pieces(row: ObjectChange, field: FieldChange) -> list[DiffPiece]:
    if row.kind == "create" or field.before == field.after:
        return [DiffPiece("same", field.after)]
    if row.kind == "delete":
        return [DiffPiece("same", field.before or field.after)]
    return diff_words(field.before, field.after)


def _parts(pieces: Sequence[DiffPiece]) -> Iterator[list[DiffPiece]]:
    part: list[DiffPiece] = []
    left = PART_CHARS
    for piece in pieces:
        text = piece.text
        while len(text) > left:
            end = _end(text, left)
            yield [*part, piece._replace(text=text[:end])]
            part, left, text = [], PART_CHARS, text[end:]
        part.append(piece._replace(text=text))
        left -= len(text)
    yield part


def _end(text: str, most: int) -> int:
    """Return where to cut `text`: after a space, if one is near the end."""
    for place in range(most, max(0, most - SPACE_CHARS), -1):
        if text[place - 1].isspace():
            return place
    return most


def _changes(part: Sequence[DiffPiece]) -> bool:
    return any(piece.kind != "same" and piece.text for piece in part)


def _query(interrupt: Interrupt, place: Place) -> dict[str, str | int]:
    named = {"interrupt": str(interrupt.pk)}
    if place.argument:
        return {**named, "argument": place.argument}
    return {**named, "row": place.row, "field": place.field}
