"""The differences from what was shown, object by object."""

from dataclasses import dataclass
from typing import Any

from ai_assistant.changes.capture.images import Image, RowImage, row_images
from ai_assistant.changes.values import columns, parent_links


class UnexpectedDifference(str):
    """Says what would happen beside what was shown."""

    __slots__ = ()


class MissingDifference(str):
    """Says what was shown and would not happen."""

    __slots__ = ()


@dataclass(slots=True)
class RecordedObject:
    """An object with its rows: its own first, then those of parent tables."""

    rows: list[RowImage]

    @property
    def row(self) -> RowImage:
        return self.rows[0]

    @property
    def kind(self) -> str:
        return self.row.kind or "update"

    @property
    def before(self) -> Image | None:
        return _merged([row.before for row in self.rows])

    @property
    def after(self) -> Image | None:
        return _merged([row.after for row in self.rows])

    @property
    def fields(self) -> list[str]:
        return [name for row in self.rows for name in row.fields]


def objects_of(rows: list[RowImage]) -> list[RecordedObject]:
    """Return the objects of these rows, in the order in which they were met."""
    known = {(row.alias, row.model, row.pk): row for row in rows}
    parts: set[int] = set()
    found: list[RecordedObject] = []
    for row in rows:
        made = RecordedObject([row])
        for parent, pk in parent_keys(row):
            part = known.get((row.alias, parent, pk))
            if part is not None and part.kind == row.kind:
                made.rows.append(part)
                parts.add(id(part))
        found.append(made)
    return [one for one in found if id(one.row) not in parts]


def parent_keys(row: RowImage) -> list[tuple[Any, Any]]:
    """Return the tables of parents with the key of this object in each."""
    image = row.before or row.after or {}
    return [
        (parent, image.get(link.attname, row.pk))
        for parent, link in parent_links(row.model)
    ]


def whole_before(one: RecordedObject) -> Image | None:
    """Return the image with the columns of all its tables, as it was."""
    image = one.before
    if image is None:
        return None
    there = {row.model for row in one.rows}
    for parent, pk in parent_keys(one.row):
        if parent not in there:  # it was not touched
            for _, part in row_images(
                parent, [pk], one.row.alias, fields=columns(parent)
            ):
                image = {**part, **image}
    return image


def _merged(parts: list[Image | None]) -> Image | None:
    there = [part for part in parts if part is not None]
    if not there:
        return None
    return {name: value for part in reversed(there) for name, value in part.items()}
