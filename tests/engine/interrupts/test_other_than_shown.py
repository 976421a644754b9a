"""Why an approval does not count, if other things happen than were shown."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.stored import from_json
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

RUN = "00000000-0000-0000-0000-00000000000{}"


def look(context: RunContext, pk: int) -> Changes:
    rows = list(Effect.objects.order_by("pk"))
    field = FieldChange(name="value", label="Value", attname="value", raw="new")
    return Changes(
        title="Mark them",
        model="testapp.effect",
        objects=tuple(
            ObjectChange(
                kind="change",
                model="testapp.effect",
                object_id=str(row.pk),
                text=f"Effect {row.key}",
                fields=(field,),
            )
            for row in rows
        ),
        total=len(rows),
        versions=images.versions(rows),
    )


WORKS = {
    "less": (
        lambda: Effect.objects.filter(key="a").update(value="new"),
        "It would change less than was shown: effect “Effect b” ",
    ),
    "more": (
        lambda: Effect.objects.update(value="new", run=RUN.format(2)),
        "It would change more than was shown: effect “",
    ),
    "other": (
        lambda: Effect.objects.update(value="other"),
        "It would differ from what was shown: effect “",
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_says_of_which_kind_it_is(name, offer, options, play, script):
    work, because = WORKS[name]
    effect = Effect.objects.create(key="a", value="old", run=RUN.format(1))
    Effect.objects.create(key="b", value="old", run=RUN.format(1))

    def mark(context: RunContext, pk: int) -> None:
        """Mark the effect."""
        work()

    options(POLICY={})
    offer(mark, effect="write", preview=look)
    script.add(reply("", call("mark", {"pk": effect.pk})), "Done.")
    run = play()
    answer(given(run, "approve"))

    run = resume(run)

    assert run.state == "waiting_approval"
    assert run.calls.get().asks_because.startswith(because)
    last = run.interrupts.get(status="open")
    assert len(from_json(last.proposal).objects) == (1 if name == "less" else 2)
    assert set(Effect.objects.values_list("value", flat=True)) == {"old"}


def test_nothing_is_not_asked_again(offer, options, play, script):
    effect = Effect.objects.create(key="a", value="old", run=RUN.format(1))

    def mark(context: RunContext, pk: int) -> str:
        """Mark the effect."""
        return "It is marked already."

    options(POLICY={})
    offer(mark, effect="write", preview=look)
    script.add(reply("", call("mark", {"pk": effect.pk})), "Done.")
    run = play()
    answer(given(run, "approve"))

    run = resume(run)

    done = run.calls.get()
    assert (run.state, done.status) == ("succeeded", "failed")
    assert done.result["error"] == "Nothing would change."
