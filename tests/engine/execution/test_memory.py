"""A process that has executed runs holds nothing of them."""

import asyncio
import gc
from collections import Counter

import pytest

from ai_assistant.configuration import setup
from ai_assistant.engine.storage import notifications
from ai_assistant.testing import call, reply

pytestmark = pytest.mark.broad

RUNS = 16  # more than one prompt has parts: one may be held a moment longer
LOOP = asyncio.AbstractEventLoop


def held():
    """Return how many objects of our own classes there are, by class."""
    gc.collect()
    kinds = (type(one) for one in gc.get_objects())
    return Counter(kind for kind in kinds if "ai_assistant" in str(kind.__module__))


@pytest.mark.django_db(transaction=True)
def test_no_object_of_ours_for_each_run(play, script, monkeypatch):
    monkeypatch.setattr(setup, "RUNS", RUNS // 2)  # of the last ones something is kept

    def some(name):
        for number in range(RUNS):
            effect = call("write_effect", {"key": f"{name}-{number}"})
            script.add(reply("Now.", effect), "Done.")
            assert play().state == "succeeded"
        script.requests.clear()  # which the model of the test keeps
        script.replies.clear()

    some("first")
    before = held()

    some("second")

    grown = held() - before
    assert {kind: count for kind, count in grown.items() if count >= RUNS} == {}


def test_no_event_loop_that_served_one_request():
    async def request():
        notifications.outbox().put("group", {})
        await asyncio.sleep(0)

    def loops():
        gc.collect()
        # By its type: a lazy object makes what it stands for when it is asked its class.
        found = (one for one in gc.get_objects() if issubclass(type(one), LOOP))
        return sum(one.is_closed() for one in found)

    asyncio.run(request())
    before = loops()

    for _ in range(RUNS):
        asyncio.run(request())

    assert loops() <= before + 1
