"""Two runs that are in the same hooks at the same time leak nothing to each other."""

import asyncio
import threading
from collections import defaultdict

import pytest

import ai_assistant
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types.hook import POINTS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H11")]
ALONE = ("user_message_received", "response_update")  # not at a moment of their own


@pytest.fixture
def seen():
    """Hooks at each point, that wait there for the other run; what they have seen."""
    told = defaultdict(list)

    def register(point):
        meet = threading.Barrier(2, timeout=20)

        @ai_assistant.hook(point, name=f"meets-at-{point}", timeout_s=25)
        def meets(context, value):
            if point not in ALONE:
                meet.wait()
            own = str(context.conversation_id)
            told[own].append((point, str(value), dict(context.state)))
            context.state[point] = own

    for point in POINTS:
        register(point)
    return told


def test_at_every_point(seen, script, submission, offer):
    offer(lambda: "a row", name="look")
    asked = reply("I look.", call("look"))
    done = ["Done", 0.2, "."]  # with time for its update
    script.add(asked, asked, done, done)
    sent = [submission(f"Message {number}") for number in range(2)]
    holds = [accept(one, owner=this_process()).hold for one in sent]

    async def both():
        flusher = Flusher()
        await asyncio.gather(*(execute(hold, flusher) for hold in holds))

    asyncio.run(both())

    for number, one in enumerate(sent):
        own, other = str(one.conversation_id), str(sent[1 - number].conversation_id)
        run = Run.objects.get(conversation_id=own)
        assert (run.state, run.hook_errors) == ("succeeded", [])
        assert {point for point, _value, _state in seen[own]} == set(POINTS)
        assert f"Message {1 - number}" not in str(seen[own])
        assert other not in str(seen[own])
        assert set(run.state_values[__name__].values()) == {own}
