"""The assistant and people change the same rows in any order: no person's work is lost."""

from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from django.contrib.admin import AdminSite, ModelAdmin
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.test import RequestFactory
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ai_assistant.changes.undo.values import DOES, Outcome, UndoTarget
from ai_assistant.engine import undo as undoing
from ai_assistant.engine import undo_pieces
from ai_assistant.exceptions import Refused
from tests.changes.undo.conftest import Everything
from tests.gallery.models import Artist, Museum, Style, Work
from tests.thorough import examples

pytestmark = [pytest.mark.django_db, pytest.mark.broad]

FIELDS = ("title", "year", "museum_id", "scan")
WHO = st.sampled_from(["assistant", "person"])
ROW = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WHO, ROW, st.sampled_from(FIELDS[:2])),
        st.tuples(st.just("move"), WHO, ROW, st.integers(0, 1)),
        st.tuples(st.just("upload"), WHO, ROW),
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


class WorkAdmin(ModelAdmin):
    """The pages on which a person changes works."""

    fields = ("title", "artist", "museum", "styles", "price", "year", "scan")

    def response_change(self, request, obj):
        return HttpResponse()

    def response_add(self, request, obj, post_url_continue=None):
        return HttpResponse()

    def response_delete(self, request, obj_display, obj_id):
        return HttpResponse()


class Person:
    """Who works in the admin."""

    def __init__(self, user) -> None:
        self._user = user
        self._admin = WorkAdmin(Work, AdminSite())

    def save(self, row: Work, **values) -> None:
        """Send the form of a work, new or not, with these values in it."""
        form = {
            "title": row.title,
            "artist": row.artist_id,
            "museum": row.museum_id or "",
            "styles": [] if row.pk is None else [one.pk for one in row.styles.all()],
            "price": row.price,
            "year": row.year,
        }
        view, key = self._admin.changeform_view, row.pk and str(row.pk)
        assert view(self._request({**form, **values}), key).status_code == 200

    def delete(self, row: Work) -> None:
        request = self._request({"post": "yes"})
        assert self._admin.delete_view(request, str(row.pk)).status_code == 200

    def _request(self, form):
        request = RequestFactory().post("/", form)
        request.user, request._dont_enforce_csrf_checks = self._user, True
        return request


class Gallery:
    """Rows that both change, and who has written each value: no value is used twice."""

    def __init__(self, scene) -> None:
        self.scene = scene
        self.person = Person(scene.user)
        self.is_alone = True  # the assistant: no person has changed anything
        self.values = count(1)
        self.by_person: set[tuple[str, object]] = set()
        self.artist = Artist.objects.create(name="A")
        self.museums = [Museum.objects.create(name=f"M{n}") for n in range(2)]
        self.style = Style.objects.create(name="S")
        self.undone: list = []
        for number in range(3):
            work = Work(title=f"first {number}", artist=self.artist)
            work.scan.save("first.txt", ContentFile(f"first {number}".encode()))
        self.first = self.rows()

    def take(self, step) -> None:
        name, *arguments = step
        work = partial(getattr(self, name), *arguments)
        if name in ("undo", "redo"):
            work()
        elif arguments[0] == "person":
            self.is_alone = False
            work()
        else:
            with suppress(AssertionError):  # there was nothing to change
                self.scene.do(work)

    def row(self, place):
        rows = list(Work.objects.order_by("pk"))
        return rows[place % len(rows)] if rows else None

    def change(self, who, row, **values):
        """Let the assistant, or a person on a page of the admin, change a work."""
        if who == "person":
            self.person.save(row, **values)
            return
        for name, value in values.items():
            setattr(row, name, value)
        row.save()

    def write(self, who, place, field):
        if row := self.row(place):
            value = next(self.values)
            value = f"word{value}" if field == "title" else value
            if who == "person":
                self.by_person.add((field, value))
            self.change(who, row, **{field: value})

    def move(self, who, place, museum):
        if row := self.row(place):
            museum = self.museums[museum]
            self.change(who, row, museum=museum.pk if who == "person" else museum)

    def upload(self, who, place):
        if row := self.row(place):
            content = f"word{next(self.values)}".encode()
            if who == "person":
                self.by_person.add(("scan", content))
                self.person.save(row, scan=SimpleUploadedFile("scan.txt", content))
            else:
                row.scan.save("scan.txt", ContentFile(content))

    def create(self, who):
        row = Work(title=f"word{next(self.values)}", artist=self.artist)
        if who == "person":
            self.by_person.add(("title", row.title))
            self.person.save(row)
        else:
            row.save()

    def delete(self, who, place):
        if row := self.row(place):
            self.person.delete(row) if who == "person" else row.delete()

    def link(self, who, place):
        if row := self.row(place):
            if who == "person":
                self.person.save(row, styles=[self.style.pk])
            else:
                row.styles.add(self.style)

    def unlink(self, who, place):
        if row := self.row(place):
            if who == "person":
                self.person.save(row, styles=[])
            else:
                row.styles.remove(self.style)

    def rows(self):
        """Return all works, with their links and the contents of their files."""
        return {
            row.pk: {
                "title": row.title,
                "year": row.year,
                "museum_id": row.museum_id,
                "scan": Path(row.scan.path).read_bytes() if row.scan else b"",
                "styles": [one.pk for one in row.styles.all()],
                "changed_at": row.changed_at,
            }
            for row in Work.objects.prefetch_related("styles")
        }

    def cells(self):
        """Return the values that a person has written, by row and field."""
        return {
            (pk, field): row[field]
            for pk, row in self.rows().items()
            for field in FIELDS
            if (field, row[field]) in self.by_person
        }

    def undo(self, kind):
        target = self.scene.target
        last = self.scene.run.calls.last()
        if kind == "call" and last is not None:
            target = UndoTarget(kind="call", id=last.pk)
        before, plan = self.cells(), self.scene.plan(target)
        try:
            undone = self.scene.undo(target, digest=plan.digest)
        except Refused as refused:
            assert refused.code == "nothing"
            return
        assert undone.differing == []
        after = self.cells()
        assert {cell: after.get(cell) for cell in before} == before
        if kind == "run" and self.is_alone:
            outcomes = {row.outcome for row in plan.rows}
            assert outcomes <= {*DOES, Outcome.SAME}
            assert self.rows() == self.first
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
@pytest.mark.timeout(3600)
@given(steps=STEPS)
@hypothesis_settings(
    max_examples=examples(30, many=500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_value_of_a_person_is_lost(scene, monkeypatch, settings, tmp_path, steps):
    settings.MEDIA_ROOT = str(tmp_path)
    monkeypatch.setattr(undoing, "AdminPermissions", lambda _user: Everything())
    monkeypatch.setattr(undo_pieces, "_permissions", lambda *_: Everything())
    with transaction.atomic():
        gallery = Gallery(scene)
        for step in [*steps, ("undo", "run"), ("redo",), ("undo", "call")]:
            gallery.take(step)
        transaction.set_rollback(True)
