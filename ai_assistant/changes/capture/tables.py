"""In which tables objects have rows, and which rows go with them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models
from django.db.models.deletion import Collector, ProtectedError, RestrictedError

from ai_assistant.changes.values import concrete, meta, parent_links


def by_table(
    objects: Iterable[models.Model],
) -> dict[tuple[Any, str], list[models.Model]]:
    """Return these instances by model and alias of the database."""
    tables: dict[tuple[Any, str], list[models.Model]] = {}
    for instance in objects:
        table = (type(instance), instance._state.db or "default")
        tables.setdefault(table, []).append(instance)
    return tables


def rows_by_table(
    objects: models.QuerySet[Any] | Iterable[models.Model],
) -> Iterator[tuple[Any, str, list[Any]]]:
    """Yield each table in which these objects have rows, with their keys."""
    for (model, alias), instances in by_table(objects).items():
        yield concrete(model), alias, [instance.pk for instance in instances]
        for parent, _link in parent_links(concrete(model)):
            key = meta(parent).pk.attname
            yield parent, alias, [getattr(instance, key) for instance in instances]


def cascade_rows(
    objects: models.QuerySet[Any] | Iterable[models.Model],
) -> Iterator[tuple[Any, str, list[Any]]]:
    """
    Yield (model, alias, keys) of all rows that Django's deletion would touch.

    Those deleted by a cascade, with their rows in parent tables, in made
    many-to-many tables and by generic relations; and those of which a key is set
    to NULL or to a default. Nothing if the deletion is refused by a protected row.
    """
    for (_, alias), instances in by_table(objects).items():
        collector = Collector(using=alias, origin=instances[0])
        try:
            collector.collect(instances)
        except (ProtectedError, RestrictedError):
            continue
        for model, keys in _rows_of(collector).items():
            yield model, alias, list(keys)


def _rows_of(collector: Collector) -> dict[Any, dict[Any, None]]:
    rows: dict[Any, dict[Any, None]] = defaultdict(dict)
    for model, instances in collector.data.items():
        rows[concrete(model)] |= dict.fromkeys(obj.pk for obj in instances)
    for objects in collector.fast_deletes:
        pks = objects.values_list("pk", flat=True)
        rows[concrete(objects.model)] |= dict.fromkeys(pks)
    updates: dict[Any, list[Any]] = collector.field_updates
    for (field, _), groups in updates.items():
        for group in groups:
            rows[concrete(field.model)] |= dict.fromkeys(obj.pk for obj in group)
    return rows
