"""Only what writes is recorded as a change."""

import pytest

from ai_assistant.models.change import ChangeSet
from ai_assistant.testing import call, reply
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db, pytest.mark.row("R07")]


@pytest.mark.parametrize(("effect", "count"), [("read", 0), ("ui", 0), ("write", 1)])
def test_by_effect(offer, play, script, effect, count):
    def note() -> str:
        """Write a row, whatever the effect says."""
        Effect.objects.create(key="note", run="00000000-0000-0000-0000-000000000000")
        return "noted"

    offer(note, effect=effect, policy="allow")
    script.add(reply("", call("note")), "Done.")

    run = play()

    assert run.calls.get().status == "complete"
    assert ChangeSet.objects.count() == count
