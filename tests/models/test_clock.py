"""Moments that are stored go by the database's clock, whatever the process thinks."""

import ast
import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import SynchronousOnlyOperation
from django.utils import timezone

import ai_assistant
from ai_assistant.models import Conversation, Message, Run, clock
from ai_assistant.models.clock import Now, database_now, now

ROOT = Path(ai_assistant.__file__).parent
# What asks the clock of the process, and why that is right.
ALLOWED = {
    "changes/capture/files.py": "the times of files, on this machine",
    "changes/verify/fingerprint.py": "whether the site's code has asked this clock",
    "changes/capture/recorder.py": "whether the site's code has asked this clock",
    "engine/execution/prompt.py": "a prompt that is looked at, and nothing is stored of",
    "models/clock.py": "that of SQLite is that of the machine",
    "providers/errors.py": "how long a provider's answer asks to wait",
    "providers/offline/sentences.py": "which week is called this one",
    "safety/budgets/texts.py": "which day is called today",
    "render/html/transcript/thread.py": "which day is called today",
    "render/html/conversation_list.py": "which day is called today",
}
ASKED = {
    *("timezone.now", "time.time", "time.time_ns", "datetime.now", "datetime.utcnow"),
    *("datetime.today", "date.today", "timezone.localdate", "timezone.localtime"),
    *("localdate", "get_expiry_date"),
}
MAY_ASK = re.compile(rf"\b({'|'.join(name.rpartition('.')[2] for name in ASKED)})\(")


def asks_the_process(path):
    """Return whether a module asks the clock of its process."""
    source = path.read_text()
    if not MAY_ASK.search(source):
        return False  # to parse and print all of them takes seconds
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        is_conversion = name.endswith(("localdate", "localtime")) and node.args
        if (name in ASKED or name.endswith(".get_expiry_date")) and not is_conversion:
            return True
    return False


@pytest.fixture
def fast(monkeypatch):
    """The clock of this process goes two hours before the database's."""
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(hours=2))


@pytest.fixture
def conversation(django_user_model, db):
    user = django_user_model.objects.create_user("ada")
    return Conversation.objects.create(owner=user)


def test_only_what_stays_in_the_process_asks_its_clock():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if asks_the_process(path)
    }

    assert found <= ALLOWED.keys()
    assert {"models/clock.py", "changes/capture/recorder.py"} <= found  # it does look


class TestNow:
    def test_now_is_of_the_database(self, fast, db):
        assert abs(now().timestamp() - database_now()) < 60

    def test_now_is_not_asked_on_an_event_loop(self, db):
        async def ask():
            return now()

        with pytest.raises(SynchronousOnlyOperation):
            asyncio.run(ask())

    def test_page_asks_for_it_once_a_minute(self, monkeypatch, db):
        asked = []
        ahead = timedelta(hours=2)
        there = lambda: asked.append(1) or timezone.now() + ahead  # noqa: E731
        monkeypatch.setattr(clock, "now", there)
        monkeypatch.setattr(clock, "_seen", clock._Seen())

        told = [clock.nearly_now() - timezone.now() for _ in range(3)]

        assert len(asked) == 1
        assert all(abs(one - ahead) < timedelta(minutes=1) for one in told)

    def test_now_is_exact_in_a_query(self, fast, conversation):
        before = now()
        Conversation.objects.update(read_at=Now(), pinned_at=Now() - timedelta(hours=1))
        after = now()

        conversation.refresh_from_db()

        assert before <= conversation.read_at <= after
        assert before <= conversation.pinned_at + timedelta(hours=1) <= after
        assert Conversation.objects.filter(read_at__lte=Now()).exists()
        assert not Conversation.objects.filter(read_at__gt=Now()).exists()

    def test_now_is_what_it_was_when_it_is_asked_for_again(self, conversation):
        Conversation.objects.update(read_at=Now())

        moment = Conversation.objects.get().read_at

        assert Conversation.objects.filter(read_at=moment).exists()


class TestDatabaseTimeField:
    def test_database_time_field_is_set_by_an_insert_and_known_after(
        self, fast, conversation
    ):
        stored = Conversation.objects.get()

        assert conversation.created_at == stored.created_at
        assert abs(stored.created_at.timestamp() - database_now()) < 60

    def test_database_time_field_stays_at_an_update(self, conversation):
        made = conversation.created_at
        conversation.title = "Again"
        conversation.save()

        conversation.refresh_from_db()

        assert conversation.created_at == made
        assert conversation.updated_at > made

    def test_rows_of_one_moment_are_in_order(self, conversation):
        user = conversation.owner
        runs = []
        for number in range(20):
            run = Run(conversation=conversation, user=user, state="succeeded")
            run.idempotency_key = str(number)
            run.save()
            runs.append(run.pk)

        found = Run.objects.order_by("created_at").values_list("pk", flat=True)

        assert list(found) == runs

    def test_many_at_once(self, conversation):
        run = Run.objects.create(
            conversation=conversation, user=conversation.owner, state="succeeded"
        )
        rows = [
            Message(conversation=conversation, run=run, position=n, role="user")
            for n in range(3)
        ]

        Message.objects.bulk_create(rows)

        assert [row.created_at for row in rows] == [
            row.created_at for row in Message.objects.order_by("position")
        ]
