"""What was shown is not there any more: by then nothing happens, and it is said."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.calls.editing import edit_form, edited
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import given, refusal
from tests.testapp.models import Effect
from tests.warehouse.models import Product, Supplier

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def effect():
    return Effect.objects.create(
        key="a", value="old", run="00000000-0000-0000-0000-000000000001"
    )


def look(context: RunContext, pk: int) -> Changes:
    row = Effect.objects.get(pk=pk)
    label = "testapp.effect"
    fields = tuple(
        FieldChange(name=name, label=name, attname=name, raw="new")
        for name in ("key", "value")
    )
    change = ObjectChange(
        kind="change", model=label, object_id=str(pk), text=str(row), fields=fields
    )
    versions = images.versions([row])
    return Changes(
        title="Send it", model=label, objects=(change,), total=1, versions=versions
    )


@pytest.fixture
def shown(offer, options, play, script, effect):
    """Return a run that waits with what `look` says of the effect."""

    def start(handler, **fields):
        options(POLICY={})
        offer(handler, effect="write", preview=look, **fields)
        script.add(reply("", call(handler.__name__, {"pk": effect.pk})), "Done.")
        return play()

    return start


class TestChangedSince:
    def test_external_tool_is_asked_again(self, shown, effect):
        done = []

        def send(context: RunContext, pk: int) -> None:
            """Send the effect."""
            done.append(pk)

        run = shown(send, external=True)
        Effect.objects.update(value="other")
        answer(given(run, "approve"))
        run = resume(run)
        assert (run.state, statuses(run), done) == ("waiting_approval", ["waiting"], [])

        answer(given(run, "approve"))
        assert (resume(run).state, done) == ("succeeded", [effect.pk])

    def test_background_tool_is_asked_again(self, shown):
        def later(context: RunContext, pk: int) -> None:
            """Change the effect, later."""
            with context.transaction():
                Effect.objects.filter(pk=pk).update(value="new", key="new")

        run = shown(later, background=True)
        Effect.objects.update(value="other")
        answer(given(run, "approve"))
        perform(run.calls.get().pk)
        run = resume(run)
        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert Effect.objects.get().value == "other"

        answer(given(run, "approve"))
        perform(run.calls.get().pk)
        assert (statuses(run), Effect.objects.get().value) == (["complete"], "new")

    def test_background_tool_knows_its_own_pieces(self, shown):
        def later(context: RunContext, pk: int) -> None:
            """Change the effect twice, later."""
            for name in ("value", "key"):
                with context.transaction():
                    Effect.objects.filter(pk=pk).update(**{name: "new"})

        run = shown(later, background=True)
        answer(given(run, "approve"))
        perform(run.calls.get().pk)
        effect = Effect.objects.get()
        assert (statuses(run), effect.key, effect.value) == (["complete"], "new", "new")


class TestGone:
    @pytest.fixture
    def proposed(self, options, play, script):
        options(POLICY={})
        supplier = Supplier.objects.create(name="S", code="S1")
        product = Product.objects.create(name="P", sku="1", supplier=supplier)
        named = {"model": "warehouse.product", "id": product.pk}
        arguments = {**named, "values": {"note": "N"}}
        script.add(reply("", call("change_object", arguments)), "Done.")
        yield play()
        Product.objects.all().delete()
        Supplier.objects.all().delete()

    def test_form_of_an_object_that_is_gone(self, proposed):
        interrupt = proposed.interrupts.get()
        Product.objects.all().delete()
        named = (proposed.user_id, interrupt.pk)
        assert refusal(edit_form, *named) == "retry"
        assert refusal(edited, *named, {"edit-note": "M"}) == "retry"

    def test_proposal_of_another_release(self, proposed):
        Interrupt.objects.update(proposal={"heading": "Change it"})
        assert refusal(answer, given(proposed, "approve")) == "stale"
        answer(given(proposed, "deny"))
        assert statuses(resume(proposed)) == ["denied"]
