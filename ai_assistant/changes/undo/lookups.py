"""What stands in the way of an undo: missing targets, taken values, dependents."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import ForeignKey, Q, UniqueConstraint
from django.db.models.deletion import Collector, ProtectedError, RestrictedError
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.capture.images import Image, all_rows, object_id
from ai_assistant.changes.capture.object_names import texts_of
from ai_assistant.changes.undo.columns import python_value
from ai_assistant.changes.undo.values import UndoRow
from ai_assistant.changes.values import concrete, label, meta, parent_links
from ai_assistant.models.change import RowChange

BATCH = 100  # conditions of one query
NAMED = 3

Key = tuple[str, str, str]  # alias, app.model of the table, id


def keys_of(row: UndoRow) -> Iterator[Key]:
    """Yield the keys of all rows of an object, also those that were not changed."""
    if row.obj is None:
        return
    first = row.obj.row
    yield first.alias, first.label, first.object_id
    image = row.now or row.obj.before or row.obj.after or {}
    for parent, link in parent_links(first.model):
        pk = image.get(link.attname, first.pk)
        yield first.alias, label(parent), object_id(parent, pk)


# --- keys that lead nowhere ---


def foreign_keys(model: Any) -> list[Any]:
    """Return the foreign keys of a row that the database checks."""
    return [
        one
        for one in meta(model).concrete_fields
        if isinstance(one, ForeignKey) and getattr(one, "db_constraint", True)
    ]


class Targets:
    """Which rows foreign keys may point to, once the undo is done."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, Any], set[Any]] = defaultdict(set)
        self._there: dict[tuple[str, Any], set[str]] = {}

    def want(self, alias: str, field: Any, value: Any) -> None:
        """Note a value that a foreign key is to have."""
        if value is not None:
            self._wanted[alias, field.target_field].add(value)

    def has(self, alias: str, field: Any, value: Any) -> bool:
        """Return whether a row with this value exists now."""
        target = field.target_field
        if (alias, target) not in self._there:
            self._there[alias, target] = self._read(alias, target)
        return str(value) in self._there[alias, target]

    def _read(self, alias: str, target: Any) -> set[str]:
        found: set[str] = set()
        wanted = list(self._wanted[alias, target])
        rows = all_rows(target.model, alias)
        for start in range(0, len(wanted), BATCH):
            some = rows.filter(**{f"{target.name}__in": wanted[start : start + BATCH]})
            found.update(map(str, some.values_list(target.attname, flat=True)))
        return found


# --- values that another row has by now ---


@cache
def unique_sets(model: Any) -> list[tuple[str, ...]]:
    """Return the names of the columns, in the model's own table, that are unique."""
    options = meta(model)
    single = [
        (one.attname,)
        for one in options.local_concrete_fields
        if one.unique and not one.primary_key
    ]
    together = [*options.unique_together]
    together += [
        one.fields
        for one in options.constraints
        if isinstance(one, UniqueConstraint) and one.fields and not one.condition
    ]
    local = {one.name: one.attname for one in options.local_concrete_fields}
    sets = [tuple(local.get(name, "") for name in names) for names in together]
    return [*single, *(names for names in sets if all(names))]


def taken_values(
    model: Any, alias: str, images: dict[Any, Image]
) -> Iterator[tuple[Any, tuple[str, ...], Any]]:
    """
    Yield what is unique and taken: the key of the image, its columns, the other's key.

    `images` are rows as they would be, by their key.
    """
    for names in unique_sets(model):
        wanted: dict[tuple[str, ...], list[Any]] = defaultdict(list)
        every: list[dict[str, Any]] = []
        for pk, image in images.items():
            values = _values(model, image, names)
            if values is not None:
                every.append(values)
                wanted[tuple(map(str, values.values()))].append(pk)
        for other, *found in _matching(all_rows(model, alias), every, names):
            for pk in wanted.get(tuple(map(str, found)), ()):
                if str(other) != str(pk):
                    yield pk, names, other


def _matching(
    rows: Any, every: list[dict[str, Any]], names: tuple[str, ...]
) -> Iterator[Any]:
    """Yield the key and the values of the rows that have one of these."""
    for start in range(0, len(every), BATCH):
        some = every[start : start + BATCH]
        if len(names) == 1:
            condition = Q((f"{names[0]}__in", [values[names[0]] for values in some]))
        else:
            condition = Q(*(Q(**values) for values in some), _connector=Q.OR)
        yield from rows.filter(condition).values_list("pk", *names)


def _values(model: Any, image: Image, names: Iterable[str]) -> dict[str, Any] | None:
    """Return the values of these columns; None if one is NULL, which is never taken."""
    values = {}
    for name in names:
        if image.get(name) is None or is_sealed(image[name]):
            return None
        values[name] = python_value(meta(model).get_field(name), image[name])
    return values


# --- what was built on a row ---


def dependents(obj: models.Model) -> dict[Key, models.Model]:
    """Return the rows that go, or lose a link, with a row that an undo deletes."""
    alias = obj._state.db or "default"
    collector = Collector(using=alias, origin=obj)
    try:
        collector.collect([obj])
        rows = list(_collected(collector))
    except (ProtectedError, RestrictedError) as error:
        protecting = getattr(error, "protected_objects", None)
        rows = list(protecting or error.restricted_objects)  # type: ignore[union-attr]
    return {
        (alias, label(type(row)), object_id(type(row), row.pk)): row for row in rows
    }


def dependents_sentence(rows: list[models.Model]) -> str:
    """Return why a row stays on which these depend."""
    names = ", ".join(_name(row) for row in rows[:NAMED])
    if len(rows) > NAMED:
        names = f"{names}, …"
    return _("Other objects depend on it by now: %(names)s.") % {"names": names}


def _collected(collector: Any) -> Iterator[models.Model]:
    for instances in collector.data.values():
        yield from instances
    for rows in collector.fast_deletes:
        yield from rows
    for batches in collector.field_updates.values():
        for batch in batches:
            yield from batch


def _name(row: models.Model) -> str:
    options = meta(row)
    values = {one.attname: getattr(row, one.attname) for one in options.concrete_fields}
    text = texts_of(type(row), row._state.db or "default", [values])[0]
    return f"{options.verbose_name} “{Truncator(text).chars(40)}”"


# --- who was it ---


def note_who(rows: list[UndoRow], since: Any, own: Iterable[Any]) -> None:
    """
    Note on each row who has changed it last, after `since`, and when.

    `own` are the changes that are undone. From the admin's history, and from what the
    assistant has changed.
    """
    by_key = {row.key: row for row in rows}
    by_model: dict[str, dict[str, UndoRow]] = defaultdict(dict)
    for row in rows:
        by_model[row.model][row.object_id] = row
    for model_label, found in by_model.items():
        _from_history(model_label, found, since)
        later = RowChange.objects.filter(
            model=model_label,
            object_id__in=list(found),
            change_set__created_at__gte=since,
        ).exclude(change_set__in=list(own))
        found_later = later.select_related("change_set__user")
        for change in found_later.defer("change_set__snapshots").order_by(
            "change_set__created_at"
        ):
            made = change.change_set
            target = by_key[f"{model_label}:{change.object_id}"]
            if target.changed_at is None or made.created_at >= target.changed_at:
                user = made.user.get_username() if made.user else ""
                target.changed_at = made.created_at
                target.changed_by = (
                    _("the assistant, for %(user)s") % {"user": user} if user else ""
                )


def _from_history(model_label: str, found: dict[str, UndoRow], since: Any) -> None:
    row = next(iter(found.values()))
    if row.obj is None:
        return
    kind = ContentType.objects.get_for_model(concrete(row.obj.row.model))
    entries = LogEntry.objects.filter(
        content_type=kind, object_id__in=list(found), action_time__gte=since
    )
    for entry in entries.select_related("user").order_by("action_time", "pk"):
        target = found[str(entry.object_id)]
        target.changed_by = entry.user.get_username()
        target.changed_at = entry.action_time
