"""What a person has allowed for an answer is to change rows, not to remove them."""

import pytest

from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
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


def test_row_of_an_inline_asks_whatever_the_policy_says(options, play, script, product):
    options(POLICY={"change_object": "allow"})
    part = product.parts.get().pk
    arguments = {
        "model": "warehouse.product",
        "id": product.pk,
        "values": {},
        "inlines": {"parts": [{"id": part, "DELETE": True}]},
    }
    script.add(reply("", call("change_object", arguments)), "Done.")
    run = play(f"Change product {product.pk}: DELETE of the parts {part}")

    assert (run.state, Part.objects.count()) == ("waiting_approval", 1)
    assert "remove" in run.calls.get().asks_because
