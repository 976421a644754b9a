"""What was written in rows within rows is taken back as their page would write it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.planning import make_plan
from ai_assistant.models.change import ChangeSet
from ai_assistant.tools.data.undo.permissions import AdminPermissions
from tests.gallery.models import Artist, Loan, Note, Show, Work
from tests.tools.data.reading import staff
from tests.tools.data.test_nested_inlines import LoanRows, hals

__all__ = ["hals"]  # a fixture
VIEW = ("view_artist", "view_work", "view_loan", "view_note")

OF_ROWS = [
    f"{action}_{model}"
    for action in ("view", "add", "change", "delete")
    for model in ("work", "loan", "note")
]


def planned(user, work):
    """Do `work`; return the rows that the plan of its undo tells."""
    with recording() as recorder:
        work()
    made = store_as(ChangeSet(user=user, kind="call"), recorder)
    return make_plan([made], AdminPermissions(user)).rows


def outcomes(user, work):
    """Return whether the rows, and their fields, would be restored."""
    return {
        (row.outcome, *(one.outcome for one in row.fields))
        for row in planned(user, work)
    }


def change(rows, **values):
    return lambda: rows.update(**values)


class TestWrites:
    def test_change(self, boss, hals):
        assert outcomes(boss, change(Loan.objects.all(), insured_usd=9)) == {
            ("restore", "restore")
        }
        assert outcomes(boss, change(Note.objects.all(), text="New")) == {
            ("restore", "restore")
        }

    @pytest.mark.parametrize("model", [Loan, Note])
    def test_row_that_is_deleted(self, boss, hals, model):
        (row,) = planned(boss, model.objects.first().delete)

        assert row.outcome == "restore"

    def test_row_that_is_added(self, boss, hals):
        work, show = Work.objects.first(), Show.objects.get()
        (row,) = planned(boss, lambda: Loan.objects.create(show=show, work=work))

        assert row.outcome == "restore"

    def test_row_that_is_deleted_with_its_rows(self, hals):
        user = staff("nora", "view_artist", "change_artist", *OF_ROWS)
        Note.objects.all().delete()
        work, loan = planned(user, Work.objects.get(title="Boy").delete)

        assert (work.outcome, loan.outcome) == ("restore", "restore")

    def test_row_that_may_not_come_back(self, hals):
        codes = {*OF_ROWS} - {"add_work"}
        user = staff("nora", "view_artist", "change_artist", *codes)
        rows = planned(user, Work.objects.get(title="Boy").delete)

        assert {row.outcome for row in rows} == {"blocked"}

    def test_row_at_the_third_level(self, boss, hals):
        pupil = Artist.objects.create(name="Leyster", teacher=hals)
        Work.objects.update(artist=pupil)

        assert outcomes(boss, change(Loan.objects.all(), insured_usd=9)) == {
            ("restore", "restore")
        }


class TestWhoMay:
    def test_permission_of_the_nested_inline(self, hals):
        user = staff("nora", *VIEW, "change_artist", "change_loan")

        assert outcomes(user, change(Loan.objects.all(), insured_usd=9)) == {
            ("restore", "restore")
        }
        kept = planned(user, change(Note.objects.all(), text="New"))
        assert {row.reason for row in kept} == {"You may not change it."}
        (gone,) = planned(user, Loan.objects.first().delete)
        assert gone.reason == "You may not add it."

    @pytest.mark.parametrize(
        "codes",
        [
            ("view_artist", "view_work", "view_loan", "change_loan"),
            ("change_artist", "view_loan", "change_loan"),
        ],
        ids=["not of the page", "not of the row above"],
    )
    def test_permission_of_what_it_is_in(self, hals, codes):
        user = staff("nora", *codes)
        kept = planned(user, change(Loan.objects.all(), insured_usd=9))

        assert {row.reason for row in kept} == {"You may not change it."}

    def test_permission_for_the_row_above(self, boss, hals, monkeypatch):
        def may(self, request, obj=None):
            return not isinstance(obj, Work) or obj.title == "Girl"

        monkeypatch.setattr(LoanRows, "has_change_permission", may)
        rows = planned(boss, change(Loan.objects.all(), insured_usd=9))

        boy = Loan.objects.get(work__title="Boy")
        (kept,) = (row for row in rows if row.key.endswith(f":{boy.pk}"))
        assert kept.outcome == "blocked"
        assert sorted(row.outcome for row in rows) == ["blocked", "restore"]


def test_queries_do_not_grow_with_the_rows(boss, hals):
    def queries():
        Loan.objects.update(insured_usd=0)
        with CaptureQueriesContext(connection) as asked:
            planned(boss, change(Loan.objects.all(), insured_usd=9))
        return len(asked)

    queries()  # with the rows of modules, which a process reads once
    before = queries()
    show = Show.objects.get()
    for number in range(10):
        work = Work.objects.create(title=f"W{number}", artist=hals)
        Loan.objects.create(show=show, work=work)

    assert queries() == before
