"""Entries get their place in the chain after they are written, without a wait."""

import re
import threading
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.storage.units import IDLE_LIMIT_S, unit
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, Step
from ai_assistant.safety.audit import (
    behind_s,
    forget_before,
    record,
    seal_all,
    seal_entries,
    verify,
)
from ai_assistant.safety.audit.chain import entry_hash, free_head, head_mac, locked_head
from ai_assistant.safety.audit.seal import SEALED_AT_ONCE
from tests.safety.audit.test_audit import findings, sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("X03")]


@pytest.fixture
def ada():
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def changed(ada):
    """What a call has changed, with its entry in the log."""
    matter = Conversation.objects.create(owner=ada)
    run = Run.objects.create(conversation=matter, user=ada, idempotency_key="k")
    said = Message.objects.create(conversation=matter, run=run, position=0)
    step = Step.objects.create(run=run, index=0, message=said)
    call = ToolCall.objects.create(run=run, step=step, position=0, name="rename")
    audited(ada, "rename")
    return ChangeSet.objects.create(run=run, call=call, user=ada)


@unit
def audited(user, tool=""):
    """A unit of work that leaves an entry."""
    record("call.complete", user=user, tool=tool)


class TestAppended:
    def test_appended_takes_one_statement_and_no_shared_row(self, ada):
        audited(ada)

        with CaptureQueriesContext(connection) as asked:
            audited(ada)

        about = [one["sql"] for one in asked if "ai_assistant_audit" in one["sql"]]
        assert len(about) == 1
        assert about[0].startswith("INSERT")

    def test_appended_of_one_unit_are_one_statement_and_ask_for_the_time_once(
        self, ada
    ):
        @unit
        def two():
            record("call.complete", user=ada)
            record("run.failed", user=ada)

        with CaptureQueriesContext(connection) as asked:
            two()

        told = [one["sql"] for one in asked]
        assert sum("ai_assistant_audit" in one for one in told) == 1
        assert sum("clock_timestamp" in one for one in told) <= 1
        assert len(set(AuditEntry.objects.values_list("created_at", flat=True))) == 1

    def test_appended_is_not_sealed_and_verify_says_since_when(self, ada):
        audited(ada)

        found = verify()

        assert found.findings == ()
        assert (found.count, found.unsealed) == (0, 1)
        assert 0 <= found.unsealed_s < 60
        assert found.unsealed_s <= behind_s()

    def test_altered(self, ada):
        audited(ada)
        sql("UPDATE LOG SET tool = 'another'")

        ((n, text),) = findings()
        assert n == 1
        assert re.fullmatch(
            r"The entry of [-0-9: ]+, which is not sealed yet, was altered.", text
        )

        seal_all()

        assert findings() == [(2, "Entry 2 was altered before it was sealed.")]

    def test_given_to_another_user(self, ada):
        audited(ada)
        bob = get_user_model().objects.create_user("bob")
        sql("UPDATE LOG SET user_id = %s", bob.pk)

        assert "was altered" in findings()[0][1]

    def test_made_up(self, ada):
        audited(ada)
        seal_all()
        sql(
            "INSERT INTO LOG (previous, hash, created_at, user_name, action, tool,"
            " details, ip) SELECT '', hash, created_at, user_name, action, 'x',"
            " details, ip FROM LOG"
        )

        assert "was altered" in findings()[0][1]

    def test_seal_taken_off(self, ada):
        for _ in range(3):
            audited(ada)
        seal_all()
        sql("UPDATE LOG SET n = NULL WHERE n = 3")

        assert [n for n, _text in findings()] == [3, 4]

    def test_deleted_leaves_no_trace(self, ada):
        """The price of not waiting: see docs/security.md."""
        audited(ada)
        audited(ada)
        sql("DELETE FROM LOG WHERE id = (SELECT max(id) FROM LOG)")
        seal_all()

        assert findings() == []


class TestSeal:
    def test_seal_goes_on_where_the_chain_ends(self, ada):
        for tool in "abc":
            audited(ada, tool)
            assert seal_entries() == 1

        log = AuditEntry.objects.order_by("n")
        assert "".join(log.values_list("tool", flat=True)) == "abc"
        assert list(log.values_list("n", flat=True)) == [1, 2, 3]
        assert findings() == []
        assert seal_entries() == 0

    def test_many_in_small_transactions(self, ada):
        @unit
        def many():
            for _ in range(SEALED_AT_ONCE + 1):
                record("call.complete", user=ada)

        many()

        assert (seal_entries(), seal_entries(), seal_entries()) == (
            SEALED_AT_ONCE,
            1,
            0,
        )
        assert findings() == []

    def test_entry_with_a_lower_id_that_comes_late(self, ada):
        audited(ada, "first")
        sql("UPDATE LOG SET id = 1000 + id")
        seal_all()
        audited(ada, "late")
        sql("UPDATE LOG SET id = 1 WHERE tool = 'late'")
        seal_all()

        log = AuditEntry.objects.order_by("n")
        assert list(log.values_list("tool", flat=True)) == ["first", "late"]
        assert findings() == []

    def test_beside_entries_that_the_release_before_seals_itself(self, ada):
        audited(ada)
        add_as_before(apps, 1)
        audited(ada)
        seal_all()

        assert list(AuditEntry.objects.values_list("n", flat=True)) == [3, 1, 2]
        assert findings() == []


class TestEmptied:
    """Log and head are deleted together: nothing of the chain is left to miss."""

    def test_emptied_of_a_site_without_changes(self):
        assert findings() == []

    def test_emptied_of_a_site_with_changes(self, changed):
        sql("DELETE FROM LOG")
        sql("DELETE FROM HEAD")

        assert findings() == [
            (1, "The log is empty, but there are changes: they were recorded in it.")
        ]

    def test_written_on_since(self, changed, ada):
        sql("DELETE FROM LOG")
        sql("DELETE FROM HEAD")
        sql(
            "UPDATE ai_assistant_changeset SET created_at = %s",
            changed.created_at - timedelta(days=1),
        )
        audited(ada)
        seal_all()

        ((n, text),) = findings()
        assert n == 1
        assert text.endswith(
            "there are older changes: the earlier entries were deleted."
        )

    def test_emptied_not_so_after_a_purge(self, changed, ada):
        audited(ada)
        seal_all()
        sql(
            "UPDATE ai_assistant_changeset SET created_at = %s",
            changed.created_at - timedelta(days=1),
        )
        assert "older changes" in findings()[0][1]

        forget_before(timezone.now() + timedelta(days=1))
        seal_all()

        assert findings() == []


def add_as_before(old, count):
    """Add entries as the release before does, which knows numbers only."""
    entries = old.get_model("ai_assistant", "AuditEntry")._base_manager
    heads = old.get_model("ai_assistant", "AuditHead").objects
    for _ in range(count):
        head = heads.filter(pk=1).first() or heads.create(pk=1)
        row = entries.model(
            n=head.n + 1, previous=head.hash, action="x", created_at=timezone.now()
        )
        row.hash = entry_hash(row)
        entries.bulk_create([row])
        head.n, head.hash = row.n, row.hash
        head.mac = head_mac(head)
        head.save()


def in_thread(work):
    """Run `work` on a connection of its own, to its end, and return what it raised."""
    raised = []

    def run():
        try:
            work()
        except Exception as error:  # noqa: BLE001 - told by the test
            raised.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for what this test holds"
    return raised


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")
class TestSideBySide:
    def test_units_of_two_runs_do_not_wait_for_each_other(self, ada):
        audited(ada)

        with transaction.atomic():
            record("call.complete", user=ada, tool="first")
            assert in_thread(lambda: audited(ada, "second")) == []
            seen = list(AuditEntry.objects.values_list("tool", flat=True))
        assert seen == ["second", "first", ""]

    def test_what_is_committed_late_is_sealed_late(self, ada):
        with transaction.atomic():
            record("call.complete", user=ada, tool="late")
            assert in_thread(lambda: (audited(ada, "early"), seal_all())) == []
        seal_all()

        log = AuditEntry.objects.order_by("n")
        assert list(log.values_list("tool", flat=True)) == ["early", "late"]
        assert log[0].pk > log[1].pk
        assert findings() == []

    def test_one_seals_and_another_leaves_it_to_it(self, ada):
        audited(ada)
        seal_all()
        audited(ada)
        sealed = []
        with transaction.atomic():
            locked_head()
            assert in_thread(lambda: sealed.append(seal_entries())) == []

        assert sealed == [0]
        assert seal_entries() == 1

    def test_process_that_freezes_in_it_does_not_keep_the_log(self, ada, monkeypatch):
        limits = []

        def look():
            with connection.cursor() as cursor:
                cursor.execute("SHOW idle_in_transaction_session_timeout")
                limits.append(cursor.fetchone()[0])
            return free_head()

        # By its name: the package has a function that is called like the module.
        module = import_module("ai_assistant.safety.audit.seal")
        monkeypatch.setattr(module, "free_head", look)
        audited(ada)
        sweep_once()

        assert AuditEntry.objects.get().n == 1
        assert limits == [f"{IDLE_LIMIT_S:g}s"]

    def test_entry_that_another_holds_comes_next_time(self, ada):
        audited(ada, "held")
        audited(ada, "free")
        with transaction.atomic():
            AuditEntry.objects.select_for_update().get(tool="held")
            assert in_thread(seal_all) == []

        seal_all()
        log = AuditEntry.objects.order_by("n")
        assert list(log.values_list("tool", flat=True)) == ["free", "held"]
