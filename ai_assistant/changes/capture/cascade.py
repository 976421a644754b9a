"""All rows that go, or change, when some are deleted."""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models
from django.db.models.deletion import Collector, ProtectedError, RestrictedError

from ai_assistant.changes.values import concrete

logger = logging.getLogger("ai_assistant")


def cascade_rows(
    chosen: models.QuerySet[Any] | Iterable[models.Model],
) -> Iterator[tuple[Any, str, list[Any]]]:
    """
    Yield (model, alias, keys) of all rows that Django's deletion would touch.

    Those deleted by a cascade, with their rows in parent tables, in made
    many-to-many tables and by generic relations; and those of which a key is set
    to NULL or to a default. Nothing if the deletion is refused by a protected row.
    """
    found: dict[tuple[Any, str], list[Any]] = {}
    for instance in chosen:
        alias = instance._state.db or "default"
        found.setdefault((type(instance), alias), []).append(instance)
    for (_, alias), instances in found.items():
        collector = Collector(using=alias, origin=instances[0])
        try:
            collector.collect(instances)
        except (ProtectedError, RestrictedError):
            continue
        for model, pks in _rows_of(collector).items():
            yield model, alias, list(pks)


def _rows_of(collector: Collector) -> dict[Any, dict[Any, None]]:
    found: dict[Any, dict[Any, None]] = {}
    for model, instances in collector.data.items():
        _add(found, model, (instance.pk for instance in instances))
    for objects in collector.fast_deletes:
        _add(found, objects.model, objects.values_list("pk", flat=True))
    updates: dict[Any, list[Any]] = collector.field_updates
    for (field, _), groups in updates.items():
        for group in groups:
            _add(found, field.model, (one.pk for one in group))
    return found


def _add(found: dict[Any, dict[Any, None]], model: Any, pks: Iterable[Any]) -> None:
    found.setdefault(concrete(model), {}).update(dict.fromkeys(pks))
