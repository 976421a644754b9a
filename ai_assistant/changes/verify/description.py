"""Describe a recording to a person."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.images import can_be_found, image_digest, is_blank
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.display import display_value, row_name, with_currency
from ai_assistant.changes.trees import PLACES, is_place
from ai_assistant.changes.values import (
    CHANGE_KINDS,
    SHOWN,
    Changes,
    FieldChange,
    meta,
    model_name,
    model_of_table,
)
from ai_assistant.changes.values import ObjectChange as Shown
from ai_assistant.changes.verify.auto_fields import is_side, is_volatile
from ai_assistant.changes.verify.differences import (
    RecordedObject,
    objects_of,
    whole_before,
)
from ai_assistant.changes.verify.fingerprint import fingerprint

NUMBER = re.compile(r"\d[\d.,\u00a0\u202f ]*")
AFTER = " .,\u00a0\u202f"  # belongs to what follows a number

Span = tuple[int, int]


def places_of(words: str, number: int) -> Iterator[Span]:
    """Yield where `words` say `number`, also as "1,000"; not inside of a name."""
    for match in NUMBER.finditer(words):
        before = words[: match.start()]
        is_named = before.count("“") > before.count("”")
        if not is_named and re.sub(r"\D", "", match[0]) == str(number):
            yield match.start(), match.start() + len(match[0].rstrip(AFTER))


def with_total(changes: Changes, total: int) -> Changes:
    """
    Return `changes` for fewer objects: the words of title and button say so too.

    A title without the number is replaced by that of the button.
    """
    verb = changes.verb or changes.title
    fewer = _renumbered(verb, changes, total) or f"{verb} ({total})"
    title = "" if changes.plan else _renumbered(changes.title, changes, total)
    title = title or fewer
    return replace(changes, title=title, verb=fewer, total=total)


def _renumbered(words: str, changes: Changes, total: int) -> str:
    """Return `words` with the other number; empty if it is not known which it is."""
    singular, plural = model_name(changes.model), model_name(changes.model, plural=True)
    along = sum(one.model != changes.model for one in changes.objects)
    places = [
        place
        for number in {changes.total, changes.total - along}
        for place in places_of(words, number)
    ]
    counting = [
        place
        for place in places
        if plural and words[place[1] :].lstrip(AFTER).startswith(plural)
    ]
    if len(counting or places) != 1:
        return ""
    ((start, end),) = counting or places
    text_after = words[end:]
    if counting and total == 1:
        text_after = text_after.replace(plural, singular, 1)
    return f"{words[:start]}{total}{text_after}"


def changes_of(recorder: Recorder, title: str) -> Changes:
    """
    Return the recorded changes to show; only exactly these may happen later.

    For a call that was tried out and rolled back.
    """
    written = shown_objects(recorder)
    objects = [obj for obj in written if not is_unseen(obj)]
    labels = {obj.row.label for obj in objects if not obj.row.is_link}
    return Changes(
        title=title,
        model=labels.pop() if len(labels) == 1 else "",
        objects=tuple(object_shown(obj) for obj in _as_read(objects)[:SHOWN]),
        total=len(objects),
        warnings=tuple(gap_texts(recorder)),
        versions=versions_of(written),
        undoable=bool(objects) or not recorder.gaps,
        undo_limits=(_("What cannot be shown stays."),) if recorder.gaps else (),
        exact=fingerprint(recorder),
    )


def _as_read(objects: list[RecordedObject]) -> list[RecordedObject]:
    """Return the objects, of deleted ones first those on which the others hang."""
    by_table: dict[str, list[RecordedObject]] = {}
    for obj in objects:
        if obj.kind == "delete":
            by_table.setdefault(obj.row.label, []).append(obj)
    # What hangs on a row has to be deleted before it.
    gone = (obj for group in reversed(by_table.values()) for obj in group)
    return [next(gone) if obj.kind == "delete" else obj for obj in objects]


def shown_objects(recorder: Recorder) -> list[RecordedObject]:
    """Return the recorded objects that a person is shown."""
    return objects_of([row for row in recorder.rows if not is_side(row.model)])


def is_unseen(obj: RecordedObject) -> bool:
    """Return whether an object has changed in nothing that a card would say."""
    return obj.kind == "update" and next(raw_fields(obj), None) is None


def gap_texts(recorder: Recorder) -> list[str]:
    """Return a sentence for each table with unrecorded changes."""
    kinds: dict[str, set[str]] = {}
    for gap in recorder.gaps:
        kinds.setdefault(gap["table"], set()).add(gap["kind"])
    return [
        _gap_text(table) % {"table": _rows_name(table)}
        if of_table != {PLACES}
        else _("Other %(names)s get another place in the tree.")
        % {"names": _rows_name(table)}
        for table, of_table in kinds.items()
        if (model := model_of_table(table)) is None or not is_side(model)
    ]


def _gap_text(table: str) -> str:
    if table:
        return _("Something changes in “%(table)s” that cannot be shown.")
    return _("Something changes that cannot be shown.")


def _rows_name(table: str) -> str:
    """Return what the rows of a table are called; its own name if it has no model."""
    model = model_of_table(table)
    return table if model is None else str(meta(model).verbose_name_plural)


def object_shown(obj: RecordedObject) -> Shown:
    """Return a recorded object as a card shows it."""
    row = obj.row
    return Shown(
        kind=CHANGE_KINDS[obj.kind],
        model=row.label,
        object_id="" if row.before is None else row.object_id,
        text=row.text,
        fields=_links(obj) if row.is_link else tuple(_fields(obj)),
    )


def _fields(obj: RecordedObject) -> Iterator[FieldChange]:
    before, after = obj.before or {}, obj.after or {}
    for row, change in raw_fields(obj):
        field = meta(row.model).get_field(change.name)
        old = display_value(field, before.get(field.attname), row.alias)
        new = display_value(field, change.raw, row.alias)
        yield replace(
            change,
            before=with_currency(old, field, before),
            after=with_currency(new, field, after),
        )


def raw_fields(obj: RecordedObject) -> Iterator[tuple[RowImage, FieldChange]]:
    """
    Yield the changed columns of an object that stays, without texts, with their row.

    NULL and an empty text are one to a person.
    """
    if obj.kind == "delete":
        return
    before, after = obj.before or {}, obj.after or {}
    for row in obj.rows:
        for field in meta(row.model).local_concrete_fields:
            is_key = field.primary_key or field.attname not in row.fields
            if is_key or is_volatile(field):
                continue
            value = after.get(field.attname)
            if is_blank(value, before.get(field.attname)):
                continue
            label = capfirst(str(field.verbose_name))
            change = FieldChange(
                name=field.name,
                label=label,
                attname=field.attname,
                raw=value,
                is_place=is_place(field),
            )
            yield row, change


def _links(obj: RecordedObject) -> tuple[FieldChange, ...]:
    """Return the two ends of a many-to-many row."""
    row = obj.row
    image: dict[str, Any] = row.after or row.before or {}
    ends = [field for field in meta(row.model).fields if field.is_relation]
    changes = []
    for field in ends:
        text = row_name(field.related_model, image[field.attname], row.alias)
        changes.append(
            FieldChange(
                name=field.name,
                label=capfirst(str(meta(field.related_model).verbose_name)),
                before="" if row.before is None else text,
                after="" if row.after is None else text,
                attname=field.attname,
                raw=(row.after or {}).get(field.attname),
            )
        )
    return tuple(changes)


def versions_of(objects: list[RecordedObject]) -> dict[str, str]:
    """Return the digests of the rows as they were, by row_key."""
    digests = {}
    for obj in objects:
        image = whole_before(obj)
        if image is not None and can_be_found(obj.row.model):
            digests[obj.row.key] = image_digest(image)
    return digests
