"""The rows within rows of a page are read as the user may see them there."""

import json

import pytest
from django.contrib import admin
from django.contrib.contenttypes.admin import GenericTabularInline
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.changes import stored
from ai_assistant.testing import answer_interrupt, reply, run_assistant
from ai_assistant.testing import call as call_of
from ai_assistant.tools.data.reading.inline_rows import MOST_INLINE_ROWS
from ai_assistant.tools.data.reading.inlines import MOST_NESTED_ROWS
from tests.context.conftest import seen
from tests.gallery.models import Artist, Loan, Museum, Note, Show, Work
from tests.library.models import Author, Book, Copy
from tests.tools.data.pages import FormNestingAdmin, NestedAdmin, NestingRows, served
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


@pytest.fixture(params=[NestedAdmin, FormNestingAdmin])
def sea(request, db, settings):
    """A book of one author, with two copies, on a page that nests them."""
    author = Author.objects.create(name="Verne")
    book = Book.objects.create(title="Sea", author=author)
    Copy.objects.bulk_create(Copy(book=book, code=code) for code in ("C-1", "C-2"))
    with served(settings, Author, request.param):
        yield book


class Reader:
    """A model that reads an author, and then changes what it has found in a row."""

    def __init__(self, author, **changes):
        self.author, self.changes = author, changes

    async def __call__(self, request):
        last = request.messages[-1]
        named = {"model": "library.author", "id": self.author.pk}
        if last["role"] != "tool":
            return reply("", call_of("get_object", named))
        if '"inlines"' not in last["content"]:
            return "Done."
        ((book,),) = (one["rows"] for one in found_in(last["content"])["inlines"])
        (copies,) = book["inlines"]
        row = copies["rows"][1]
        rows = [{"id": book["id"], copies["name"]: [{"id": row["id"], **self.changes}]}]
        inlines = {"book_set": rows}
        return reply(
            "", call_of("change_object", {**named, "values": {}, "inlines": inlines})
        )


def found_in(content):
    """Return the JSON of a result, as it is handed to the model."""
    return json.JSONDecoder().raw_decode(content[content.index("{") :])[0]


class TestWholeWay:
    def test_row_is_read_and_changed_by_one_card(self, boss, sea):
        played = run_assistant(
            boss, "/admin/", "Rename it.", provider=Reader(sea.author, code="C-9")
        )
        card = stored.from_json(played.interrupts[0].proposal)
        assert [(one.text, one.fields[0].after) for one in card.objects] == [
            ("C-2", "C-9")
        ]
        played = answer_interrupt(played, "approve")

        assert (played.state, played.interrupts) == ("succeeded", ())
        assert [one.name for one in played.calls] == ["get_object", "change_object"]
        assert {*sea.copies.values_list("code", flat=True)} == {"C-1", "C-9"}

    def test_removing_a_row_asks_whatever_the_policy_says(self, boss, sea, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"change_object": "allow"},
        }
        text = f"Change author {sea.author.pk}: DELETE copy C-2 of book {sea.pk}"
        played = run_assistant(
            boss, "/admin/", text, provider=Reader(sea.author, DELETE=True)
        )

        assert played.state == "waiting_approval"
        assert "remove" in played.run.calls.get(name="change_object").asks_because
        assert sea.copies.count() == 2
