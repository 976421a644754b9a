"""
Record the writes of a tool: images of each row, before and after.

A recording sees every statement of its thread (`statements`). Of each row that one
is about to change, it takes an image first; when it closes, it reads those rows
again. So what was rolled back in between leaves no trace. What it cannot take an
image of is a gap: then the changes are not complete, and must not be called so.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from django.apps import apps
from django.db import connections, models
from django.db.models.deletion import Collector, ProtectedError, RestrictedError
from django.db.models.signals import pre_save

from ai_assistant import conf
from ai_assistant.changes.capture.files import Files
from ai_assistant.changes.capture.images import (
    Image,
    RowImage,
    all_rows,
    by_table,
    in_batches,
    read_values,
)
from ai_assistant.changes.capture.object_names import in_savepoint, texts_of
from ai_assistant.changes.capture.row_counts import RowCounter
from ai_assistant.changes.capture.statements import StatementWatcher
from ai_assistant.changes.values import columns, concrete, meta, parent_links


def cascade_rows(
    chosen: models.QuerySet[Any] | Iterable[models.Model],
) -> Iterator[tuple[Any, str, list[Any]]]:
    """
    Yield (model, alias, keys) of all rows that Django's deletion would touch.

    Those deleted by a cascade, with their rows in parent tables, in made
    many-to-many tables and by generic relations; and those of which a key is set
    to NULL or to a default. Nothing if the deletion is refused by a protected row.
    """
    for (_, alias), instances in by_table(chosen).items():
        collector = Collector(using=alias, origin=instances[0])
        try:
            collector.collect(instances)
        except (ProtectedError, RestrictedError):
            continue
        for model, keys in _rows_of(collector).items():
            yield model, alias, list(keys)


def _rows_of(collector: Collector) -> dict[Any, dict[Any, None]]:
    found: dict[Any, dict[Any, None]] = defaultdict(dict)
    for model, instances in collector.data.items():
        found[concrete(model)] |= dict.fromkeys(one.pk for one in instances)
    for objects in collector.fast_deletes:
        pks = objects.values_list("pk", flat=True)
        found[concrete(objects.model)] |= dict.fromkeys(pks)
    updates: dict[Any, list[Any]] = collector.field_updates
    for (field, _), groups in updates.items():
        for group in groups:
            found[concrete(field.model)] |= dict.fromkeys(one.pk for one in group)
    return found


logger = logging.getLogger("ai_assistant")

MAX_TEXTS = 200  # of objects; more are named by their model

_current: ContextVar["Recorder | None"] = ContextVar("ai_assistant_recorder")


def current_recorder() -> "Recorder | None":
    """Return the recording that is open here, None if there is none."""
    return _current.get(None)


@contextmanager
def recording() -> Iterator["Recorder"]:
    """
    Record what the block writes; it belongs inside the transaction of the writes.

    Recordings may be nested: what the inner one sees, the outer one does not have.
    After the block, `rows` and `gaps` of the recorder are complete. If the block
    raises, nothing is kept.
    """
    recorder = Recorder(current_recorder())
    token = _current.set(recorder)
    try:
        with ExitStack() as stack:
            for alias in connections:
                watcher = StatementWatcher(
                    recorder, lambda: current_recorder() is recorder
                )
                stack.enter_context(connections[alias].execute_wrapper(watcher))
            yield recorder
        recorder.close()
    except BaseException:
        recorder.drop()
        raise
    finally:
        _current.reset(token)


def watch_files() -> None:
    """
    Keep the old files of saved rows from now on, while a recording is open.

    Called before the site connects receivers of its own, which may delete such files.
    """
    for model in apps.get_models():
        if any(isinstance(one, models.FileField) for one in meta(model).fields):
            pre_save.connect(_keep_files, sender=model)


def _keep_files(*, instance: Any, using: str, **_: object) -> None:
    recorder = current_recorder()
    if recorder is not None:
        recorder.files.before_save(instance, using)


class Recorder:
    """The rows that one recording has met."""

    def __init__(self, outer: "Recorder | None" = None) -> None:
        self.began_at = time.time()
        self.rows: list[RowImage] = []  # those that changed, once it is closed
        self.files = Files(self)
        self.witness: RowCounter = RowCounter(outer.witness if outer else None)
        self._known: dict[tuple[str, Any, Any], RowImage] = {}
        self._gaps: Counter[tuple[str, str]] = Counter()
        self._bytes = 0
        self._texts = 0

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """What happened without an image: {table, kind, count}, 0 if not known."""
        return [
            {"table": table, "kind": kind, "count": count}
            for (table, kind), count in self._gaps.items()
        ]

    def cover(self, chosen: models.QuerySet[Any] | Iterable[models.Model]) -> None:
        """Take images of these rows, which are about to change, in few queries."""
        for model, alias, pks in _tables(chosen):
            self.meet(model, alias, pks, is_covered=True)

    def cover_delete(
        self, chosen: models.QuerySet[Any] | Iterable[models.Model]
    ) -> None:
        """Take images of these rows and of all that goes or changes with them."""
        for model, alias, pks in cascade_rows(chosen):
            self.meet(model, alias, pks, is_covered=True, is_going=True)

    def meet(
        self,
        model: Any,
        alias: str,
        pks: Iterable[Any],
        *,
        is_covered: bool = False,
        is_going: bool = False,
    ) -> None:
        """
        Take images of these rows of one table, unless they are known.

        `is_covered`: nothing has been written to them, nor to their files, yet.
        """
        new = [pk for pk in pks if not self.knows(model, alias, pk)]
        for some in in_batches(all_rows(model, alias), new):
            self.meet_rows(some, is_covered=is_covered, is_going=is_going)

    def meet_rows(
        self,
        found: models.QuerySet[Any],
        *,
        is_covered: bool = False,
        is_going: bool = False,
    ) -> list[RowImage]:
        """
        Take images of the rows of a queryset and return them.

        A row that is known keeps the image that it has. If they are more than can
        be kept, that is a gap.
        """
        model, limit = concrete(found.model), conf.CHANGED_ROWS
        met: list[RowImage] = []
        values: list[dict[str, Any]] = []
        rows_there = read_values(found, fields=columns(model), limit=limit + 1)
        for pk, image, row in rows_there:
            met.append(self.begin(model, found.db, pk, image))
            values.append(row)
        if len(met) > limit:
            self.gap(meta(model).db_table, "too much", 0)
        if is_covered:
            self.files.note_missing(met)
        if is_going:
            self._name(met, values)
            self.files.keep_all(met)
        return met

    def begin(self, model: Any, alias: str, pk: Any, before: Image | None) -> RowImage:
        """Note the first image of a row; None: the row is new."""
        key = (alias, model, pk)
        known = self._known.get(key)
        if known is not None:
            return known
        made = RowImage(alias=alias, model=model, pk=pk, before=before)
        self._bytes += _size(before)
        if self.has_room:
            self._known[key] = made
        else:
            self.gap(meta(model).db_table, "too much", 0)
        return made

    def knows(self, model: Any, alias: str, pk: Any) -> bool:
        """Return whether the recording has an image of this row."""
        return (alias, model, pk) in self._known

    def row(self, model: Any, alias: str, pk: Any) -> RowImage | None:
        """Return what is known of a row."""
        return self._known.get((alias, model, pk))

    @property
    def has_room(self) -> bool:
        """Whether one row more may be kept."""
        size_bytes = self._bytes + self.files.size_bytes
        is_small = size_bytes <= conf.CHANGED_BYTES
        return is_small and len(self._known) < conf.CHANGED_ROWS

    def gap(self, table: str, kind: str, count: int) -> None:
        """Note rows that were changed without an image."""
        self._gaps[table, kind] += max(count, 0)

    def close(self) -> None:
        """Read the rows again."""
        try:
            self._finish()
        except Exception:
            logger.exception("the images of a change cannot be completed")
            self.gap("", "fault", 0)

    def drop(self) -> None:
        """Forget everything: what was recorded has not happened."""
        self.rows = []
        self._known.clear()
        self.files.close()

    def _finish(self) -> None:
        tables: dict[tuple[str, Any], dict[Any, RowImage]] = {}
        for (alias, model, pk), row in self._known.items():
            tables.setdefault((alias, model), {})[pk] = row
        for (alias, model), met in tables.items():
            read = False
            with in_savepoint(alias):
                self._read_again(model, alias, met)
                read = True
            if not read:
                self.gap(meta(model).db_table, "fault", len(met))
                for pk in met:
                    del self._known[alias, model, pk]
        for table, count in self.witness.unseen().items():
            self.gap(table, "unseen", count)
        self.files.finish(list(self._known.values()))
        self.rows = [row for row in self._known.values() if row.kind]

    def _read_again(self, model: Any, alias: str, met: dict[Any, RowImage]) -> None:
        named: list[RowImage] = []
        values = []
        for some in in_batches(all_rows(model, alias), met):
            for pk, image, row in read_values(some, fields=columns(model)):
                met[pk].after = image
                if met[pk].kind and not met[pk].text:
                    named.append(met[pk])
                    values.append(row)
        self._name(named, values)

    def _name(self, met: list[RowImage], values: list[dict[str, Any]]) -> None:
        """Give the rows their texts, as far as there are not too many of them."""
        if not met:
            return
        some = max(MAX_TEXTS - self._texts, 0)
        first = met[0]
        texts = texts_of(first.model, first.alias, values[:some])
        self._texts += len(texts)
        for place, row in enumerate(met):
            known = texts[place] if place < len(texts) else ""
            row.text = row.text or known or str(meta(row.model).verbose_name)


def _tables(
    chosen: models.QuerySet[Any] | Iterable[models.Model],
) -> Iterator[tuple[Any, str, list[Any]]]:
    """Yield each table in which these objects have rows, with their keys."""
    for (model, alias), instances in by_table(chosen).items():
        yield concrete(model), alias, [instance.pk for instance in instances]
        for parent, _link in parent_links(concrete(model)):
            key = meta(parent).pk.attname
            yield parent, alias, [getattr(one, key) for one in instances]


def _size(image: Image | None) -> int:
    """Return about how many bytes an image takes."""
    return sum(len(str(value)) + len(name) for name, value in (image or {}).items())
