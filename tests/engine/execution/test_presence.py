"""Whether anything works on a message, as the rows tell it."""

import asyncio
from datetime import timedelta

import pytest

from ai_assistant.engine import service
from ai_assistant.engine.execution.presence import (
    count_apart,
    is_left_alone,
    present,
    queued_for_s,
    say_present,
)
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage import disk_space
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import Refused
from ai_assistant.models import ExecutorProcess, Run
from ai_assistant.models.clock import Now
from tests.engine.conftest import dead_owner

pytestmark = pytest.mark.django_db(transaction=True)

ELSEWHERE = "another|-|-|1|1"


class TestPresent:
    def test_process_that_says_so(self):
        assert is_left_alone()

        say_present(this_process())

        assert [row.owner for row in present()] == [this_process()]
        assert not is_left_alone()

    def test_one_that_is_dead_is_not(self):
        say_present(dead_owner())

        assert is_left_alone()

    def test_one_that_has_been_silent_for_long_is_not(self):
        say_present(ELSEWHERE)
        ExecutorProcess.objects.update(seen_at=1)

        assert present() == []
        say_present(this_process())
        assert ExecutorProcess.objects.count() == 1

    def test_worker_may_be_started_later(self, options):
        options(EXECUTOR="worker")

        assert not is_left_alone()

    def test_several_without_a_layer_are_counted(self, settings):
        say_present(this_process())
        say_present(ELSEWHERE)

        assert count_apart() == 2
        ExecutorProcess.objects.update(in_memory=False)
        assert count_apart() == 0


class TestSend:
    async def send(self, submission):
        return await service.send(submission)

    def test_nothing_is_stored_where_nothing_works(self, submission):
        with pytest.raises(Refused) as refused:
            asyncio.run(self.send(submission()))

        assert refused.value.code == "no_executor"
        assert not Run.objects.exists()

    def test_process_elsewhere_takes_it(self, submission):
        say_present(ELSEWHERE)

        accepted = asyncio.run(self.send(submission()))

        assert Run.objects.get(pk=accepted.run_id).state == "queued"


class TestQueue:
    def test_queue_waits_while_nothing_works(self, submission):
        accept(submission())
        Run.objects.update(created_at=Now() - timedelta(seconds=60))

        assert queued_for_s() > 59
        say_present(ELSEWHERE)
        assert queued_for_s() == 0


class TestRoom:
    @pytest.fixture
    def no_room(self):
        """A database file that must not grow."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count = {pages}")
            yield
            cursor.execute("PRAGMA max_page_count = 1073741823")

    def test_there_is_room(self):
        assert not disk_space._try()

    def test_there_is_none(self, no_room):
        assert disk_space._try()
