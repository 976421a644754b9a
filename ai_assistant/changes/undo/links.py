"""Links of many-to-many fields whose tables Django has made."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.db.models.signals import m2m_changed

from ai_assistant.changes.capture.images import Image, all_rows, read_values
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.undo.columns import python_value
from ai_assistant.changes.undo.values import UndoRow
from ai_assistant.changes.values import label, meta
from ai_assistant.changes.verify.differences import RecordedObject


def links_now(
    through: Any, alias: str, objects: list[RecordedObject]
) -> dict[int, Image]:
    """Return the links that there are between the same two objects."""
    ends = [one.attname for one in meta(through).concrete_fields if one.is_relation]
    wanted: dict[tuple[str, ...], list[RecordedObject]] = defaultdict(list)
    condition = Q(pk__in=())
    for obj in objects:
        image = obj.row.before or obj.row.after or {}
        values = {name: image.get(name) for name in ends}
        wanted[tuple(map(str, values.values()))].append(obj)
        condition |= Q(**values)
    found: dict[int, Image] = {}
    for _pk, image, _row in read_values(all_rows(through, alias).filter(condition)):
        for obj in wanted.get(tuple(str(image[name]) for name in ends), ()):
            found[id(obj.row)] = image
    return found


def last_links(images: list[RowImage]) -> list[RowImage]:
    """
    Return the rows with one change at most between two objects: the last.

    Without those whose link was removed and then made again. Several removals in a
    row say that a person has made the link again in between.
    """
    changes: dict[tuple[Any, ...], list[RowImage]] = defaultdict(list)
    for image in images:
        if image.is_link:
            row = image.before or image.after or {}
            key = meta(image.model).pk.attname
            ends = tuple(str(value) for name, value in row.items() if name != key)
            changes[image.alias, image.model, ends].append(image)
    kept: set[int] = set()
    for found in changes.values():
        kinds = [image.kind for image in found]
        if kinds[-2:] != ["m2m_remove", "m2m_add"]:
            kept.add(id(found[-1]))
    return [one for one in images if not one.is_link or id(one) in kept]


class telling:  # noqa: N801 - reads as a word of the sentence in which it stands
    """Send what a change of a many-to-many field sends, before and after the block."""

    def __init__(
        self, row: UndoRow, through: Any, image: Image, alias: str, word: str
    ) -> None:
        self._word, self._through = word, through
        self._sent = _m2m_arguments(through, image, alias)
        self._row = row

    def __enter__(self) -> None:
        self._send("pre")

    def __exit__(self, kind: object, *_rest: object) -> None:
        if kind is None:
            self._send("post")

    def _send(self, when: str) -> None:
        if self._sent is not None:
            m2m_changed.send(
                sender=self._through, action=f"{when}_{self._word}", **self._sent
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkEnd:
    """The many-to-many field whose table this is, with the columns of both ends."""

    field: Any
    owner: str  # app.model of the table whose field it is
    source: Any
    target: Any


def link_end(through: Any) -> LinkEnd | None:
    """Return the field of a made many-to-many table; None if it has none any more."""
    owner = meta(through).auto_created
    fields = meta(owner).local_many_to_many if owner and owner is not True else ()
    for field in fields:
        if field.remote_field.through is through:
            options = meta(through)
            return LinkEnd(
                field=field,
                owner=label(owner),
                source=options.get_field(field.m2m_field_name()),
                target=options.get_field(field.m2m_reverse_field_name()),
            )
    return None


def owner_of(through: Any, image: Image, alias: str) -> tuple[Any, Any, Any] | None:
    """Return the field of a made many-to-many table, its object, and the other's key."""
    end = link_end(through)
    if end is None:
        return None
    key = python_value(end.source, image[end.source.attname])
    owners = all_rows(end.source.related_model, alias)
    found = owners.filter(**{end.source.target_field.attname: key}).first()
    if found is None:
        return None
    return end.field, found, python_value(end.target, image[end.target.attname])


def _m2m_arguments(through: Any, image: Image, alias: str) -> dict[str, Any] | None:
    found = owner_of(through, image, alias)
    if found is None:
        return None
    field, instance, other = found
    return {
        "instance": instance,
        "reverse": False,
        "model": field.related_model,
        "pk_set": {other},
        "using": alias,
    }
