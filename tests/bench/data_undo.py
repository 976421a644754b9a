"""What images cost a write, and the undo of many rows."""

from dataclasses import replace
from itertools import count

from django.db import transaction

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store, store_as
from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.engine.undo import Undone, read_plan, undo
from ai_assistant.models.change import ChangeSet
from project.wiki.models import Page
from tests.bench.data_rows import PAGE, Rows, Work, pairs, timed
from tests.bench.report import emit, median

COUNT = 100
numbers = count()


def measure(rows: Rows) -> None:
    """Print what capture adds to a write, and how long an undo of all pages takes."""
    shown = replace(rows, is_as_shown=True)

    def write() -> None:
        values = {"title": f"Captured {next(numbers)}"}
        shown.use("change_object", model=PAGE, id=rows.pages[0].pk, values=values)

    def with_images() -> None:
        with transaction.atomic():
            with recording() as recorder:
                write()
            store(recorder, rows.run, rows.call, rows.user)

    def without() -> None:
        with transaction.atomic():
            write()

    times = pairs(with_images, without, COUNT)
    bare = median([theirs for _, theirs in times])
    over = median([ours - theirs for ours, theirs in times])
    note = f"at most 5 or 30 %; {over / bare:.0%} of {bare:.1f} ms without"
    emit("capture_over_write", over, "ms", n=COUNT, note=note)
    pages = Page.objects.filter(pk__in=[page.pk for page in rows.pages])
    _undo_of(rows, "changed", lambda: pages.update(text="Other words."), 3)
    _undo_of(rows, "deleted", pages.delete, 4)


def _undo_of(rows: Rows, word: str, work: Work, most_s: int) -> None:
    """Do `work` as the assistant does, and print how long its undo takes."""
    with transaction.atomic():
        with recording() as recorder:
            work()
        made = store_as(ChangeSet(user=rows.user), recorder)
    assert made is not None
    target = UndoTarget(kind="change", id=made.pk)
    plan = read_plan(rows.user.pk, target)
    request = UndoRequest(user_id=rows.user.pk, target=target, digest=plan.digest)
    done: list[Undone] = []
    took = timed(lambda: done.append(undo(request))) / 1000
    assert not done[0].reason
    note = f"at most {most_s}"
    emit(f"undo_{word}_rows", took, "s", n=len(done[0].rows), note=note)
