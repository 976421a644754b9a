"""The rows of the gallery, seen with other eyes than the recorder's."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction

from ai_assistant.changes.capture.images import object_id
from ai_assistant.changes.capture.recorder import Recorder, recording

Rows = dict[tuple[str, str], dict[str, Any]]


def gallery() -> Rows:
    """Return every row of the gallery, by (app.model, key), as `values()` has it."""
    found: Rows = {}
    for model in apps.get_app_config("gallery").get_models(include_auto_created=True):
        if model._meta.proxy or not model._meta.managed:
            continue
        names = [field.attname for field in model._meta.local_concrete_fields]
        for row in model._base_manager.values(*names):
            key = object_id(model, row[model._meta.pk.attname])
            found[model._meta.label_lower, key] = row
    return found


def recorded(work: Callable[[], object]) -> tuple[Recorder, Rows, Rows]:
    """Do `work` in a recording; return it with all rows before and after."""
    before = gallery()
    with transaction.atomic(), recording() as recorder:
        work()
    return recorder, before, gallery()


def differing(before: Rows, after: Rows) -> set[tuple[str, str]]:
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}


def check_true(recorder: Recorder, before: Rows, after: Rows) -> None:
    """
    Hold the recording against the rows.

    Each image must equal its row; and unless there is a gap, each row that differs
    must have one.
    """
    from ai_assistant.changes.capture.columns import raw

    def image(row, model):
        if row is None:
            return None
        fields = {field.attname: field for field in model._meta.local_concrete_fields}
        return {name: raw(fields[name], value) for name, value in row.items()}

    seen = set()
    for row in recorder.rows:
        key = (row.label, row.object_id)
        seen.add(key)
        if not recorder.gaps:
            assert opened(row.before) == opened(image(before.get(key), row.model)), key
        assert opened(row.after) == opened(image(after.get(key), row.model)), key
    if not recorder.gaps:
        files = {(row.label, row.object_id) for row in recorder.rows if row.files}
        assert seen - files == differing(before, after) - files


def opened(image: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return an image without what differs each time: the cipher text."""
    if image is None:
        return None
    return {
        name: value["mac"] if isinstance(value, dict) and "mac" in value else value
        for name, value in image.items()
    }


@pytest.fixture
def media(settings, tmp_path) -> Iterator[Any]:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    return tmp_path
