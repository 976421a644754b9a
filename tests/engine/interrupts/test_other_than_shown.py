"""Why an approval does not count, if other things happen than were shown."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange, from_json
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

RUN = "00000000-0000-0000-0000-00000000000{}"


def look(context: RunContext, pk: int) -> Changes:
    row = Effect.objects.get(pk=pk)
    field = FieldChange(name="value", label="Value", attname="value", raw="new")
    change = ObjectChange(
        kind="change",
        model="testapp.effect",
        object_id=str(pk),
        text="Effect a",
        fields=(field,),
    )
    return Changes(
        title="Mark it",
        model="testapp.effect",
        objects=(change,),
        total=1,
        versions=images.versions([row]),
    )


WORKS = {
    "less": (lambda: None, "It would change less than was shown: effect “Effect a” "),
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
    assert from_json(last.proposal).is_empty == (name == "less")
    assert Effect.objects.get().value == "old"


def test_nothing_is_done_with_consent(offer, options, play, script):
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
    answer(given(run, "approve"))

    run = resume(run)

    assert (run.state, run.calls.get().status) == ("succeeded", "complete")
