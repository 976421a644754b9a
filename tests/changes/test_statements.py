"""Statements that are not plain, and what the database does by itself."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Sum

from ai_assistant import conf
from ai_assistant.changes.capture.recorder import recording
from tests.changes import forms
from tests.changes.conftest import check_true, recorded
from tests.gallery.models import Artist, Badge, Museum, Note, Style, Visitor, Work

pytestmark = pytest.mark.django_db


def execute(sql, *params):
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


class TestGaps:
    @pytest.mark.parametrize(
        ("sql", "kind"),
        [
            ("INSERT INTO gallery_museum (name) VALUES ('x')", "insert"),
            ("UPDATE gallery_museum SET name = 'x'", "update"),
            ('UPDATE "gallery_museum" SET "name" = \'x\' -- all', "update"),
            ("/* hint */ DELETE FROM gallery_note", "delete"),
            ("  update gallery_museum set name = 'x'", "update"),
            ("CREATE TABLE gallery_extra (id integer)", "other"),
            ('UPDATE "gallery_note" SET "id" = "id" + 100', "key"),
        ],
    )
    def test_gaps_are_statements_that_are_not_plain(self, sql, kind):
        recorder, before, after = recorded(lambda: execute(sql))

        assert kind in [gap["kind"] for gap in recorder.gaps]
        check_true(recorder, before, after)

    def test_count_the_rows(self):
        recorder, _, _ = recorded(lambda: execute("UPDATE gallery_work SET year = 1"))

        assert recorder.gaps == [{"table": "gallery_work", "kind": "update"}]

    def test_gaps_are_many_statements_at_once(self):
        pairs = [(1, work.pk) for work in Work.objects.all()]

        def work():
            with connection.cursor() as cursor:
                cursor.executemany(
                    "UPDATE gallery_work SET year = %s WHERE id = %s", pairs
                )

        recorder, before, after = recorded(work)

        assert [gap["kind"] for gap in recorder.gaps] == ["update"]
        check_true(recorder, before, after)

    def test_gaps_are_rows_of_triggers(self):
        if connection.vendor == "postgresql":
            execute(
                "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "INSERT INTO gallery_register (text) VALUES ('x'); RETURN NEW; END $$"
            )
            execute(
                "CREATE TRIGGER t AFTER UPDATE ON gallery_work "
                "FOR EACH ROW EXECUTE FUNCTION note()"
            )
        else:
            execute(
                "CREATE TRIGGER t AFTER UPDATE ON gallery_work BEGIN "
                "INSERT INTO gallery_register (text) VALUES ('x'); END"
            )

        recorder, before, after = recorded(forms.save)

        assert [gap["kind"] for gap in recorder.gaps] == ["unseen"]
        check_true(recorder, before, after)

    def test_gaps_are_statements_past_the_cursors_of_django(self):
        def work():
            cursor = connection.connection.cursor()
            cursor.execute("UPDATE gallery_work SET year = 7")
            cursor.close()

        recorder, before, after = recorded(work)

        assert [gap["kind"] for gap in recorder.gaps] == ["unseen"]
        check_true(recorder, before, after)

    def test_gaps_are_rows_above_the_limit(self, monkeypatch):
        monkeypatch.setattr(conf, "CHANGED_ROWS", 3)

        recorder, before, after = recorded(forms.update_expression)

        assert "too much" in [gap["kind"] for gap in recorder.gaps]
        assert len(recorder.rows) <= 3
        check_true(recorder, before, after)

    def test_gaps_are_bytes_above_the_limit(self, monkeypatch):
        monkeypatch.setattr(conf, "CHANGED_BYTES", 200)

        recorder, _, _ = recorded(forms.update_expression)

        assert "too much" in [gap["kind"] for gap in recorder.gaps]

    def test_gaps_are_not_what_was_read(self):
        def work():
            list(Work.objects.select_for_update())
            Work.objects.aggregate(Sum("year"))
            execute("WITH old AS (SELECT 1) SELECT * FROM old")

        recorder, _, _ = recorded(work)

        assert (recorder.rows, recorder.gaps) == ([], [])


class TestSiteCode:
    def test_site_code_reads_the_keys_that_it_asked_for(self):
        artist = Artist.objects.first()
        with transaction.atomic(), recording():
            one = Work.objects.create(title="One", artist=artist)
            many = Work.objects.bulk_create(
                [Work(title=str(number), artist=artist) for number in range(3)]
            )

        found = Work.objects.filter(pk__in=[one.pk, *(work.pk for work in many)])
        assert {work.title for work in found} == {"One", "0", "1", "2"}

    @pytest.mark.parametrize("verb", ['UPDATE {} SET "text" = %s', "DELETE FROM {}"])
    def test_site_code_reads_the_rows_that_it_asked_for(self, verb):
        note = Note.objects.first()
        params = ["New"] * verb.count("%s") + [note.pk]
        where = ' WHERE "gallery_note"."id" = %s RETURNING "gallery_note"."id"'
        read = []

        def work():
            with connection.cursor() as cursor:
                cursor.execute(verb.format('"gallery_note"') + where, params)
                read.extend(cursor.fetchall())

        recorder, before, after = recorded(work)

        check_true(recorder, before, after)
        assert (read, recorder.gaps) == ([(note.pk,)], [])
        assert len(recorder.rows) == 1

    def test_site_code_gets_its_own_errors(self):
        with transaction.atomic(), recording() as recorder:
            with pytest.raises(IntegrityError), transaction.atomic():
                Style.objects.create(name="Style 1")
            Style.objects.create(name="Style 3")

        assert [row.text for row in recorder.rows] == ["Style 3"]
        # PostgreSQL counts what was attempted: then nobody knows for certain.
        expected = ["unseen"] if connection.vendor == "postgresql" else []
        assert [gap["kind"] for gap in recorder.gaps] == expected

    def test_site_code_never_gets_ours(self, monkeypatch, caplog):
        def fail(*_args, **_kwargs):
            raise RuntimeError("a fault of ours")

        monkeypatch.setattr(
            "ai_assistant.changes.capture.sql_text.parse_plain_statement", fail
        )

        recorder, before, after = recorded(forms.save)

        assert Work.objects.first().title == "Renamed"
        assert {gap["kind"] for gap in recorder.gaps} == {"fault", "update"}
        assert "a fault of ours" in caplog.text
        check_true(recorder, before, after)


class TestTexts:
    def test_texts_are_those_of_the_site(self):
        recorder, _, _ = recorded(forms.delete_cascade)

        texts = {row.text for row in recorder.rows if row.label == "gallery.work"}
        assert texts == {"Work 1 by Artist 1", "Painting 1 by Artist 1"}

    def test_texts_that_fail_are_the_name_of_the_model(self):
        recorder, _, _ = recorded(lambda: Visitor.objects.create(name="V"))

        assert [row.text for row in recorder.rows] == ["visitor"]

    def test_texts_of_secret_keys_have_none_of_them(self):
        visitor = Visitor.objects.create(name="V", password="hunter2")
        Badge.objects.create(token="very-secret", visitor=visitor)

        recorder, before, after = recorded(visitor.delete)

        check_true(recorder, before, after)
        badge = next(row for row in recorder.rows if row.label == "gallery.badge")
        assert "very-secret" not in badge.object_id
        assert "very-secret" not in str(badge.before)


class TestIgnored:
    def test_our_own_rows_are_no_change(self, django_user_model):
        from ai_assistant.models.conversation import Conversation

        user = django_user_model.objects.create_user("ann")
        recorder, _, _ = recorded(lambda: Conversation.objects.create(owner=user))

        assert (recorder.rows, recorder.gaps) == ([], [])

    def test_our_own_rows_that_go_are_a_gap(self, django_user_model):
        from ai_assistant.models.conversation import Conversation

        user = django_user_model.objects.create_user("ann")
        Conversation.objects.create(owner=user)
        recorder, _, _ = recorded(user.delete)

        assert [row.label for row in recorder.rows] == ["auth.user"]
        assert {gap["table"] for gap in recorder.gaps} == {"ai_assistant_conversation"}

    def test_the_log_of_the_admin_is_no_change(self, django_user_model):
        from django.contrib.admin.models import CHANGE, LogEntry

        user = django_user_model.objects.create_user("ann")
        museum = Museum.objects.first()
        recorder, _, _ = recorded(
            lambda: LogEntry.objects.log_actions(
                user.pk, [museum], CHANGE, "Changed.", single_object=True
            )
        )

        assert LogEntry.objects.count() == 1
        assert (recorder.rows, recorder.gaps) == ([], [])
