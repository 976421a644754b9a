"""A tool that saves a form, with its images, beside the page of the admin; previews."""

from dataclasses import replace
from itertools import count
from typing import Any

from django.contrib import admin
from django.db import transaction

from ai_assistant.changes.capture import store
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.verify import compare
from ai_assistant.engine.calls.writes import check_unmoved
from project.wiki.models import Page
from tests.bench.data_rows import PAGE, Rows, pairs, timed
from tests.bench.report import emit, median
from tests.bench.requests import request_of

COUNT = 100
PREVIEWS = 5
BULK = 100
numbers = count()


class Saves:
    """Saves the same object in both ways, each time with another title."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._page = rows.pages[0]
        self._admin = admin.site.get_model_admin(Page)
        self._shown: Any = None
        self._arguments: dict[str, Any] = {}

    def by_admin(self) -> None:
        """Post the page of the object."""
        page = self._page
        data = {"title": _title(), "slug": page.slug, "text": page.text}
        path = f"/admin/wiki/page/{page.pk}/change/"
        request = request_of(self._rows.user, path, data)
        response = self._admin.change_view(request, str(page.pk))
        assert response.status_code == 302

    def prepare(self) -> None:
        """Draw up what the person approves; that is no part of the write."""
        self._arguments = {
            "model": PAGE,
            "id": self._page.pk,
            "values": {"title": _title()},
        }
        self._shown = self._rows.preview("change_object", **self._arguments)

    def by_tool(self) -> None:
        """Carry out what was approved, as the engine does."""
        rows = replace(self._rows, is_as_shown=True)
        with transaction.atomic():
            check_unmoved(self._shown)
            with recording() as recorder:
                result = rows.use("change_object", **self._arguments)
            assert result.ok
            assert compare.unexpected_changes(self._shown, recorder) == []
            store.store(recorder, rows.run, rows.call, rows.user)


def measure(rows: Rows) -> None:
    """Print what a form write takes over the admin's, and previews of 1,000 rows."""
    saves = Saves(rows)
    times = []
    for number in range(COUNT + 5):
        saves.prepare()
        first, second = (saves.by_tool, saves.by_admin)
        pair = timed(first), timed(second)
        if number >= 5:
            times.append(pair)
    own = median([theirs for _, theirs in times])
    over = median([ours - theirs for ours, theirs in times])
    note = f"at most 5 or 60 %; {over / own:.0%} of the admin's own {own:.1f} ms"
    emit("form_write_over_admin", over, "ms", n=COUNT, note=note)
    _measure_bulk(rows)
    ids = [page.pk for page in rows.pages]
    values = {"text": "Other words."}
    works = {
        "change_objects": lambda: rows.preview(
            "change_objects", model=PAGE, ids=ids, values=values
        ),
        "delete_objects": lambda: rows.preview("delete_objects", model=PAGE, ids=ids),
    }
    for name, work in works.items():
        took = median([ours for ours, _ in pairs(work, lambda: None, PREVIEWS)])
        note = "at most 2000"
        emit(f"preview_1000_{name}", took, "ms", n=PREVIEWS, note=note)


def _measure_bulk(rows: Rows) -> None:
    ids = [page.pk for page in rows.pages[:BULK]]

    def write() -> None:
        with transaction.atomic(), recording() as recorder:
            rows.use("change_objects", model=PAGE, ids=ids, values={"text": _title()})
        store.store(recorder, rows.run, rows.call, rows.user)

    took = median([timed(write) for _ in range(PREVIEWS)])
    note = "all of it in one write, which has 1 s on SQLite and 5 elsewhere"
    emit(f"write_{BULK}_rows", took, "ms", n=PREVIEWS, note=note)


def _title() -> str:
    return f"Title {next(numbers)}"
