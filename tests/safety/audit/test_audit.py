import logging
import threading
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.engine.storage.units import read_again
from ai_assistant.exceptions import AppendOnly
from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.safety.audit import (
    forget_before,
    record,
    seal_all,
    seal_entries,
    verify,
    write_at_end,
)
from ai_assistant.safety.audit.seal import ANCHOR_EVERY

pytestmark = pytest.mark.django_db

TABLE = AuditEntry._meta.db_table
HEAD = AuditHead._meta.db_table


def sql(statement, *arguments):
    """Change the log as somebody does who has SQL alone."""
    statement = statement.replace("LOG", TABLE).replace("HEAD", HEAD)
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.rowcount


def findings(**options):
    return [(one.n, one.text) for one in verify(**options).findings]


@pytest.fixture
def ada():
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def log(ada):
    """A log of ten entries."""
    for n in range(1, 11):
        record("call.complete", user=ada, tool=f"tool_{n}", details={"n": n})
    seal_all()
    assert findings() == []
    return AuditEntry.objects.order_by("id")


@pytest.mark.row("X03")
class TestRecord:
    def test_numbers_follow_each_other(self, log):
        assert list(log.values_list("n", flat=True)) == list(range(1, 11))

    def test_each_holds_the_hash_before(self, log):
        hashes = ["", *log.values_list("hash", flat=True)]

        assert list(log.values_list("previous", flat=True)) == hashes[:-1]

    def test_record_names_the_user(self, log, ada):
        assert log[0].user == ada
        assert log[0].user_name == "ada"
        assert log[0].details["user_id"] == str(ada.pk)

    def test_user_by_key(self, ada):
        record("run.started", user=ada.pk)

        assert AuditEntry.objects.get().user == ada

    def test_rolled_back_with_what_it_tells(self, log, ada):
        with pytest.raises(KeyError), transaction.atomic():
            record("call.complete", user=ada)
            raise KeyError

        assert log.count() == 10
        assert findings() == []

    def test_gathered_are_written_at_the_end(self, ada):
        with transaction.atomic(), write_at_end():
            record("call.complete", user=ada)
            record("run.failed", user=ada, details=lambda: {"code": "late"})
            during = AuditEntry.objects.count()

        assert during == 0
        assert AuditEntry.objects.count() == 2
        assert AuditEntry.objects.latest("id").details["code"] == "late"

    def test_what_was_taken_back_is_left_out(self, ada):
        with transaction.atomic(), write_at_end():
            record("call.complete", user=ada, details=lambda: None)
            record("run.failed", user=ada)

        assert AuditEntry.objects.get().action == "run.failed"

    def test_gathered_of_a_failure_are_dropped(self, ada):
        with pytest.raises(KeyError), transaction.atomic(), write_at_end():
            record("call.complete", user=ada)
            raise KeyError
        record("run.failed", user=ada)

        assert AuditEntry.objects.get().action == "run.failed"

    @pytest.mark.parametrize(
        "value", [1.5, 1e300, float("nan"), {"a": {"b": [1e16]}}, "\0\ud800", b"x", {1}]
    )
    def test_details_of_any_kind(self, ada, value):
        record("call.complete", user=ada, details={"value": value})

        assert findings() == []

    def test_details_are_cut(self, ada):
        large = {f"argument_{n}": "x" * 10_000 for n in range(30)}
        record("call.complete", user=ada, details={"arguments": large})

        assert len(str(AuditEntry.objects.get().details)) < 2000
        assert findings() == []

    def test_line_in_the_log_at_every_hundredth(
        self, ada, caplog, django_capture_on_commit_callbacks
    ):
        with write_at_end():
            for _ in range(ANCHOR_EVERY + 1):
                record("call.complete", user=ada)
        with (
            caplog.at_level(logging.INFO, "ai_assistant.audit"),
            django_capture_on_commit_callbacks(execute=True),
        ):
            seal_all()

        entry = AuditEntry.objects.get(n=ANCHOR_EVERY)
        assert caplog.messages == [f"audit anchor {ANCHOR_EVERY}:{entry.hash}"]


class TestAppendOnly:
    def test_save(self, log):
        with pytest.raises(AppendOnly, match=r"cannot be saved. Call .*record"):
            log[0].save()

    def test_create(self):
        with pytest.raises(AppendOnly):
            AuditEntry.objects.create(n=1, action="x", created_at=timezone.now())

    def test_delete(self, log):
        with pytest.raises(AppendOnly, match=r"cannot be deleted"):
            log[0].delete()

    @pytest.mark.parametrize(
        "change",
        [
            lambda log: log.update(action="x"),
            lambda log: log.delete(),
            lambda log: AuditEntry.objects.bulk_update(list(log), ["action"]),
            lambda log: AuditEntry.objects.filter(n=3).update(user_name="x"),
        ],
    )
    def test_queryset(self, log, change):
        with pytest.raises(AppendOnly):
            change(log)

        assert findings() == []


@pytest.mark.row("X03")
class TestVerify:
    def test_empty_log_has_no_findings(self):
        assert verify().findings == ()
        assert verify().count == 0

    @pytest.mark.parametrize(
        "column", ["action", "tool", "user_name", "ip", "details", "created_at"]
    )
    def test_altered(self, log, column):
        values = {"details": '{"n": 99}', "created_at": "2020-01-01 00:00:00"}
        sql(
            f"UPDATE LOG SET {column} = %s WHERE n = 5",  # noqa: S608 - ours
            values.get(column, "innocent"),
        )

        assert findings() == [(5, "Entry 5 was altered.")]

    def test_altered_with_a_hash_made_up(self, log):
        sql("UPDATE LOG SET tool = %s, hash = %s WHERE n = 5", "x", "0" * 64)

        assert findings()[0] == (5, "Entry 5 was altered.")

    def test_given_to_another_user(self, log):
        bob = get_user_model().objects.create_user("bob")
        sql("UPDATE LOG SET user_id = %s WHERE n = 5", bob.pk)

        assert findings() == [
            (5, "Entry 5 names a different user than it was created for.")
        ]

    @pytest.mark.parametrize("n", [1, 5])
    def test_deleted(self, log, n):
        sql("DELETE FROM LOG WHERE n = %s", n)

        assert findings() == [(n, f"Entry {n} is missing.")]

    def test_deleted_and_the_gap_closed(self, log):
        sql("DELETE FROM LOG WHERE n = 5")
        for n in range(6, 11):
            sql("UPDATE LOG SET n = %s WHERE n = %s", n - 1, n)

        assert findings()[0] == (5, "Entry 5 was moved: it was written as entry 6.")

    def test_reordered(self, log):
        for before, after in ((5, 99), (6, 5), (99, 6)):
            sql("UPDATE LOG SET n = %s WHERE n = %s", after, before)

        assert findings() == [
            (5, "Entry 5 was moved: it was written as entry 6."),
            (6, "Entry 6 was moved: it was written as entry 5."),
        ]

    def test_truncated_at_the_end(self, log):
        sql("DELETE FROM LOG WHERE n > 9")

        assert findings() == [(10, "Entry 10 is missing.")]

    def test_truncated_with_the_head_set_back(self, log):
        sql("DELETE FROM LOG WHERE n > 9")
        sql("UPDATE HEAD SET n = 9, hash = %s", log.get(n=9).hash)

        assert findings() == [(9, "The end of the log was altered.")]

    def test_truncated_and_written_on(self, log, ada):
        sql("DELETE FROM LOG WHERE n > 9")
        sql("UPDATE HEAD SET n = 9, hash = %s", log.get(n=9).hash)
        record("call.complete", user=ada)
        seal_all()

        ((n, text),) = findings()
        assert n == 10
        assert "tampered" in text

    def test_truncated_together_with_the_head(self, log, ada):
        sql("DELETE FROM LOG WHERE n > 9")
        sql("DELETE FROM HEAD")
        record("call.complete", user=ada)
        seal_all()

        assert [n for n, _ in findings()] == [10]

    def test_head_gone(self, log):
        sql("DELETE FROM HEAD")

        assert findings() == [(1, "Entry 1 is after the end of the log, which is 0.")]

    def test_entry_put_behind_the_end(self, log):
        columns = "previous, hash, created_at, user_id, user_name, action, tool, "
        columns += "run_id, call_id, details, ip"
        sql(
            f"INSERT INTO LOG (n, {columns}) SELECT 11, {columns} FROM LOG WHERE n = 10"  # noqa: S608
        )

        assert findings() == [
            (11, "Entry 11 is after the end of the log, which is 10.")
        ]

    def test_whole_log_made_anew_differs_from_its_anchor(self, log, ada):
        noted = (10, log.get(n=10).hash)
        sql("DELETE FROM LOG")
        sql("DELETE FROM HEAD")
        record("call.complete", user=ada)
        seal_all()

        assert findings() == []
        assert findings(anchor=noted) == [
            (10, "The log ends at 1, but entry 10 was written.")
        ]

    def test_keys_that_signed_before(self, log, ada, settings):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another"
        record("call.complete", user=ada)
        seal_all()

        assert findings() == []

    def test_key_of_its_own_outlives_the_secret_key(self, settings, ada):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"AUDIT": {"KEY": "k" * 40}}
        )
        record("call.complete", user=ada)
        seal_all()
        settings.SECRET_KEY = "another"

        assert findings() == []

    def test_hash_cannot_be_made_without_the_key(self, log, settings):
        settings.SECRET_KEY = "of somebody else"

        assert findings()[0] == (1, "Entry 1 was altered.")

    def test_user_who_is_gone(self, log, ada):
        ada.delete()

        assert findings() == []
        assert {(one.user_id, one.user_name) for one in log} == {(None, "ada")}


class TestForget:
    def test_rest_still_verifies(self, log, ada):
        count = forget_before(log.get(n=7).created_at)
        record("call.complete", user=ada)
        seal_all()

        assert count == 6
        assert findings() == []
        assert log[0].n == 7
        assert log.filter(action="audit.purged").get().details["entries"] == 6

    def test_cut_at_the_start_by_hand_is_found(self, log):
        sql("DELETE FROM LOG WHERE n < 4")

        assert findings() == [(1, "Entries 1 to 3 are missing.")]

    def test_last_one_stays(self, log):
        forget_before(timezone.now() + timedelta(days=1))
        seal_all()

        assert list(log.values_list("n", flat=True)) == [10, 11]
        assert findings() == []

    def test_nothing_old_enough(self, log):
        assert forget_before(log[0].created_at) == 0
        assert log.count() == 10


@pytest.mark.django_db(transaction=True)
class TestSideBySide:
    def test_side_by_side_writers_make_one_chain(self, ada):
        failures = []

        def write():
            try:
                for _ in range(10):
                    with transaction.atomic():
                        record("call.complete", user=ada)
                    read_again(seal_entries)
            except DatabaseError as error:
                failures.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=write) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        seal_all()
        assert failures == []
        numbers = AuditEntry.objects.order_by("n").values_list("n", flat=True)
        assert list(numbers) == list(range(1, 61))
        assert findings() == []
