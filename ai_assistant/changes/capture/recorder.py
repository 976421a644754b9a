"""
Record the writes of a tool: images of each row, before and after.

A recording sees every statement of its thread (`statements`). Before a statement
changes a row, it takes an image of that row; when it closes, it reads those rows again.
So work that was rolled back leaves no trace. A change without an image is a gap: the
recorded changes are then incomplete.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from django.apps import apps
from django.db import connections, models
from django.db.models.signals import pre_save

from ai_assistant import conf
from ai_assistant.changes.capture.files import Files
from ai_assistant.changes.capture.images import (
    KEYS_PER_QUERY,
    Image,
    ReadRow,
    read_keys,
    read_values,
)
from ai_assistant.changes.capture.object_names import in_savepoint, texts_of
from ai_assistant.changes.capture.row_counts import RowCounter
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.capture.statements import StatementWatcher
from ai_assistant.changes.capture.tables import cascade_rows, rows_by_table
from ai_assistant.changes.values import columns, concrete, meta

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

    Recordings may be nested: the outer one does not repeat what the inner one sees.
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
        if any(isinstance(field, models.FileField) for field in meta(model).fields):
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
        self.row_counter: RowCounter = RowCounter(outer.row_counter if outer else None)
        self.made: Counter[tuple[str, Any]] = Counter()  # new rows, by alias and model
        self._rows: dict[tuple[str, Any, Any], RowImage] = {}
        self._gaps: dict[tuple[str, str], None] = {}
        self._bytes = 0
        self._texts = 0

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """What happened without an image, by table and kind."""
        return [{"table": table, "kind": kind} for table, kind in self._gaps]

    def cover(self, objects: models.QuerySet[Any] | Iterable[models.Model]) -> None:
        """Take images of these rows, which are about to change, in few queries."""
        for model, alias, pks in rows_by_table(objects):
            self.meet(model, alias, pks, is_covered=True)

    def cover_delete(
        self, objects: models.QuerySet[Any] | Iterable[models.Model]
    ) -> None:
        """Take images of these rows and of all rows deleted or changed with them."""
        for model, alias, pks in cascade_rows(objects):
            self.meet(model, alias, pks, is_covered=True, is_going=True)

    def meet(
        self,
        model: Any,
        alias: str,
        pks: Iterable[Any],
        *,
        is_covered: bool = False,
        is_going: bool = False,
    ) -> list[RowImage]:
        """
        Take images of these rows of one table, unless they are known, and return them.

        `is_covered`: nothing has been written to them, nor to their files, yet.
        """
        new = [pk for pk in pks if not self.knows(model, alias, pk)]
        met: list[RowImage] = []
        for start in range(0, len(new), KEYS_PER_QUERY):
            some = new[start : start + KEYS_PER_QUERY]
            rows = read_keys(model, alias, some, fields=columns(model))
            met += self._begin_all(
                model, alias, rows, is_covered=is_covered, is_going=is_going
            )
        return met

    def meet_rows(
        self, queryset: models.QuerySet[Any], *, is_going: bool = False
    ) -> list[RowImage]:
        """
        Take images of the rows of a queryset and return them.

        A row that is known keeps the image that it has. Too many rows are recorded as a
        gap.
        """
        model, limit = concrete(queryset.model), conf.CHANGED_ROWS
        rows = read_values(queryset, fields=columns(model), limit=limit + 1)
        return self._begin_all(model, queryset.db, rows, is_going=is_going)

    def _begin_all(
        self,
        model: Any,
        alias: str,
        rows_there: Iterable[ReadRow],
        *,
        is_covered: bool = False,
        is_going: bool = False,
    ) -> list[RowImage]:
        rows: list[RowImage] = []
        values: list[dict[str, Any]] = []
        for pk, image, row in rows_there:
            rows.append(self.begin(model, alias, pk, image))
            values.append(row)
        if len(rows) > conf.CHANGED_ROWS:
            self.gap(meta(model).db_table, "too much")
        if is_covered:
            self.files.note_missing(rows)
        if is_going:
            self._name(rows, values)
            self.files.keep_all(rows)
        return rows

    def begin(self, model: Any, alias: str, pk: Any, before: Image | None) -> RowImage:
        """Note the first image of a row; None: the row is new."""
        key = (alias, model, pk)
        row = self._rows.get(key)
        if row is not None:
            return row
        new_row = RowImage(alias=alias, model=model, pk=pk, before=before)
        self._bytes += _size(before)
        self.made[alias, model] += before is None
        if self.has_room:
            self._rows[key] = new_row
        else:
            self.gap(meta(model).db_table, "too much")
        return new_row

    def knows(self, model: Any, alias: str, pk: Any) -> bool:
        """Return whether the recording has an image of this row."""
        return (alias, model, pk) in self._rows

    def row(self, model: Any, alias: str, pk: Any) -> RowImage | None:
        """Return the image of a row, None if there is none."""
        return self._rows.get((alias, model, pk))

    @property
    def has_room(self) -> bool:
        """Whether another row may be kept."""
        size_bytes = self._bytes + self.files.size_bytes
        is_small = size_bytes <= conf.CHANGED_BYTES
        return is_small and len(self._rows) < conf.CHANGED_ROWS

    def gap(self, table: str, kind: str) -> None:
        """Note rows that were changed without an image."""
        self._gaps[table, kind] = None

    def close(self) -> None:
        """Read the rows again."""
        try:
            self._finish()
        except Exception:
            logger.exception("the images of a change cannot be completed")
            self.gap("", "fault")

    def drop(self) -> None:
        """Discard all images: the recorded writes were rolled back."""
        self.rows = []
        self._rows.clear()
        self.files.close()

    def _finish(self) -> None:
        tables: dict[tuple[str, Any], dict[Any, RowImage]] = {}
        for (alias, model, pk), row in self._rows.items():
            tables.setdefault((alias, model), {})[pk] = row
        for (alias, model), rows in tables.items():
            read = False
            with in_savepoint(alias):
                self._read_again(model, alias, rows)
                read = True
            if not read:
                self.gap(meta(model).db_table, "fault")
                for pk in rows:
                    del self._rows[alias, model, pk]
        for table in self.row_counter.unseen():
            self.gap(table, "unseen")
        self.files.finish(list(self._rows.values()))
        self.rows = [row for row in self._rows.values() if row.kind]

    def _read_again(self, model: Any, alias: str, rows: dict[Any, RowImage]) -> None:
        unnamed: list[RowImage] = []
        values = []
        for pk, image, row in read_keys(model, alias, rows, fields=columns(model)):
            rows[pk].after = image
            if rows[pk].kind and not rows[pk].text:
                unnamed.append(rows[pk])
                values.append(row)
        self._name(unnamed, values)

    def _name(self, rows: list[RowImage], values: list[dict[str, Any]]) -> None:
        """Set the texts of the rows, of at most MAX_TEXTS in all."""
        if not rows:
            return
        room = max(MAX_TEXTS - self._texts, 0)
        first = rows[0]
        texts = texts_of(first.model, first.alias, values[:room])
        self._texts += len(texts)
        for place, row in enumerate(rows):
            text = texts[place] if place < len(texts) else ""
            row.text = row.text or text or str(meta(row.model).verbose_name)


def _size(image: Image | None) -> int:
    """Return about how many bytes an image takes."""
    return sum(len(str(value)) + len(name) for name, value in (image or {}).items())
