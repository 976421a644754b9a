"""The assistant and people change the same rows in any order: no person's work is lost."""

from contextlib import suppress
from functools import partial
from itertools import count

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant.changes.undo.values import UndoTarget
from ai_assistant.engine import undo as undoing
from ai_assistant.engine import undo_pieces
from ai_assistant.exceptions import Refused
from tests.changes.undo.conftest import Everything
from tests.gallery.models import Artist, Museum, Style, Work
from tests.thorough import examples

pytestmark = [pytest.mark.django_db, pytest.mark.broad]

FIELDS = ("title", "year", "museum_id")
WHO = st.sampled_from(["assistant", "person"])
ROW = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WHO, ROW, st.sampled_from(FIELDS[:2])),
        st.tuples(st.just("move"), WHO, ROW, st.integers(0, 1)),
        st.tuples(st.just("create"), WHO),
        st.tuples(st.just("delete"), WHO, ROW),
        st.tuples(st.just("link"), WHO, ROW),
        st.tuples(st.just("unlink"), WHO, ROW),
        st.tuples(st.just("undo"), st.sampled_from(["run", "call"])),
        st.tuples(st.just("redo")),
    ),
    min_size=4,
    max_size=10,
)


class Gallery:
    """Rows that both change, and who has written each value: no value is used twice."""

    def __init__(self, scene) -> None:
        self.scene = scene
        self.values = count(1)
        self.by_person: set[tuple[str, object]] = set()
        self.artist = Artist.objects.create(name="A")
        self.museums = [Museum.objects.create(name=f"M{n}") for n in range(2)]
        self.style = Style.objects.create(name="S")
        self.undone: list = []
        for number in range(3):
            Work.objects.create(title=f"first {number}", artist=self.artist)

    def take(self, step) -> None:
        name, *arguments = step
        work = partial(getattr(self, name), *arguments)
        if name in ("undo", "redo") or arguments[0] == "person":
            work()
        else:
            with suppress(AssertionError):  # there was nothing to change
                self.scene.do(work)

    def row(self, place):
        rows = list(Work.objects.order_by("pk"))
        return rows[place % len(rows)] if rows else None

    def write(self, who, place, field):
        if row := self.row(place):
            value = next(self.values)
            value = f"word{value}" if field == "title" else value
            if who == "person":
                self.by_person.add((field, value))
            setattr(row, field, value)
            row.save()

    def move(self, who, place, museum):
        if row := self.row(place):
            row.museum = self.museums[museum]
            row.save()

    def create(self, who):
        title = f"word{next(self.values)}"
        if who == "person":
            self.by_person.add(("title", title))
        Work.objects.create(title=title, artist=self.artist)

    def delete(self, who, place):
        if row := self.row(place):
            row.delete()

    def link(self, who, place):
        if row := self.row(place):
            row.styles.add(self.style)

    def unlink(self, who, place):
        if row := self.row(place):
            row.styles.remove(self.style)

    def cells(self):
        """Return the values that a person has written, by row and field."""
        return {
            (row["pk"], field): row[field]
            for row in Work.objects.values("pk", *FIELDS)
            for field in FIELDS
            if (field, row[field]) in self.by_person
        }

    def undo(self, kind):
        target = self.scene.target
        last = self.scene.run.calls.last()
        if kind == "call" and last is not None:
            target = UndoTarget(kind="call", id=last.pk)
        before = self.cells()
        try:
            undone = self.scene.undo(target)
        except Refused as refused:
            assert refused.code == "nothing"
            return
        assert undone.differing == []
        after = self.cells()
        assert {cell: after.get(cell) for cell in before} == before
        if undone.change_id:
            self.undone.append(undone)

    def redo(self):
        if not self.undone:
            return
        try:
            undone = self.scene.redo(self.undone.pop())
        except Refused as refused:
            assert refused.code == "nothing"
            return
        assert undone.differing == []


@pytest.mark.row("R05")
@pytest.mark.timeout(1200)
@given(steps=STEPS)
@settings(
    max_examples=examples(150, many=500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_value_of_a_person_is_lost(scene, monkeypatch, steps):
    monkeypatch.setattr(undoing, "AdminPermissions", lambda _user: Everything())
    monkeypatch.setattr(undo_pieces, "_permissions", lambda *_: Everything())
    with transaction.atomic():
        gallery = Gallery(scene)
        for step in [*steps, ("undo", "run"), ("redo",), ("undo", "call")]:
            gallery.take(step)
        transaction.set_rollback(True)
