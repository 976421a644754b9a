from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.changes.capture.files import backup_storage, store_content
from ai_assistant.models import (
    AuditEntry,
    ChangeSet,
    Conversation,
    FileChange,
    RowChange,
    Run,
    ToolCall,
    UsageLedger,
    clock,
)
from ai_assistant.models.run import UNFINISHED
from ai_assistant.safety.audit import seal_all, verify

pytestmark = pytest.mark.django_db


def purge(capsys, **options):
    call_command("assistant_purge", **options)
    return capsys.readouterr().out.splitlines()


def owners():
    return sorted(Conversation.objects.values_list("owner__username", flat=True))


@pytest.fixture
def setting(settings):
    def change(**changed):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)

    return change


class TestConversations:
    def test_old_ones_go_with_all_that_is_theirs(self, told, capsys):
        told("ada", days=40)

        assert purge(capsys, days=30) == ["1 conversations deleted."]
        for model in (Conversation, Run, ToolCall, ChangeSet, RowChange):
            assert not model.objects.exists()

    def test_what_people_have_deleted_goes_in_any_case(self, told, capsys):
        told("ada", days=0)
        told("bob", days=0)
        late = timezone.now() - timedelta(minutes=1)
        Conversation.objects.filter(owner__username="ada").update(deleted_at=late)

        said = purge(capsys, days=30)

        assert said[0] == "1 conversations that people had deleted were removed."
        assert owners() == ["bob"]

    def test_new_ones_stay(self, told, capsys):
        told("ada", days=40)
        told("bob", days=20)

        purge(capsys, days=30)

        assert owners() == ["bob"]

    def test_usage_and_audit_stay(self, told, capsys):
        told("ada", days=40)

        purge(capsys, days=30)

        assert UsageLedger.objects.get().run is None
        actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
        assert list(actions) == ["run.started", "conversations.purged"]
        assert verify().findings == ()

    @pytest.mark.parametrize("state", UNFINISHED)
    def test_conversations_never_one_with_an_unfinished_run(self, told, capsys, state):
        told("ada", days=40, state=state)

        assert purge(capsys, days=30) == ["0 conversations deleted."]
        assert owners() == ["ada"]

    def test_conversations_of_one_user(self, told, capsys):
        told("ada", days=40)
        told("bob", days=40)

        purge(capsys, days=30, user="bob")

        assert owners() == ["ada"]

    def test_dry_run_deletes_nothing(self, told, capsys):
        told("ada", days=40)

        told_ = purge(capsys, days=30, dry_run=True)

        assert told_ == ["1 conversations would be deleted."]
        assert owners() == ["ada"]

    @pytest.mark.row("D03")
    def test_days_of_the_setting(self, told, capsys, setting):
        setting(RETENTION={"CONVERSATION_DAYS": 10})
        told("ada", days=20)

        purge(capsys)

        assert owners() == []

    def test_no_days_at_all(self):
        with pytest.raises(CommandError, match="CONVERSATION_DAYS.*is not set"):
            call_command("assistant_purge")

    def test_unknown_user(self):
        with pytest.raises(CommandError, match="User 'nobody' does not exist"):
            call_command("assistant_purge", days=1, user="nobody")

    def test_stashed_files_go_too(
        self, told, capsys, settings, tmp_path, django_capture_on_commit_callbacks
    ):
        settings.MEDIA_ROOT = str(tmp_path / "media")
        told("ada", days=40)
        name = store_content(ContentFile(b"old"), "x")
        FileChange.objects.create(row=RowChange.objects.get(), field="f", stash=name)
        assert backup_storage().exists(name)

        with django_capture_on_commit_callbacks(execute=True):
            purge(capsys, days=30)

        assert not backup_storage().exists(name)


class TestChanges:
    """Those of conversations that people have deleted."""

    @pytest.fixture
    def left(self, told):
        for name, days in (("ada", 40), ("ada", 20), ("bob", 40)):
            conversation = told(name)
            then = timezone.now() - timedelta(days=days)
            ChangeSet.objects.filter(run__conversation=conversation).update(
                created_at=then
            )
            conversation.delete()
        assert ChangeSet.objects.filter(run=None).count() == 3

    def test_old_ones_go(self, left, capsys):
        said = purge(capsys, days=30)

        assert said[1] == "2 changes of deleted conversations deleted."
        assert ChangeSet.objects.get().user.username == "ada"
        assert RowChange.objects.count() == 1
        entry = AuditEntry.objects.get(action="changes.purged")
        assert entry.details["changes"] == 2

    def test_changes_of_one_user(self, left, capsys):
        purge(capsys, days=0, user="ada")

        assert ChangeSet.objects.get().user.username == "bob"

    def test_dry_run_deletes_nothing(self, left, capsys):
        said = purge(capsys, days=30, dry_run=True)

        assert said[1].startswith("2 changes of")
        assert ChangeSet.objects.count() == 3

    def test_changes_of_a_conversation_that_is_there_stay_with_it(self, told, capsys):
        told("ada")
        then = timezone.now() - timedelta(days=40)
        ChangeSet.objects.update(created_at=then)

        purge(capsys, days=30)

        assert ChangeSet.objects.count() == 1


class TestAudit:
    @pytest.fixture
    def old_log(self, told, monkeypatch):
        """A log of four entries, the first two of them forty days old."""
        real = clock.now
        with monkeypatch.context() as then:
            then.setattr(clock, "now", lambda: real() - timedelta(days=40))
            told("ada")
            told("bob")
        told("ada")
        told("bob")
        seal_all()

    def test_old_entries_go_and_the_rest_is_whole(self, old_log, capsys, setting):
        setting(RETENTION={"AUDIT_DAYS": 30})

        assert purge(capsys) == ["2 audit entries deleted."]
        seal_all()
        numbers = AuditEntry.objects.order_by("n").values_list("n", flat=True)
        assert list(numbers) == [3, 4, 5]
        assert verify().findings == ()

    def test_dry_run(self, old_log, capsys, setting):
        setting(RETENTION={"AUDIT_DAYS": 30})

        assert purge(capsys, dry_run=True) == ["2 audit entries would be deleted."]
        assert AuditEntry.objects.count() == 4

    def test_log_that_is_not_whole_is_kept(self, old_log, setting):
        setting(RETENTION={"AUDIT_DAYS": 30})
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM ai_assistant_auditentry WHERE n = 1")

        with pytest.raises(CommandError, match="not intact, so it is kept. Entry 1"):
            call_command("assistant_purge")
        assert AuditEntry.objects.count() == 3
