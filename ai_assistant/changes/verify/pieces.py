"""The allowed writes after an approval, if the call makes them in pieces."""

from collections.abc import Iterable, Iterator
from typing import Any

from ai_assistant.changes.capture.images import (
    Image,
    can_be_found,
    image_digest,
    same_value,
)
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.values import Changes, columns, label, meta, model_of_label
from ai_assistant.changes.verify.auto_fields import is_side, is_volatile
from ai_assistant.changes.verify.compare import left_undone
from ai_assistant.changes.verify.description import gap_texts
from ai_assistant.changes.verify.differences import (
    RecordedObject,
    UnexpectedDifference,
    objects_of,
    parent_keys,
    whole_before,
)
from ai_assistant.changes.verify.expected import Expected
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, RowChange

Place = tuple[str, str, str]  # alias, app.model of the table, id


class Pieces:
    """
    Compares each piece of a call with what was shown and is not done yet.

    Earlier attempts at the call are read from its stored changes. Ask `unexpected`
    inside the transaction of a piece, and `keep` once it is committed.
    """

    def __init__(self, preview: Changes, call: ToolCall) -> None:
        self._versions = preview.versions
        self._takes_all = any(change.kind == "action" for change in preview.objects)
        self._expected = self._next = Expected(preview, in_pieces=True)
        self._left: dict[Place, Image | None] = {}  # rows as earlier pieces left them
        self._rows: list[RowImage] = []  # of the piece that was asked for last
        for rows in stored_rows(call):
            self._expected.sentences(objects_of(rows))
            self._note(rows)

    def unexpected(self, recorder: Recorder) -> list[str]:
        """Return a sentence for each difference of a piece from what was shown."""
        self._next, self._rows = self._expected.branch(), recorder.rows
        if self._takes_all:
            return []
        objects = objects_of(recorder.rows)
        return [
            *map(UnexpectedDifference, gap_texts(recorder)),
            *self._next.sentences(objects),
        ]

    def has_moved(self, recorder: Recorder) -> bool:
        """Return whether a row of the piece was changed by others before it."""
        existing = [obj for obj in objects_of(recorder.rows) if obj.before is not None]
        return any(
            self._was_moved(obj) for obj in existing if not is_side(obj.row.model)
        )

    def keep(self) -> None:
        """Note that the piece that was asked for last is done."""
        self._expected = self._next
        self._note(self._rows)

    def _was_moved(self, obj: RecordedObject) -> bool:
        if any(place in self._left for place in _places(obj)):
            return any(self._is_another(row) for row in obj.rows)
        version = self._versions.get(obj.row.key)
        image = whole_before(obj) if version else None
        return image is not None and image_digest(image) != version

    def _is_another(self, row: RowImage) -> bool:
        """Return whether a changed row differs from how an earlier piece left it."""
        image = self._left.get(_place(row), row.before) or {}
        before = row.before or {}
        return any(
            not same_value(image.get(field.attname), before.get(field.attname))
            for field in columns(row.model)
            if field.attname in row.fields and not is_volatile(field)
        )

    def _note(self, rows: Iterable[RowImage]) -> None:
        self._left.update((_place(row), row.after) for row in rows)


def stored_rows(call: ToolCall) -> Iterator[list[RowImage]]:
    """Yield the stored rows of each piece of a call, in order."""
    change_sets = ChangeSet.objects.filter(call=call).order_by("created_at")
    for change_set in change_sets.prefetch_related("rows"):
        rows = (_row(row) for row in change_set.rows.all())
        yield [row for row in rows if row is not None]


def not_done(preview: Changes, call: ToolCall) -> list[str]:
    """Return the names of the shown objects that a call has not changed completely."""
    if any(change.kind == "action" for change in preview.objects):
        return []
    return left_undone(preview, done_by(call))


def done_by(call: ToolCall) -> list[RecordedObject]:
    """Return the objects that a call has changed by now, with all its pieces."""
    rows_by_place: dict[Place, RowImage] = {}
    for rows in stored_rows(call):
        for row in rows:
            rows_by_place.setdefault(_place(row), row).after = row.after
    return [
        obj
        for obj in objects_of(list(rows_by_place.values()))
        if not is_side(obj.row.model)
    ]


def _row(stored: RowChange) -> RowImage | None:
    model = model_of_label(stored.model)
    if model is None:
        return None
    row = RowImage(
        alias=stored.alias,
        model=model,
        pk=stored.object_id,
        before=stored.before,
        after=stored.after,
        text=stored.text,
    )
    if can_be_found(model):
        # Of the type that other images have, which point to it.
        image = stored.after or stored.before or {}
        row.pk = image.get(meta(model).pk.attname, row.pk)
    return row


def _place(row: RowImage) -> Place:
    return (row.alias, row.label, row.object_id)


def _places(obj: RecordedObject) -> list[Place]:
    """Return where the rows of an object are, also those that were not touched."""
    row = obj.row
    parents: list[tuple[Any, Any]] = parent_keys(row)
    return [
        _place(row),
        *((row.alias, label(parent), str(pk)) for parent, pk in parents),
    ]
