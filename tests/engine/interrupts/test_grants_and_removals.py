"""What a person has allowed for an answer is to change rows, not to remove them."""

import pytest

from ai_assistant import RunContext
from ai_assistant.engine.interrupts import answer
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect
from tests.warehouse.models import Part, Product, Supplier

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def product():
    supplier = Supplier.objects.create(name="S", code="S1")
    product = Product.objects.create(name="P", sku="1", supplier=supplier)
    Part.objects.create(product=product, code="A")
    yield product
    Product.objects.all().delete()
    Supplier.objects.all().delete()


@pytest.mark.parametrize("removes", [True, False])
def test_row_of_an_inline(options, play, script, product, removes):
    options(POLICY={})
    named = {"model": "warehouse.product", "id": product.pk}
    row = {"id": product.parts.get().pk}
    row |= {"DELETE": True} if removes else {"count": 2}
    later = {**named, "values": {}, "inlines": {"parts": [row]}}
    script.add(
        reply("", call("change_object", {**named, "values": {"note": "N"}})),
        reply("", call("change_object", later)),
        "Done.",
    )
    run = play()
    answer(given(run, "approve_for_run"))
    run = resume(run)
    expected = ("waiting_approval", 1) if removes else ("succeeded", 1)
    assert (run.state, Part.objects.count()) == expected


def test_trial_keeps_no_children(offer, options, play, script):
    def inner(context: RunContext) -> None:
        """Make an effect."""
        Effect.objects.create(key="a", run=context.run_id)

    seen = []

    def outer(context: RunContext) -> None:
        """Let the other make it."""
        before = AuditEntry.objects.count()
        assert context.call_tool("inner").ok
        children = ToolCall.objects.filter(parent__isnull=False).count()
        seen.append((children, AuditEntry.objects.count() - before))

    options(POLICY={"inner": "allow"})
    offer(inner, effect="write")
    offer(outer, effect="write", preview="transaction")
    script.add(reply("", call("outer")), "Done.")
    run = play()
    assert (run.state, seen) == ("waiting_approval", [(0, 0)])
    answer(given(run, "approve"))
    assert (resume(run).state, Effect.objects.count()) == ("succeeded", 1)
    assert ToolCall.objects.filter(parent__isnull=False).count() == 1
