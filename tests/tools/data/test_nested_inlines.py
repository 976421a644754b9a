"""The rows within rows of a page are read as the user may see them there."""

import pytest
from django.contrib import admin
from django.contrib.contenttypes.admin import GenericTabularInline
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.safety.policy.nested_inlines import MOST_LEVELS
from ai_assistant.tools.data.reading.inline_rows import MOST_INLINE_ROWS
from ai_assistant.tools.data.reading.inlines import MOST_NESTED_ROWS
from tests.context.conftest import seen
from tests.gallery.models import Artist, Loan, Museum, Note, Painting, Show, Work
from tests.tools.data.pages import NestedAdmin, NestingRows, served
from tests.tools.data.reading import call, staff

LABEL = "gallery.artist"


class LoanRows(admin.TabularInline):
    model = Loan


class NoteRows(GenericTabularInline):
    model = Note


class WorkRows(NestingRows):
    model = Work
    fields = ("title", "museum")
    inlines = (LoanRows, NoteRows)


class PupilRows(NestingRows):
    model = Artist
    fields = ("name",)
    inlines = (WorkRows,)


class ArtistAdmin(NestedAdmin):
    fields = ("name",)
    inlines = (PupilRows, WorkRows)


@pytest.fixture
def hals(db, settings):
    """An artist whose works have loans and notes, on a page that nests them."""
    hals = Artist.objects.create(name="Hals")
    museum = Museum.objects.create(name="Teyler")
    show = Show.objects.create(name="Portraits")
    for title in ("Boy", "Girl"):
        work = Work.objects.create(title=title, artist=hals, museum=museum)
        Loan.objects.create(show=show, work=work, insured_usd=len(title))
        Note.objects.create(target=work, text=f"On {title}")
    with served(settings, Artist, ArtistAdmin):
        yield hals


def read(user, artist):
    """Return the inlines of an artist by their names."""
    found = call("get_object", user, model=LABEL, id=artist.pk)["inlines"]
    return {one["name"]: one for one in found}


def below(row):
    """Return the inlines within a row by their names."""
    return {one["name"]: one for one in row.get("inlines", ())}


def queries(user, artist):
    with CaptureQueriesContext(connection) as asked:
        read(user, artist)
    return len(asked)


def names(told):
    """Return the inlines that `describe_model` tells, as a tree of names."""
    return {one["name"]: names(one.get("inlines", ())) for one in told}


NOTES = "gallery-note-content_type-object_id"
TREE = {"loan_set": {}, NOTES: {}}


class TestObject:
    def test_rows_within_rows(self, boss, hals):
        boy, girl = read(boss, hals)["works"]["rows"]

        loan = Loan.objects.get(work=boy["id"])
        assert below(boy)["loan_set"] == {
            "name": "loan_set",
            "model": "gallery.loan",
            "total": 1,
            "rows": [
                {
                    "id": loan.pk,
                    "text": "Loan for 3 USD",
                    "fields": {
                        "show": {"id": loan.show_id, "text": "Portraits"},
                        "insured_usd": 3,
                    },
                }
            ],
        }
        (note,) = below(girl)[NOTES]["rows"]
        assert note["fields"] == {"text": "On Girl"}

    def test_three_levels(self, boss, hals):
        pupil = Artist.objects.create(name="Leyster", teacher=hals)
        work = Work.objects.create(title="Lute", artist=pupil)
        note = Note.objects.create(target=work, text="Hers")

        (row,) = read(boss, hals)["pupils"]["rows"]

        (own,) = below(row)["works"]["rows"]
        assert (row["id"], own["id"]) == (pupil.pk, work.pk)
        assert [one["id"] for one in below(own)[NOTES]["rows"]] == [note.pk]

    def test_queries_do_not_grow_with_the_rows(self, boss, hals):
        show, museum = Show.objects.get(), Museum.objects.get()
        queries(boss, hals)  # with the rows of modules, which a process reads once
        before = queries(boss, hals)
        for number in range(20):
            work = Work.objects.create(title=f"W{number}", artist=hals, museum=museum)
            for _each in range(3):
                Loan.objects.create(show=show, work=work)
                Note.objects.create(target=work, text="Note")

        assert queries(boss, hals) == before

    def test_most_rows(self, boss, hals):
        show = Show.objects.get()
        works = [Work(title=f"W{number}", artist=hals) for number in range(8)]
        Work.objects.bulk_create(works)
        loans = MOST_INLINE_ROWS + 10
        Loan.objects.bulk_create(
            Loan(show=show, work=work) for work in works for _each in range(loans)
        )
        before = len(works) + 2

        rows = read(boss, hals)["works"]["rows"]

        told = [below(row)["loan_set"] for row in rows]
        assert len(rows) == before
        assert [one["total"] for one in told] == [1, 1] + [loans] * 8
        lengths = [len(one["rows"]) for one in told]
        assert lengths == [1, 1, 50, 50, 50, 48, 0, 0, 0, 0]
        assert sum(lengths) == MOST_NESTED_ROWS
        assert queries(boss, hals) < 40

    def test_order_and_narrowed_rows_of_the_page(self, boss, hals, monkeypatch):
        work = Work.objects.get(title="Boy")
        show = Show.objects.get()
        for insured in (9, 5, 0):
            Loan.objects.create(show=show, work=work, insured_usd=insured)

        def get_queryset(self, request):
            rows = super(LoanRows, self).get_queryset(request)
            return rows.exclude(insured_usd=0).order_by("-insured_usd")

        monkeypatch.setattr(LoanRows, "get_queryset", get_queryset)
        told = below(read(boss, hals)["works"]["rows"][0])["loan_set"]

        insured = [row["fields"]["insured_usd"] for row in told["rows"]]
        assert (insured, told["total"]) == ([9, 5, 3], 3)

    @pytest.mark.parametrize("as_kind", [lambda rows: rows, list])
    def test_formset_that_leaves_rows_out(self, boss, hals, monkeypatch, as_kind):
        class Formset(LoanRows.formset):
            def get_queryset(self):
                rows = super().get_queryset()
                is_boy = self.instance.title == "Boy"
                return rows.none() if is_boy else as_kind(rows)

        monkeypatch.setattr(LoanRows, "formset", Formset)
        boy, girl = read(boss, hals)["works"]["rows"]

        assert "loan_set" not in below(boy)
        assert below(girl)["loan_set"]["total"] == 1

    def test_choice_that_the_row_does_not_offer(self, boss, hals, monkeypatch):
        def formfield(self, db_field, request, **kwargs):
            if db_field.name == "show":
                kwargs["queryset"] = Show.objects.none()
            return super(LoanRows, self).formfield_for_foreignkey(
                db_field, request, **kwargs
            )

        monkeypatch.setattr(
            LoanRows, "formfield_for_foreignkey", formfield, raising=False
        )
        row = read(boss, hals)["works"]["rows"][0]

        assert below(row)["loan_set"]["rows"][0]["fields"]["show"] is None

    def test_rows_of_several_classes(self, boss, hals, monkeypatch):
        """As django-polymorphic has them: an inline for each class of rows."""

        class LentRows(WorkRows):
            inlines = (LoanRows,)

        class PaintingRows(WorkRows):
            model = Painting
            inlines = (NoteRows,)

        kinds = [LentRows(Artist, admin.site), PaintingRows(Artist, admin.site)]
        monkeypatch.setattr(WorkRows, "inlines", ())
        monkeypatch.setattr(WorkRows, "child_inline_instances", kinds, raising=False)
        rows = read(boss, hals)["works"]["rows"]

        assert [{*below(row)} for row in rows] == [{"loan_set"}, {"loan_set"}]

    def test_inline_in_itself(self, boss, hals, told_of, monkeypatch):
        monkeypatch.setattr(PupilRows, "inlines", (PupilRows,))
        Artist.objects.filter(pk=hals.pk).update(teacher=hals)

        _rows, described, on_page = told_of(boss)
        depth, inlines = 0, read(boss, hals)
        while "pupils" in inlines:
            (row,) = inlines["pupils"]["rows"]
            depth, inlines = depth + 1, below(row)

        assert depth == MOST_LEVELS + 1
        assert str(described).count("pupils") == MOST_LEVELS + 1
        assert max(path.count("pupils") for path in on_page) == MOST_LEVELS
        given = {"model": LABEL, "field": "gallery.loan.show"}
        assert call("find_related", boss, **given)["rows"]

    def test_inline_of_a_plain_page_nests_nothing(self, boss, hals, settings):
        class PlainAdmin(admin.ModelAdmin):
            fields = ("name",)
            inlines = (WorkRows,)

        with served(settings, Artist, PlainAdmin):
            rows = read(boss, hals)["works"]["rows"]
            told = call("describe_model", boss, model=LABEL)["inlines"]

        assert [below(row) for row in rows] == [{}, {}]
        assert names(told) == {"works": {}}


@pytest.fixture
def told_of(hals):
    """Return what a user is told of the inlines of the artist, at every place."""

    def told(user):
        path = f"/admin/gallery/artist/{hals.pk}/change/"
        rows = read(user, hals)["works"]["rows"]
        return (
            {name for row in rows for name in below(row)},
            names(call("describe_model", user, model=LABEL)["inlines"]),
            seen(user, path)["object"].value.get("inlines of rows", {}),
        )

    return told


class TestWhoSees:
    def test_everything(self, boss, told_of):
        assert told_of(boss) == (
            {*TREE},
            {"pupils": {"works": TREE}, "works": TREE},
            {"pupils": ["works"], "pupils.works": [*TREE], "works": [*TREE]},
        )

    def test_inlines_that_need_a_row(self, boss, told_of, monkeypatch):
        def instances(self, request, obj):
            made = admin.ModelAdmin.get_inline_instances(self, request, obj)
            return made if obj.name[0] else ()

        monkeypatch.setattr(WorkRows, "get_inline_instances", instances)

        assert told_of(boss) == (
            {*TREE},
            {"pupils": {"works": {}}, "works": {}},
            {"pupils": ["works"], "works": [*TREE]},
        )

    def test_nothing_without_the_permission(self, told_of):
        user = staff("nora", "view_artist", "view_work", "view_loan")

        own = {"loan_set": {}}
        assert told_of(user) == (
            {"loan_set"},
            {"pupils": {"works": own}, "works": own},
            {"pupils": ["works"], "pupils.works": [*own], "works": [*own]},
        )

    def test_who_may_only_add_sees_no_rows(self, told_of):
        user = staff("nora", "view_artist", "view_work", "add_loan")

        rows, described, on_page = told_of(user)
        assert rows == set()
        assert described["works"] == {"loan_set": {}}
        assert on_page["works"] == ["loan_set"]

    def test_permission_for_some_rows(self, boss, hals, monkeypatch):
        def may(self, request, obj=None):
            return not isinstance(obj, Work) or obj.title == "Girl"

        monkeypatch.setattr(LoanRows, "has_view_or_change_permission", may)
        boy, girl = read(boss, hals)["works"]["rows"]

        assert "loan_set" not in below(boy)
        assert below(girl)["loan_set"]["total"] == 1

    def test_fields_that_differ_by_row(self, boss, hals, monkeypatch):
        def instances(self, request, obj=None):
            made = admin.ModelAdmin.get_inline_instances(self, request, obj)
            if getattr(obj, "name", "") == "Leyster":
                made[0].fields = ("show",)
            return made

        monkeypatch.setattr(WorkRows, "get_inline_instances", instances)
        for name in ("Bol", "Leyster"):
            pupil = Artist.objects.create(name=name, teacher=hals)
            work = Work.objects.create(title="Lute", artist=pupil)
            Loan.objects.create(show=Show.objects.get(), work=work)

        bol, leyster = read(boss, hals)["pupils"]["rows"]
        fields = [
            {*below(below(one)["works"]["rows"][0])["loan_set"]["rows"][0]["fields"]}
            for one in (bol, leyster)
        ]
        assert fields == [{"show", "insured_usd"}, {"show"}]

    @pytest.mark.parametrize("kept", [LoanRows, Loan])
    def test_kept_from_the_assistant(self, boss, told_of, monkeypatch, kept):
        monkeypatch.setattr(kept, "assistant", False, raising=False)

        own = {NOTES: {}}
        assert told_of(boss) == (
            {NOTES},
            {"pupils": {"works": own}, "works": own},
            {"pupils": ["works"], "pupils.works": [*own], "works": [*own]},
        )


def test_choices_of_a_nested_row(boss, hals):
    given = {"model": LABEL, "field": "gallery.loan.show"}

    assert [row["text"] for row in call("find_related", boss, **given)["rows"]] == [
        "Portraits"
    ]
