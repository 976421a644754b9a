"""What code of the site starts in the process of a server is taken at once."""

import asyncio
import threading

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

import ai_assistant
from ai_assistant.testing import reply
from tests.engine.conftest import said
from tests.engine.execution.executor.conftest import booted, get_run, is_final, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P05")]


@pytest.fixture(autouse=True)
def _by_being_told(options):
    """No executor finds a run because it looks now and then."""
    options(POLL_S=3600.0)


def within(begin):
    """Begin in a booted process, and wait for the end of the run."""

    async def scenario():
        async with booted():
            await asyncio.sleep(0.2)  # its first look is over
            started = await begin()
            await until(is_final, started.run_id)

    asyncio.run(scenario())


class TestStart:
    def test_in_a_sync_view(self, user, script):
        script.add(reply("Hello."))
        start = sync_to_async(lambda: ai_assistant.start(user=user, text="Hello"))

        within(start)

        assert said(get_run()) == "Hello."

    def test_after_the_commit_of_a_sync_view(self, user, script):
        script.add(reply("Hello."))

        def view():
            with transaction.atomic():
                return ai_assistant.start(user=user, text="Hello")

        within(sync_to_async(view))

        assert said(get_run()) == "Hello."

    def test_in_an_async_view(self, user, script):
        script.add(reply("Hello."))

        within(lambda: ai_assistant.astart(user=user, text="Hello"))

        assert said(get_run()) == "Hello."

    def test_in_a_thread_of_the_site(self, user, script):
        script.add(reply("Hello."))
        made = []

        async def begin():
            def work():
                made.append(ai_assistant.start(user=user, text="Hello"))

            thread = threading.Thread(target=work)
            thread.start()
            await asyncio.to_thread(thread.join)
            return made[0]

        within(begin)

        assert said(get_run()) == "Hello."
