"""A run that waits for a long tool."""

import pytest

from ai_assistant.testing import call, reply
from tests.testapp.models import Effect


def keys():
    return list(Effect.objects.order_by("pk").values_list("key", flat=True))


@pytest.fixture
def steps(play, script):
    """A run that waits for `background_steps` of three pieces."""
    script.add(
        reply("Begun.", call("background_steps", {"n": 3, "seconds": 0})), "Done."
    )
    return play()
