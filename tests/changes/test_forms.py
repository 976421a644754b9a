"""Each way of changing rows: images that equal the rows, or a gap."""

import pytest
from django.db import transaction

from ai_assistant.changes.capture.recorder import current_recorder, recording
from tests.changes import forms
from tests.changes.conftest import check_true, differing, gallery, recorded
from tests.gallery.models import Artist, Painting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


@pytest.mark.parametrize("form", forms.FORMS, ids=lambda form: form.__name__)
def test_images_equal_the_rows_or_there_is_a_gap(form):
    recorder, before, after = recorded(form)

    check_true(recorder, before, after)
    assert bool(recorder.gaps) == (form.__name__ not in forms.WHOLE)


@pytest.mark.parametrize("form", forms.IN_DATABASE, ids=lambda form: form.__name__)
def test_rolled_back_leaves_nothing(form):
    before = gallery()

    def work():
        with transaction.atomic():
            form()
            transaction.set_rollback(True)

    recorder, _, after = recorded(work)

    assert (recorder.rows, after) == ([], before)


@pytest.mark.parametrize("form", forms.IN_DATABASE, ids=lambda form: form.__name__)
def test_covering_first_changes_no_image(form):
    def work():
        recorder = current_recorder()
        recorder.cover(Painting.objects.all())
        recorder.cover_delete(Artist.objects.all())
        form()

    recorder, before, after = recorded(work)

    check_true(recorder, before, after)
    assert bool(recorder.gaps) == (form.__name__ not in forms.WHOLE)


class TestSeveral:
    def test_an_image_of_one_row_covers_no_other(self):
        def work():
            forms.save()
            forms.raw_sql()

        recorder, before, after = recorded(work)

        assert len(differing(before, after)) > len(recorder.rows)
        assert [gap["kind"] for gap in recorder.gaps] == ["update"]

    def test_an_inner_recording_has_its_own(self):
        with transaction.atomic(), recording() as outer:
            forms.save()
            with recording() as inner:
                forms.create()
            forms.delete()

        kinds = [[row.kind for row in one.rows] for one in (outer, inner)]
        assert kinds == [["update", "delete"], ["create", "create"]]
        assert (outer.gaps, inner.gaps) == ([], [])

    def test_an_error_keeps_nothing(self):
        with (
            pytest.raises(ZeroDivisionError),
            transaction.atomic(),
            recording() as recorder,
        ):
            forms.save()
            raise ZeroDivisionError

        assert recorder.rows == []
