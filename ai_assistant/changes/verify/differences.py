"""The differences from what was shown, object by object."""

from dataclasses import dataclass
from typing import Any

from ai_assistant.changes.capture.images import Image, row_images
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.values import columns, parent_links


class UnexpectedDifference(str):
    """A sentence about a change that was not shown."""

    __slots__ = ()


class MissingDifference(str):
    """A sentence about a shown change that would not happen."""

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
    """Return the objects of these rows, in the order of recording."""
    rows_by_key = {(row.alias, row.model, row.pk): row for row in rows}
    parts: set[int] = set()
    objects: list[RecordedObject] = []
    for row in rows:
        obj = RecordedObject([row])
        for parent, pk in parent_keys(row):
            part = rows_by_key.get((row.alias, parent, pk))
            if part is not None and part.kind == row.kind:
                obj.rows.append(part)
                parts.add(id(part))
        objects.append(obj)
    return [obj for obj in objects if id(obj.row) not in parts]


def parent_keys(row: RowImage) -> list[tuple[Any, Any]]:
    """Return the tables of parents with the key of this object in each."""
    image = row.before or row.after or {}
    return [
        (parent, image.get(link.attname, row.pk))
        for parent, link in parent_links(row.model)
    ]


def whole_before(obj: RecordedObject) -> Image | None:
    """Return the image with the columns of all its tables, as it was."""
    image = obj.before
    if image is None:
        return None
    models = {row.model for row in obj.rows}
    for parent, pk in parent_keys(obj.row):
        if parent not in models:  # it was not touched
            for _, part in row_images(
                parent, [pk], obj.row.alias, fields=columns(parent)
            ):
                image = {**part, **image}
    return image


def _merged(parts: list[Image | None]) -> Image | None:
    images = [part for part in parts if part is not None]
    if not images:
        return None
    return {name: value for part in reversed(images) for name, value in part.items()}
