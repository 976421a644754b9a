"""Store a recording, in the transaction of its writes."""

import logging
from typing import Any
from uuid import UUID

from django.db import transaction

from ai_assistant.changes.capture.files import store_content
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import FileImage, RowImage
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, FileChange, RowChange
from ai_assistant.models.run import Run

logger = logging.getLogger("ai_assistant")

ROWS_PER_INSERT = 500  # rows in one INSERT


def store(recorder: Recorder, run: Run, call: ToolCall, user: Any) -> ChangeSet | None:
    """
    Store the changes of `call`; return None if there are none.

    What an agent has changed that was asked belongs to the run that has asked.
    """
    made = ChangeSet(
        run_id=run.root_id or run.pk,
        call=call,
        user=user,
        tool=call.name,
        label=call.label,
    )
    return store_as(made, recorder)


def store_as(change_set: ChangeSet, recorder: Recorder) -> ChangeSet | None:
    """
    Store what was recorded as a new change; return None if there is nothing.

    A change that is stored already goes on: the rows are added to it.
    """
    if not recorder.rows and not recorder.gaps:
        return None
    is_new = change_set._state.adding
    change_set.gaps = [*change_set.gaps, *recorder.gaps]
    change_set.is_partial = bool(change_set.gaps)
    noted = None if is_new else ["is_partial", "gaps"]
    change_set.save(force_insert=is_new, update_fields=noted)
    first = 0 if is_new else change_set.rows.count()
    rows = [
        _row(change_set, place, row) for place, row in enumerate(recorder.rows, first)
    ]
    RowChange.objects.bulk_create(rows, batch_size=ROWS_PER_INSERT)
    files = [
        _file(change_set, row, file)
        for row, recorded in zip(rows, recorder.rows, strict=True)
        for file in recorded.files
    ]
    FileChange.objects.bulk_create(files)
    recorder.files.close()
    if any(file.sha256_before and not file.stash for file in files):
        change_set.is_partial = True
        file_gap = {"table": "", "kind": "file"}
        change_set.gaps = [*change_set.gaps, file_gap]
        change_set.save(update_fields=["is_partial", "gaps"])
    return change_set


@transaction.atomic
def forget_images(change_set_id: UUID) -> None:
    """Delete the images and the old files of a change; that it was made stays known."""
    # A write first: an undo that is under way waits, or this waits for it.
    ChangeSet.objects.filter(pk=change_set_id).update(snapshots=None)
    RowChange.objects.filter(change_set=change_set_id).update(before=None, after=None)
    FileChange.objects.filter(row__change_set=change_set_id).delete()


def _row(change_set: ChangeSet, place: int, row: RowImage) -> RowChange:
    return RowChange(
        change_set=change_set,
        order=place,
        alias=row.alias,
        model=row.label,
        object_id=row.object_id[:255],
        text=row.text,
        kind=row.kind,
        before=row.before,
        after=row.after,
        fields=row.fields,
    )


def _file(change_set: ChangeSet, row: RowChange, file: FileImage) -> FileChange:
    name = ""
    if file.content is not None:
        try:
            name = store_content(file.content, str(change_set.pk))
        except Exception:
            logger.exception("the old file %r cannot be kept", file.name)
    return FileChange(
        row=row,
        field=file.field,
        sha256_before=file.sha256_before,
        sha256_after=file.sha256_after,
        stash=name,
    )
