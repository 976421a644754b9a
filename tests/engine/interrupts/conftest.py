"""A run that waits for a person."""

import pytest

from ai_assistant import Ask, RunContext
from ai_assistant.testing import call, reply
from tests.testapp.models import Effect


@pytest.fixture
def asks(options):
    """Let `write_effect` ask, as writes do."""
    options(POLICY={})


@pytest.fixture
def waiting(asks, play, script):
    """A run that waits for the approval of one write."""
    script.add(reply("May I?", call("write_effect", {"key": "a"})), "Done.")
    return play()


def asker_tool(**fields):
    def asker(context: RunContext) -> str:
        if "answer" not in context.answers:
            Effect.objects.create(key="before", run=context.run_id)
            raise Ask("Which colour?", **fields)
        Effect.objects.create(key=context.answers["answer"], run=context.run_id)
        return context.answers["answer"]

    return asker
