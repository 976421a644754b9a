"""A row that the person has left out stays out, however the model wrote its id."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.changes.verify.expected_values import Hiding
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given, refusal
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


def look_at_first(context: RunContext, ids: list[int], **_more: object) -> Changes:
    """Show the first row only, and count the others."""
    rows = list(Effect.objects.filter(pk__in=ids).order_by("pk"))
    field = FieldChange(
        name="value", label="Value", after="sent", attname="value", raw="sent"
    )
    hiding = Hiding(Effect)
    for row in rows[1:]:
        hiding.add(row.pk, [field])
    first = ObjectChange(
        kind="change", model=LABEL, object_id=str(rows[0].pk), fields=(field,)
    )
    return Changes(
        title="Send 3 effects",
        model=LABEL,
        objects=(first,),
        total=len(rows),
        versions=images.versions(rows),
        rows_argument="ids",
        hidden=hiding.fields(),
    )


@pytest.mark.parametrize("lists_all", [True, False])
def test_rows_beyond_the_first_can_be_left_out_where_all_are_listed(
    offer, options, play, script, lists_all
):
    def send(context: RunContext, ids: list[int]) -> None:
        """Send effects."""
        for row in Effect.objects.filter(pk__in=ids):
            row.value = "sent"
            row.save(update_fields=["value"])

    options(POLICY={})
    offer(send, effect="write", preview=look_at_first, rows_argument="ids")
    run_id = "00000000-0000-0000-0000-000000000001"
    rows = [Effect.objects.create(key=key, run=run_id) for key in "abc"]
    script.add(reply("", call("send", {"ids": [row.pk for row in rows]})), "Done.")
    run = play()

    chosen = (str(rows[0].pk), str(rows[2].pk))
    answer(given(run, "approve", rows=chosen, has_all_rows=lists_all))
    run = resume(run)

    assert run.state == "succeeded"
    sent = ["sent", "" if lists_all else "sent", "sent"]
    assert list(Effect.objects.order_by("pk").values_list("value", flat=True)) == sent


def test_none_of_all_is_refused(offer, options, play, script):
    def send(context: RunContext, ids: list[int]) -> None:
        """Send effects."""

    options(POLICY={})
    offer(send, effect="write", preview=look_at_first, rows_argument="ids")
    rows = [Effect.objects.create(key=key, run="0" * 32) for key in "ab"]
    script.add(reply("", call("send", {"ids": [row.pk for row in rows]})), "Done.")
    run = play()

    nothing = given(run, "approve", rows=("77",), has_all_rows=True)
    assert refusal(answer, nothing) == "no_rows"
