"""The allowed writes after an approval, if the call makes them in pieces."""

from collections.abc import Iterable, Iterator
from typing import Any

from ai_assistant.changes.capture.images import (
    Image,
    RowImage,
    can_be_found,
    image_digest,
    same_value,
)
from ai_assistant.changes.capture.recorder import Recorder
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
    Holds the pieces of one call, each against what was shown and not done yet.

    What earlier attempts at the call have done is read from what is kept of it. Ask
    `unexpected` inside the transaction of a piece, and `keep` once it is committed.
    """

    def __init__(self, shown: Changes, call: ToolCall) -> None:
        self._versions = shown.versions
        self._takes_all = any(one.kind == "action" for one in shown.objects)
        self._expected = self._next = Expected(shown, in_pieces=True)
        self._left: dict[Place, Image | None] = {}  # rows as earlier pieces left them
        self._rows: list[RowImage] = []  # of the piece that was asked for last
        for rows in kept_rows(call):
            self._expected.sentences(objects_of(rows))
            self._note(rows)

    def unexpected(self, recorder: Recorder) -> list[str]:
        """Return a sentence for each thing in a piece that is not as it was shown."""
        self._next, self._rows = self._expected.branch(), recorder.rows
        if self._takes_all:
            return []
        happened = objects_of(recorder.rows)
        return [
            *map(UnexpectedDifference, gap_texts(recorder)),
            *self._next.sentences(happened),
        ]

    def has_moved(self, recorder: Recorder) -> bool:
        """Return whether a row of the piece was changed by others before it."""
        there = [one for one in objects_of(recorder.rows) if one.before is not None]
        return any(self._was_moved(one) for one in there if not is_side(one.row.model))

    def keep(self) -> None:
        """Note that the piece that was asked for last is done."""
        self._expected = self._next
        self._note(self._rows)

    def _was_moved(self, one: RecordedObject) -> bool:
        if any(place in self._left for place in _places(one)):
            return any(self._is_another(row) for row in one.rows)
        version = self._versions.get(one.row.key)
        image = whole_before(one) if version else None
        return image is not None and image_digest(image) != version

    def _is_another(self, row: RowImage) -> bool:
        """Return whether a changed row is not as an earlier piece left it."""
        left = self._left.get(_place(row), row.before) or {}
        before = row.before or {}
        return any(
            not same_value(left.get(field.attname), before.get(field.attname))
            for field in columns(row.model)
            if field.attname in row.fields and not is_volatile(field)
        )

    def _note(self, rows: Iterable[RowImage]) -> None:
        self._left.update((_place(row), row.after) for row in rows)


def kept_rows(call: ToolCall) -> Iterator[list[RowImage]]:
    """Yield the rows of each piece of a call, as they are kept, in their order."""
    kept = ChangeSet.objects.filter(call=call).order_by("created_at")
    for change_set in kept.prefetch_related("rows"):
        found = (_row(row) for row in change_set.rows.all())
        yield [row for row in found if row is not None]


def not_done(shown: Changes, call: ToolCall) -> list[str]:
    """Return the names of the shown objects that a call has left, wholly or partly."""
    if any(one.kind == "action" for one in shown.objects):
        return []
    return left_undone(shown, done_by(call))


def done_by(call: ToolCall) -> list[RecordedObject]:
    """Return the objects that a call has changed by now, with all its pieces."""
    whole: dict[Place, RowImage] = {}
    for rows in kept_rows(call):
        for row in rows:
            whole.setdefault(_place(row), row).after = row.after
    return [
        one for one in objects_of(list(whole.values())) if not is_side(one.row.model)
    ]


def _row(kept: RowChange) -> RowImage | None:
    model = model_of_label(kept.model)
    if model is None:
        return None
    made = RowImage(
        alias=kept.alias,
        model=model,
        pk=kept.object_id,
        before=kept.before,
        after=kept.after,
        text=kept.text,
    )
    if can_be_found(model):
        # Of the type that other images have, which point to it.
        image = kept.after or kept.before or {}
        made.pk = image.get(meta(model).pk.attname, made.pk)
    return made


def _place(row: RowImage) -> Place:
    return (row.alias, row.label, row.object_id)


def _places(one: RecordedObject) -> list[Place]:
    """Return where the rows of an object are, also those that were not touched."""
    row = one.row
    parents: list[tuple[Any, Any]] = parent_keys(row)
    return [
        _place(row),
        *((row.alias, label(parent), str(pk)) for parent, pk in parents),
    ]
