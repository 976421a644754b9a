"""Which rows of an undo belong together, and in one transaction; which come first."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db.models import ForeignKey

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import Image
from ai_assistant.changes.undo.lookups import foreign_keys, keys_of, unique_sets
from ai_assistant.changes.undo.values import UndoRow
from ai_assistant.changes.values import concrete, label, meta
from ai_assistant.safety.site_code import value_or

PIECE_ROWS = 200  # of one transaction, unless a group has more

Group = list[UndoRow]


class _Ties:
    """Which rows are tied, by the place of the first one (disjoint sets)."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._holders: dict[Hashable, int] = {}

    def first(self, place: int) -> int:
        """Return the first row of the group that holds the row at `place`."""
        while (found := self._first.get(place, place)) != place:
            place = self._first[place] = self._first.get(found, found)
        return place

    def tie(self, place: int, name: Hashable, *, is_own: bool = True) -> None:
        """Tie a row to the one that has `name`; `is_own`: it has that name too."""
        holder = self._holders.setdefault(name, place) if is_own else None
        other = self._holders.get(name, place) if holder is None else holder
        low, high = sorted((self.first(place), self.first(other)))
        self._first[high] = low


def groups_of(rows: Iterable[UndoRow]) -> list[Group]:
    """
    Return the rows in groups that are undone whole or not at all.

    Rows are tied by a foreign key, by a unique value, and by the change that made
    them. A change of more than PIECE_ROWS rows ties none: it is undone in pieces.
    """
    every, ties = list(rows), _Ties()
    sizes = Counter(change for row in every for change in row.change_sets)
    for place, row in enumerate(every):
        small = (one for one in row.change_sets if sizes[one] <= PIECE_ROWS)
        for name in (*keys_of(row), *_found(row, _unique_in), *small):
            ties.tie(place, name)
    for place, row in enumerate(every):
        for name in _found(row, _keys_in):
            ties.tie(place, name, is_own=False)
    groups: dict[int, Group] = defaultdict(list)
    for place, row in enumerate(every):
        groups[ties.first(place)].append(row)
    return list(groups.values())


@dataclass(kw_only=True, slots=True)
class Piece:
    """Whole groups of rows that one transaction undoes."""

    groups: list[Group]
    is_last: bool = False  # and all of the plan is done with it
    at: str = ""  # the key of the row at which it failed

    @property
    def rows(self) -> list[UndoRow]:
        """Return its rows."""
        return [row for group in self.groups for row in group]

    def split(self) -> tuple[list[Group], Group]:
        """Return the groups before the one that failed, and that; not known: all."""
        for place, group in enumerate(self.groups):
            if any(row.key == self.at for row in group):
                return self.groups[:place], group
        return [], self.rows


def pieces_of(groups: Iterable[Group]) -> list[Piece]:
    """Return the groups in pieces of PIECE_ROWS; a larger one is a piece of its own."""
    pieces: list[Piece] = []
    room = 0
    for group in groups:
        if not pieces or len(group) > room:
            pieces.append(Piece(groups=[]))
            room = PIECE_ROWS
        pieces[-1].groups.append(group)
        room -= len(group)
    return pieces


def _found(row: UndoRow, ask: Callable[..., Iterator[Hashable]]) -> Iterator[Hashable]:
    """Yield what `ask` finds in the row as it was, as it was left, and as it is."""
    for part in row.obj.rows if row.obj else ():
        for image in (part.before, part.after, row.now):
            if image:
                yield from ask(part.model, part.alias, image)


def _keys_in(model: Any, alias: str, image: Image) -> Iterator[Hashable]:
    """Yield the keys of the rows to which this one points."""
    for field in meta(model).concrete_fields:
        value = image.get(field.attname)
        if not isinstance(field, ForeignKey) or value is None or is_sealed(value):
            continue
        target = field.target_field
        if target.primary_key:
            yield alias, label(concrete(field.related_model)), str(value)
        else:
            yield alias, label(target.model), (target.attname,), (str(value),)
    for field in meta(model).private_fields:
        if isinstance(field, GenericForeignKey):
            kind = image.get(f"{field.ct_field}_id")
            target_model = value_or(None, partial(_model_of, kind))
            if target_model is not None:
                yield alias, label(target_model), str(image.get(field.fk_field))


def _model_of(content_type_id: Any) -> Any:
    return ContentType.objects.get_for_id(content_type_id).model_class()


def _unique_in(model: Any, alias: str, image: Image) -> Iterator[Hashable]:
    for names in unique_sets(model):
        values = [image.get(name) for name in names]
        if not any(value is None or is_sealed(value) for value in values):
            yield alias, label(model), names, tuple(map(str, values))


def parents_first(rows: Iterable[UndoRow]) -> Iterator[UndoRow]:
    """Yield rows so that what a foreign key points to is there before."""
    left = {row.key: row for row in rows}
    while left:
        ready = [row for row in left.values() if not _waits_for(row, left)]
        # A circle: the database checks foreign keys at the end only.
        for row in ready or list(left.values())[:1]:
            del left[row.key]
            yield row


def _waits_for(row: UndoRow, others: dict[str, UndoRow]) -> bool:
    if row.obj is None:
        return False
    image = row.obj.before or {}
    for field in foreign_keys(row.obj.row.model):
        key = f"{meta(concrete(field.related_model)).label_lower}:{image.get(field.attname)}"
        if key != row.key and key in others:
            return True
    return False
