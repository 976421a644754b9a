"""What the door asks of the engine, with a server that executes."""

import asyncio
import contextvars

import pytest

from ai_assistant.engine import service
from ai_assistant.engine.execution.presence import say_present
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd, TextDelta
from tests.engine.conftest import said, statuses
from tests.engine.execution.executor.conftest import (
    booted,
    get_run,
    has_state,
    is_final,
    until,
)

pytestmark = pytest.mark.django_db(transaction=True)


class TestSend:
    @pytest.mark.row("H16")
    def test_send_executes_here(self, submission, script):
        script.add(reply("Hello."))

        async def scenario():
            async with booted():
                accepted = await service.send(submission())
                assert accepted.hold is not None
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert said(get_run()) == "Hello."

    def test_send_inherits_nothing_of_the_request(self, submission, function_model):
        of_the_request = contextvars.ContextVar("of_the_request", default="nothing")
        seen = []

        async def look(_request):
            seen.append(of_the_request.get())
            yield TextDelta(text="Yes.")
            yield ReplyEnd(finish_reason="stop")

        function_model(look)

        async def scenario():
            async with booted():
                of_the_request.set("the user of another request")
                accepted = await service.send(submission())
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert seen == ["nothing"]

    def test_send_without_room_is_queued_and_taken_later(
        self, submission, script, options
    ):
        options(LIMITS={"RUNS_PER_PROCESS": 0})
        script.add(reply("Hello."))

        async def scenario():
            async with booted() as own:
                accepted = await service.send(submission())
                assert accepted.hold is None
                await in_db(lambda: options(LIMITS={"RUNS_PER_PROCESS": 5}))
                own.wake()
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert get_run().state == "succeeded"

    def test_send_for_a_worker_is_queued(self, submission, options):
        options(EXECUTOR="worker")

        async def scenario():
            accepted = await service.send(submission())
            assert accepted.hold is None

        asyncio.run(scenario())

        assert get_run().state == "queued"

    def test_send_without_a_watch_is_queued_for_another_process(self, submission):
        say_present("another|-|-|1|1")

        asyncio.run(service.send(submission()))

        assert get_run().state == "queued"


class TestAnswer:
    def test_run_goes_on(self, submission, script, options, user):
        options(POLICY={}, POLL_S=60.0)
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        async def scenario():
            async with booted():
                accepted = await service.send(submission())
                await until(has_state, accepted.run_id, "waiting_approval")
                interrupt = await in_db(Interrupt.objects.get)
                await service.answer(
                    Answer(
                        user_id=user.pk,
                        interrupt_id=interrupt.pk,
                        nonce=interrupt.nonce,
                        decision="approve",
                    )
                )
                await until(is_final, accepted.run_id)

        asyncio.run(scenario())

        assert statuses(get_run()) == ["complete"]

    def test_approved_task_begins_at_once(
        self, submission, script, options, user, given_out
    ):
        options(POLICY={}, POLL_S=60.0)
        script.add(reply("", call("background_steps", {"n": 1})))

        async def scenario():
            async with booted():
                accepted = await service.send(submission())
                await until(has_state, accepted.run_id, "waiting_approval")
                interrupt = await in_db(Interrupt.objects.get)
                given = Answer(
                    user_id=user.pk,
                    interrupt_id=interrupt.pk,
                    nonce=interrupt.nonce,
                    decision="approve",
                )
                await service.answer(given)

        asyncio.run(scenario())

        assert given_out == [ToolCall.objects.get().pk]


class TestAgain:
    def test_again_starts_a_new_run(self, submission, script, user):
        script.add(reply("One."), reply("Two."))

        async def scenario():
            async with booted():
                first = await service.send(submission())
                await until(is_final, first.run_id)
                second = await service.again(user.pk, first.run_id, "", SessionStamp())
                await until(is_final, second.run_id)
                return second.run_id

        run_id = asyncio.run(scenario())

        assert said(Run.objects.get(pk=run_id)) == "Two."
