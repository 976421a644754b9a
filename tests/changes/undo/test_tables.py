"""Rows of all kinds of tables are undone, or it is said before that they are not."""

from contextlib import contextmanager

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, connections, models, transaction
from django.db.models import F

from ai_assistant.changes.undo.values import Outcome
from ai_assistant.models.change import FileChange, RowChange
from tests.changes.conftest import gallery
from tests.gallery.models import (
    Artist,
    Frame,
    Label,
    Loan,
    Museum,
    Painting,
    Show,
    Specimen,
    Style,
    Work,
)
from tests.thorough import examples

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hung")]


def outcomes(plan):
    return {row.outcome for row in plan.rows}


@pytest.fixture
def frame():
    work = Work.objects.get(title="Work 1")
    room, style = Museum.objects.create(name="Room"), Style.objects.first()
    return Frame.objects.create(code="f-1", work=work, room=room, style=style)


def really_delete(frame):
    models.Model.delete(frame)


class TestKeys:
    def test_key_in_words_that_is_changed_is_said(self, assistant, frame):
        made = assistant.do(lambda: Frame.objects.update(code="f-2"))

        assert assistant.plan(made).gaps
        assert Frame.objects.get().code == "f-2"

    def test_key_in_words_that_a_new_row_took(self, assistant, frame):
        before = gallery()

        def replace():
            really_delete(Frame.objects.get())
            Frame.objects.create(code="f-1", work=frame.work)

        assistant.do(replace)
        assistant.undo()

        assert gallery() == before


class TestOnDelete:
    """What goes, or changes, along with a row that is deleted."""

    def test_one_to_one_from_behind(self, assistant, frame):
        before = gallery()
        assistant.do(lambda: Work.objects.get(pk=frame.work_id).delete())
        assert not Frame._base_manager.exists()

        assistant.undo()

        assert gallery() == before

    def test_restrict(self, assistant, frame):
        before = gallery()

        def clear():
            really_delete(Frame.objects.get())
            Museum.objects.get(name="Room").delete()

        assistant.do(clear)
        assistant.undo()

        assert gallery() == before

    def test_restrict_of_what_was_built_since(self, assistant, frame):
        made = assistant.do(lambda: Museum.objects.create(name="New"))
        Frame.objects.update(room=Museum.objects.get(name="New"))

        (row,) = assistant.plan(made).rows

        assert (row.outcome, row.can_overrule) == (Outcome.CONFLICT, False)

    def test_set_default(self, assistant, frame):
        before = gallery()
        assistant.do(lambda: Style.objects.get(pk=frame.style_id).delete())
        assert Frame.objects.get().style is None

        assistant.undo()

        assert gallery() == before

    def test_do_nothing(self, assistant, frame):
        lender = Museum.objects.create(name="Lender")
        Frame.objects.update(lender=lender)
        before = gallery()
        assistant.do(Museum.objects.get(pk=lender.pk).delete)
        assert Frame.objects.get().lender_id == lender.pk

        assistant.undo()

        assert gallery() == before


class TestThrough:
    def test_places_that_were_swapped(self, assistant):
        show, works = Show.objects.first(), Work.objects.order_by("pk")[:2]
        Loan.objects.all().delete()
        for place, work in enumerate(works):
            Loan.objects.create(show=show, work=work, insured_usd=place)
        before = gallery()
        assistant.do(lambda: Loan.objects.update(insured_usd=1 - F("insured_usd")))

        assistant.undo()

        assert gallery() == before

    def test_links_among_themselves(self, assistant):
        first, second = Artist.objects.order_by("pk")
        first.friends.set([second])
        before = {*first.friends.all()}, {*second.friends.all()}
        assistant.do(first.friends.clear)

        assistant.undo()

        assert ({*first.friends.all()}, {*second.friends.all()}) == before


class TestHidden:
    """Rows that the site's managers do not show."""

    def test_soft_deletion(self, assistant, frame):
        before = gallery()
        assistant.do(lambda: Frame.objects.get().delete())
        assert not Frame.objects.exists()

        assistant.undo()

        assert gallery() == before

    def test_row_that_was_hidden_before(self, assistant, frame):
        frame.delete()
        before = gallery()
        assistant.do(lambda: Frame._base_manager.update(room=None))

        assistant.undo()

        assert gallery() == before


@pytest.fixture
def labels():
    """A table of another program, which deletes its rows with their museum."""
    key = (
        "integer PRIMARY KEY" if connection.vendor == "sqlite" else "serial PRIMARY KEY"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE labels_of_old (id {key}, text varchar(100) NOT NULL, "
            "museum_id integer NOT NULL REFERENCES gallery_museum (id) "
            "ON DELETE CASCADE)"
        )
    yield Label.objects.create(museum=Museum.objects.create(name="M"), text="old")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE labels_of_old")


class TestUnmanaged:
    def test_row_of_a_table_that_is_not_managed(self, assistant, labels):
        assistant.do(lambda: Label.objects.update(text="new"))

        assistant.undo()

        assert Label.objects.get().text == "old"

    def test_deletion_by_the_database_is_said(self, assistant, labels):
        if connection.vendor != "sqlite":
            pytest.skip("PostgreSQL does not count what it deletes along")
        made = assistant.do(labels.museum.delete)
        assert not Label.objects.exists()

        assert assistant.plan(made).gaps

    def test_row_that_is_written_through_a_view(self, assistant):
        museum = Museum.objects.create(name="M")
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMPORARY VIEW labels_of_old AS "
                "SELECT id, name AS text, id AS museum_id FROM gallery_museum"
            )
            if connection.vendor == "sqlite":
                cursor.execute(
                    "CREATE TEMPORARY TRIGGER label INSTEAD OF UPDATE ON labels_of_old "
                    "BEGIN UPDATE gallery_museum SET name = new.text "
                    "WHERE id = new.id; END"
                )
        label = Label.objects.filter(pk=museum.pk)

        made = assistant.do(lambda: label.update(text="new"))
        said = assistant.plan(made).gaps
        assistant.undo()

        assert label.get().text == "M"
        assert said or Museum.objects.get(pk=museum.pk).name == "M"

    def test_table_without_a_model_is_said(self, assistant):
        made = assistant.do(_insert_into_table_without_model)

        assert assistant.plan(made).gaps


def _insert_into_table_without_model():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE of_nobody (id integer)")
        cursor.execute("INSERT INTO of_nobody VALUES (1)")
        cursor.execute("DROP TABLE of_nobody")


@contextmanager
def second_database(path):
    """Open another database, with the museums and what points to them."""
    own = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path)}
    own |= {"ATOMIC_REQUESTS": False, "AUTOCOMMIT": True, "CONN_MAX_AGE": 0}
    own |= {"CONN_HEALTH_CHECKS": False, "OPTIONS": {}, "TIME_ZONE": None}
    own |= {"USER": "", "PASSWORD": "", "HOST": "", "PORT": "", "TEST": {}}
    connections.databases["second"] = own
    other = connections["second"]
    # pytest-django lets no test have a database of which it does not know.
    other.ensure_connection = lambda: other.connection or other.connect()
    try:
        with other.schema_editor() as editor:
            for model in (Museum, Artist, Style, Work, Frame):
                editor.create_model(model)
        yield
    finally:
        connections["second"].close()
        del connections.databases["second"]
        del connections["second"]


class TestSecondDatabase:
    @pytest.mark.parametrize("how", ["change", "create"])
    def test_row_of_another_database(self, assistant, tmp_path, how):
        with second_database(tmp_path / "second.sqlite3"):
            rows = Museum.objects.using("second")
            rows.create(pk=7, name="There")
            before = list(rows.order_by("pk").values())
            work = {
                "change": lambda: rows.filter(pk=7).update(name="Else"),
                "create": lambda: rows.create(pk=8, name="Else"),
            }[how]
            assistant.do(work)
            assert list(rows.order_by("pk").values()) != before

            assistant.undo()

            assert list(rows.order_by("pk").values()) == before

    def test_row_of_the_same_key_here_is_not_touched(self, assistant, tmp_path):
        here = Museum.objects.first()
        with second_database(tmp_path / "second.sqlite3"):
            there = Museum.objects.using("second")
            there.create(pk=here.pk, name="There")
            assistant.do(lambda: there.update(name="Else"))

            assistant.undo()

            assert there.get().name == "There"
        assert Museum.objects.get(pk=here.pk).name == here.name


class TestFiles:
    def test_file_of_two_rows(self, assistant):
        first, second = Work.objects.order_by("pk")[:2]
        Work.objects.update(scan=Work.objects.exclude(scan="").first().scan.name)
        name = Work.objects.get(pk=second.pk).scan.name

        def replace():
            work = Work.objects.get(pk=first.pk)
            work.scan.save("other.txt", ContentFile(b"other"))

        assistant.do(replace)
        assistant.undo()

        found = Work.objects.get(pk=first.pk)
        assert found.scan.name == Work.objects.get(pk=second.pk).scan.name == name

    def test_file_of_a_person_between_two_changes_stays(self, assistant):
        work = Work.objects.exclude(scan="").first()
        title = work.title
        assistant.do(lambda: work.scan.save("ours.txt", ContentFile(b"ours")))
        work.scan.save("theirs.txt", ContentFile(b"theirs"))
        assistant.do(lambda: Work.objects.update(title="new"))

        assert assistant.undo() == []

        work = Work.objects.get(pk=work.pk)
        with work.scan.open() as file:
            assert (work.title, file.read()) == (title, b"theirs")

    def test_storage_that_is_gone_is_said(self, assistant, monkeypatch):
        work = Work.objects.exclude(scan="").first()

        def replace():
            Work.objects.get(pk=work.pk).scan.save("new.txt", ContentFile(b"new"))

        assistant.do(replace)
        FileChange.objects.update(stash="")

        def gone(_name):
            raise OSError("the disk is not there")

        default_storage.exists("x")
        monkeypatch.setattr(default_storage._wrapped, "exists", gone)

        (row,) = [
            one for one in assistant.plan().rows if one.key.endswith(str(work.pk))
        ]

        assert {one.outcome for one in row.fields if one.name == "scan"} == {
            Outcome.BLOCKED
        }


class TestImages:
    """Images that do not tell the row any more."""

    def test_model_that_was_renamed_is_said(self, assistant):
        assistant.do(lambda: Work.objects.update(year=1))
        RowChange.objects.update(model="gallery.opus")

        assert outcomes(assistant.plan()) == {Outcome.BLOCKED}
        assert assistant.undo() == []

    def test_field_that_was_renamed_stays(self, assistant):
        assistant.do(lambda: Work.objects.update(year=1, title="x"))
        for row in RowChange.objects.all():
            row.before["written"], row.after["written"] = row.before.pop("year"), 1
            row.after.pop("year")
            row.save()

        assistant.undo()

        assert {work.year for work in Work.objects.all()} == {1}
        assert not Work.objects.filter(title="x").exists()

    @pytest.mark.parametrize("before", [{"id": []}, {"id": {"$sealed": "x"}}, {}])
    @pytest.mark.parametrize("kind", ["delete", "update"])
    def test_damaged(self, assistant, before, kind):
        work = Museum.objects.get(name="Museum 1")
        if kind == "delete":
            assistant.do(work.delete)
        else:
            assistant.do(lambda: Museum.objects.update(name="x"))
        RowChange.objects.filter(kind=kind, model="gallery.museum").update(
            before=before
        )
        found = gallery()

        plan = assistant.plan()

        museums = [row for row in plan.rows if row.model == "gallery.museum"]
        assert not any(row.does_something for row in museums)
        assistant.undo(rows=[row.key for row in museums])
        assert gallery() == found

    def test_purged(self, assistant):
        made = assistant.do(lambda: Work.objects.update(year=1))
        made.rows.all().delete()

        assert assistant.plan(made).rows == []


class TestSite:
    """Code of the site that is in the way."""

    def test_pre_save_that_raises(self, assistant):
        before = gallery()
        assistant.do(lambda: Museum.objects.update(name="x"))
        left = gallery()

        def refuse(**_):
            raise RuntimeError

        models.signals.pre_save.connect(refuse, sender=Museum)
        try:
            with pytest.raises(RuntimeError):
                assistant.undo()
        finally:
            models.signals.pre_save.disconnect(refuse, sender=Museum)

        assert gallery() == left != before

    def test_pre_save_that_writes_elsewhere_is_recorded(self, assistant):
        assistant.do(lambda: Museum.objects.update(name="x"))

        def tell(instance, **_):
            Style.objects.get_or_create(name=f"of {instance.pk}")

        models.signals.pre_save.connect(tell, sender=Museum)
        try:
            assert assistant.undo() == []
        finally:
            models.signals.pre_save.disconnect(tell, sender=Museum)

    @pytest.mark.parametrize("sender", [Work, Frame])
    def test_row_that_a_signal_makes_in_the_place_of_another(
        self, assistant, frame, sender
    ):
        """For each work that comes back, or for one when the other has its own."""
        work = Work.objects.get(title="Work 2")
        Frame.objects.create(code="f-2", work=work)
        before = gallery()
        both = {frame.work_id, work.pk}

        def frame_it(instance, created, **_):
            own = instance.pk if sender is Work else instance.work_id
            (pk,) = {own} if sender is Work else both - {own}
            if created and not Frame.objects.filter(work=pk).exists():
                Frame.objects.create(code=f"new {pk}", work_id=pk)

        assistant.do(lambda: Work.objects.filter(pk__in=both).delete())
        models.signals.post_save.connect(frame_it, sender=sender)
        try:
            assert assistant.undo() == []
        finally:
            models.signals.post_save.disconnect(frame_it, sender=sender)

        assert gallery() == before


class TestMany:
    def test_undo_of_very_many(self, assistant):
        count = examples(100, many=10_000)
        Museum.objects.bulk_create(Museum(name=f"M{n}") for n in range(count - 1))
        rows = Museum.objects.count()
        with transaction.atomic():
            made = assistant.do(lambda: Museum.objects.update(name="x"))
            assert made.rows.count() == min(rows, 10_000)
            assistant.undo()

        left = Museum.objects.filter(name="x").count()
        assert left == max(0, rows - 10_000)


@pytest.mark.parametrize("value", ["12.5000", "-0.0001"])
def test_decimal_to_the_last_digit(assistant, value):
    specimen = Specimen.objects.create(a_decimal=value)
    before = gallery()
    assistant.do(lambda: Specimen.objects.filter(pk=specimen.pk).update(a_decimal=1))

    assistant.undo()

    assert gallery() == before


def test_child_alone_when_its_parent_stays(assistant):
    painting = Painting.objects.first()
    before = gallery()
    assistant.do(lambda: painting.delete(keep_parents=True))
    assert not Painting.objects.filter(title=painting.title).exists()
    assert Work.objects.filter(title=painting.title).exists()

    assistant.undo()

    assert gallery() == before
