"""Cases at the edge: each is restored, or it is said before that it is not."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import F
from django.db.models.signals import post_save

from ai_assistant.changes.undo.values import Outcome
from ai_assistant.models.change import ChangeSet, RowChange
from tests.changes import forms
from tests.changes.conftest import gallery
from tests.gallery.models import (
    Artist,
    Badge,
    Loan,
    Museum,
    Note,
    Painting,
    Show,
    Sketch,
    Specimen,
    Style,
    Visitor,
    Work,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hung")]


def outcomes(plan):
    return {row.outcome for row in plan.rows}


class TestRun:
    def test_created_changed_and_deleted_in_one_run_is_nothing(self, assistant):
        before = gallery()

        def change():
            Museum.objects.filter(name="New").update(name="Newer")

        assistant.do(
            lambda: Museum.objects.create(name="New"),
            change,
            lambda: Museum.objects.get(name="Newer").delete(),
        )

        assert assistant.plan().rows == []
        assert gallery() == before

    def test_older_of_two_changes_first(self, assistant):
        first = assistant.do(lambda: Work.objects.update(year=1))
        assistant.do(lambda: Work.objects.update(year=2))

        assert outcomes(assistant.plan(first)) == {Outcome.CONFLICT}

    def test_changed_then_deleted_comes_back_as_before(self, assistant):
        before = gallery()
        assistant.do(
            lambda: Museum.objects.filter(name="Museum 1").update(name="Other"),
            lambda: Museum.objects.get(name="Other").delete(),
        )

        assistant.undo()

        assert gallery() == before

    def test_empty_change_is_no_change(self, assistant):
        assert assistant.do(lambda: Work.objects.update(year=1900)) is None

    def test_all_forms_in_one_run(self, assistant):
        before = gallery()
        works = [form for form in forms.FORMS if form.__name__ in forms.WHOLE]
        whole = [
            form
            for form in works
            if form.__name__ not in ("friends", "bulk_create_ignoring")
            and not form.__name__.startswith(("file", "link"))
        ]
        assistant.do(*whole)

        assistant.undo()

        assert gallery() == before


class TestKeys:
    def test_key_that_is_used_again(self, assistant):
        museum = Museum.objects.get(name="Museum 1")
        assistant.do(museum.__class__.objects.get(pk=museum.pk).delete)
        Museum.objects.create(pk=museum.pk, name="By hand")

        (row,) = [one for one in assistant.plan().rows if one.action == "create"]

        assert row.outcome == Outcome.BLOCKED
        assistant.undo()
        assert Museum.objects.get(pk=museum.pk).name == "By hand"

    def test_uuid_key_and_secret_column(self, assistant):
        visitor = Visitor.objects.create(name="Eve", password="canary-secret")
        row = Visitor.objects.filter(pk=visitor.pk).values().get()
        assistant.do(Visitor.objects.get(pk=visitor.pk).delete)
        assert "canary" not in str(RowChange.objects.values_list("before", flat=True))

        assert assistant.undo() == []

        assert Visitor.objects.filter(pk=visitor.pk).values().get() == row

    def test_key_that_is_a_secret_is_said(self, assistant):
        visitor = Visitor.objects.create(name="Eve")
        Badge.objects.create(token="canary", visitor=visitor)
        assistant.do(Badge.objects.get().delete)

        assert outcomes(assistant.plan()) == {Outcome.BLOCKED}

    def test_sequence_goes_on_behind_what_came_back(self, assistant):
        last = Museum.objects.create(name="Last")
        assistant.do(Museum.objects.get(pk=last.pk).delete)
        assistant.undo()

        assert Museum.objects.create(name="Next").pk != last.pk


class TestRelations:
    @pytest.mark.parametrize("model", [Painting, Work])
    def test_parent_and_child_table(self, assistant, model):
        painting = Painting.objects.first()
        before = gallery()
        assistant.do(model.objects.get(pk=painting.pk).delete)

        assistant.undo()

        assert gallery() == before

    def test_proxy(self, assistant):
        before = gallery()
        sketch = Sketch.objects.first()

        def rename():
            found = Sketch.objects.get(pk=sketch.pk)
            found.title = "Sketched"
            found.save()

        assistant.do(rename)
        assistant.undo()

        assert gallery() == before

    def test_through_table_with_columns(self, assistant):
        before = gallery()
        assistant.do(Show.objects.first().delete, Loan.objects.all().delete)

        assistant.undo()

        assert gallery() == before

    def test_generic_relation_goes_along(self, assistant):
        work = Work.objects.get(title="Work 1")
        assert Note.objects.filter(object_id=work.pk).exists()
        before = gallery()
        assistant.do(work.__class__.objects.get(pk=work.pk).delete)

        assistant.undo()

        assert gallery() == before

    def test_tree_with_a_circle(self, assistant):
        first, second = Artist.objects.order_by("pk")
        Artist.objects.filter(pk=first.pk).update(teacher=second)
        Artist.objects.filter(pk=second.pk).update(teacher=first)
        before = gallery()
        assistant.do(Artist.objects.all().delete)
        assert not Artist.objects.exists()

        assistant.undo()

        assert gallery() == before

    def test_target_that_is_gone(self, assistant):
        museum = Museum.objects.create(name="Other")
        work = Work.objects.get(title="Work 1")
        old = work.museum
        assistant.do(lambda: Work.objects.filter(pk=work.pk).update(museum=museum))
        old.delete()

        plan = assistant.plan()

        assert outcomes(plan) == {Outcome.BLOCKED}
        assert assistant.undo() == []

    def test_end_of_a_link_that_is_gone(self, assistant):
        work, style = Work.objects.get(title="Work 1"), Style.objects.first()
        assistant.do(lambda: work.styles.remove(style))
        style.delete()

        assert outcomes(assistant.plan()) == {Outcome.BLOCKED}

    def test_link_that_a_person_has_made_again(self, assistant):
        work, style = Work.objects.get(title="Work 1"), Style.objects.first()
        assistant.do(lambda: work.styles.remove(style))
        work.styles.add(style)

        assert outcomes(assistant.plan()) == {Outcome.SAME}

    def test_link_removed_again_after_a_person_has_made_it_again(self, assistant):
        work, style = Work.objects.get(title="Work 1"), Style.objects.first()
        assistant.do(lambda: work.styles.remove(style))
        work.styles.add(style)
        assistant.do(lambda: work.styles.remove(style))

        assert assistant.undo() == []
        assert list(work.styles.filter(pk=style.pk)) == [style]

    def test_link_made_again_after_a_person_has_removed_it(self, assistant):
        work, style = Work.objects.get(title="Work 1"), Style.objects.first()
        work.styles.remove(style)
        assistant.do(lambda: work.styles.add(style))
        work.styles.remove(style)
        assistant.do(lambda: work.styles.add(style))

        assert assistant.undo() == []
        assert not work.styles.filter(pk=style.pk).exists()

    def test_parent_alone_when_its_child_stays(self, assistant):
        museum = Museum.objects.get(name="Museum 1")
        assistant.do(Museum.objects.get(pk=museum.pk).delete)

        assistant.undo(rows=[f"gallery.museum:{museum.pk}"])

        assert Museum.objects.filter(pk=museum.pk).exists()
        assert not Work.objects.filter(museum=museum.pk).exists()


VALUES = {
    "a_bool": False,
    "a_float": float("inf"),
    "a_decimal": "1234567890123456.7891",
    "a_big_number": 2**62,
    "a_text": "ä\u202e\n",
    "a_date": "2024-02-29",
    "a_time": "23:59:59.999999",
    "a_moment": "2024-02-29T23:59:59.999999Z",
    "a_uuid": "00000000-0000-0000-0000-000000000001",
    "a_binary": b"\x00\xff",
    "a_json": {"$json": [1, None]},
    "an_address": "::1",
    "points": (3, 4),
}


class TestColumns:
    @pytest.mark.parametrize("how", ["change", "delete"])
    def test_each_kind_of_column(self, assistant, how):
        specimen = Specimen.objects.create(**VALUES)
        before = gallery()
        rows = Specimen.objects.filter(pk=specimen.pk)
        if how == "change":
            assistant.do(lambda: rows.update(**{**dict.fromkeys(VALUES), "a_text": ""}))
        else:
            assistant.do(rows.get().delete)
        assert gallery() != before

        assistant.undo()

        assert gallery() == before

    def test_json_null_and_sql_null(self, assistant):
        from django.db.models import JSONField, Value

        null = Specimen.objects.create(a_json=Value(None, JSONField()))
        none = Specimen.objects.create(a_json=None)
        assistant.do(lambda: Specimen.objects.update(a_json={"a": 1}))

        assistant.undo()

        is_null = Specimen.objects.filter(a_json__isnull=True)
        assert list(is_null) == [none]
        assert Specimen.objects.get(pk=null.pk).a_json is None

    def test_counter_is_not_counted(self, assistant):
        visitor = Visitor.objects.create(name="Eve")
        before = gallery()

        def rename():
            found = Visitor.objects.get(pk=visitor.pk)
            found.name = "Eva"
            found.save()

        assistant.do(rename)
        assistant.undo()

        assert gallery() == before

    def test_row_that_the_site_writes_along_with_another(self, assistant):
        """A counter in another row, which signals keep."""
        first, second = Work.objects.order_by("pk")[:2]

        def count(instance, **_):
            if instance.pk == second.pk:
                Work.objects.filter(pk=first.pk).update(year=F("year") + 1)

        before = dict(Work.objects.values_list("pk", "year"))
        post_save.connect(count, sender=Work)
        try:
            assistant.do(Work.objects.get(pk=second.pk).save)
            assistant.do(lambda: Work.objects.filter(pk=second.pk).update(title="x"))
            assert Work.objects.get(pk=first.pk).year == before[first.pk] + 1

            assert assistant.undo() == []
        finally:
            post_save.disconnect(count, sender=Work)

        assert dict(Work.objects.values_list("pk", "year")) == before

    def test_changed_and_changed_back(self, assistant):
        assistant.do(lambda: Work.objects.update(year=1))
        Work.objects.update(year=1900)

        assert outcomes(assistant.plan()) == {Outcome.SAME}


class TestFiles:
    def scan(self):
        work = Work.objects.exclude(scan="").get()
        with work.scan.open() as opened:
            return work.scan.name, opened.read()

    def test_replaced_file_whose_old_one_was_cleaned_up(self, assistant):
        before = self.scan()
        assistant.do(forms.file_replaced)
        default_storage.delete(before[0])

        assistant.undo()

        assert self.scan() == before

    def test_deleted_row_whose_file_was_cleaned_up(self, assistant):
        before = self.scan()
        assistant.do(lambda: Work.objects.exclude(scan="").get().delete())
        default_storage.delete(before[0])

        assistant.undo()

        assert self.scan() == before

    def test_name_that_another_file_has_by_now(self, assistant):
        name, content = self.scan()
        assistant.do(forms.file_replaced)
        default_storage.delete(name)
        default_storage.save(name, ContentFile(b"of others"))

        assistant.undo()

        assert self.scan()[1] == content
        with default_storage.open(name) as opened:
            assert opened.read() == b"of others"

    def test_content_that_a_person_has_written_under_the_same_name_stays(
        self, assistant
    ):
        assistant.do(forms.file_replaced)
        name, _content = self.scan()
        default_storage.delete(name)
        assert default_storage.save(name, ContentFile(b"of a person")) == name

        assert Outcome.CONFLICT in outcomes(assistant.plan())
        assistant.undo()

        assert self.scan() == (name, b"of a person")

    def test_file_that_was_not_kept_is_said(self, assistant):
        name, _ = self.scan()
        assistant.do(forms.file_replaced)
        default_storage.delete(name)
        from ai_assistant.models.change import FileChange

        FileChange.objects.update(stash="")

        (field,) = [
            one
            for row in assistant.plan().rows
            for one in row.fields
            if one.name == "scan"
        ]
        assert field.outcome == Outcome.BLOCKED


class TestModelsThatChange:
    def test_model_that_is_gone(self, assistant):
        assistant.do(forms.save)
        RowChange.objects.update(model="gallery.gone")

        assert outcomes(assistant.plan()) == {Outcome.BLOCKED}

    def test_column_that_is_gone_or_new(self, assistant):
        before = gallery()
        assistant.do(Museum.objects.get(name="Museum 1").delete)
        for row in RowChange.objects.filter(kind="delete"):
            row.before["dropped"] = 1
            row.save(update_fields=["before"])

        assistant.undo()

        assert gallery() == before

    def test_damaged_image_is_said(self, assistant):
        assistant.do(Museum.objects.get(name="Museum 1").delete)
        RowChange.objects.filter(kind="delete").update(
            before={"id": "no number", "name": "x"}
        )

        plan = assistant.plan()

        assert Outcome.BLOCKED in outcomes(plan)

    def test_sealed_with_another_key_is_said(self, assistant, settings):
        visitor = Visitor.objects.create(name="Eve", password="canary-secret")
        assistant.do(Visitor.objects.get(pk=visitor.pk).delete)
        settings.SECRET_KEY = "another" * 10

        assert outcomes(assistant.plan()) == {Outcome.BLOCKED}

    def test_raw_sql_is_said(self, assistant):
        made = assistant.do(forms.raw_sql)

        assert assistant.plan(made).gaps

    def test_trigger_is_said(self, assistant):
        if connection.vendor != "sqlite":
            pytest.skip("another syntax there")
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TRIGGER told AFTER UPDATE ON gallery_museum BEGIN "
                "INSERT INTO gallery_register (text) VALUES ('x'); END"
            )
        try:
            made = assistant.do(lambda: Museum.objects.update(name="x"))
            assert assistant.plan(made).gaps
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER told")


def test_plan_of_nothing(assistant):
    assert assistant.plan().rows == []
    assert not ChangeSet.objects.exists()
