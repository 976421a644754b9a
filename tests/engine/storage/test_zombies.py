"""A process whose run was taken over writes nothing more."""

import asyncio

import pytest

from ai_assistant import RunContext
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import LostLease
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types import TextDelta
from tests.engine.conftest import statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def begin(submission):
    return accept(submission(), owner=this_process()).hold


class TestZombie:
    def test_zombie_writes_nothing_more(self, submission, script, offer):
        """The run is taken over while a tool of the first owner still works."""

        def taken_over(context: RunContext) -> str:
            Run.objects.filter(pk=context.run_id).update(epoch=7, owner="other")
            return "x"

        offer(taken_over)
        script.add(reply("", call("taken_over")), "Never said.")
        hold = begin(submission)

        asyncio.run(execute(hold, Flusher()))

        run = Run.objects.get(pk=hold.run_id)
        assert (run.state, run.owner, statuses(run)) == (
            "running",
            "other",
            ["pending"],
        )
        assert len(script.requests) == 1

    def test_effect_of_a_zombie_is_undone(self, submission, script, offer):
        def taken_over(context: RunContext) -> str:
            Run.objects.filter(pk=context.run_id).update(epoch=7, owner="other")
            return "x"

        offer(taken_over)
        script.add(reply("", call("taken_over"), call("write_effect", {"key": "a"})))
        hold = begin(submission)

        asyncio.run(execute(hold, Flusher()))

        assert Effect.objects.count() == 0

    def test_text_of_a_zombie_is_not_stored(self, submission, function_model):
        async def talk(_request):
            yield TextDelta(text="mine ")
            await in_db(lambda: Run.objects.update(epoch=7, owner="other"))
            for _ in range(50):
                yield TextDelta(text="zombie ")
                await asyncio.sleep(0.02)
            raise AssertionError

        function_model(talk)
        hold = begin(submission)

        asyncio.run(execute(hold, Flusher()))

        run = Run.objects.get(pk=hold.run_id)
        assert run.epoch == 7
        assert "zombie" not in str(list(run.events.values_list("payload")))

    def test_run_that_is_gone(self, submission):
        hold = begin(submission)
        Run.objects.all().delete()

        asyncio.run(execute(hold, Flusher()))

    def test_lost_lease_is_no_failure(self, submission, script, offer):
        def lost(context: RunContext) -> None:
            raise LostLease("away")

        offer(lost)
        script.add(reply("", call("lost")))
        hold = begin(submission)

        asyncio.run(execute(hold, Flusher()))

        assert Run.objects.get().state == "running"
