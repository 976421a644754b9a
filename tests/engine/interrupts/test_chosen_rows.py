"""A row that the person has left out stays out, however the model wrote its id."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, ObjectChange
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

LABEL = "testapp.effect"


def look(context: RunContext, ids: list[int], bound: str = "") -> Changes:
    rows = Effect.objects.filter(pk__in=ids)
    return Changes(
        title="Send",
        model=LABEL,
        objects=tuple(
            ObjectChange(kind="action", model=LABEL, object_id=str(row.pk))
            for row in rows
        ),
        total=len(rows),
        versions=images.versions(rows) if bound else {},
        rows_argument="ids",
    )


@pytest.mark.parametrize("bound", ["to the rows", ""])
def test_another_way_to_write_an_id(offer, options, play, script, bound):
    def send(context: RunContext, ids: list[int], bound: str = "") -> None:
        """Send effects."""
        Effect.objects.filter(pk__in=ids).update(value="sent")

    options(POLICY={})
    offer(send, effect="destructive", preview=look, rows_argument="ids")
    run_id = "00000000-0000-0000-0000-000000000001"
    rows = [Effect.objects.create(key=key, run=run_id) for key in "abc"]
    ids = [f"0{rows[0].pk}", rows[1].pk, rows[2].pk]
    script.add(reply("", call("send", {"ids": ids, "bound": bound})), "Done.")
    run = play()
    assert len(run.interrupts.get().proposal["objects"]) == 3

    answer(given(run, "approve", rows=(str(rows[1].pk),)))
    assert resume(run).state == "succeeded"
    assert list(Effect.objects.values_list("value", flat=True)) == ["", "sent", ""]
