"""A tool of the site's own, tried out: what Oscar writes along is on its one card."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sites.models import Site
from oscar.core.loading import get_model

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.changes.stored import from_json
from ai_assistant.registry import registry
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant

pytestmark = pytest.mark.django_db
Order = get_model("order", "Order")
StatusChange = get_model("order", "OrderStatusChange")


@pytest.fixture
def order():
    return Order.objects.create(
        number="100",
        site=Site.objects.get(),
        currency="GBP",
        total_incl_tax=12,
        total_excl_tax=10,
        status="New",
    )


@pytest.fixture(autouse=True)
def tool():
    with registry.restored():

        @ai_assistant.tool(effect="write", preview="transaction")
        def set_status(context: RunContext, number: str, status: str) -> str:
            """Set the status of an order."""
            Order.objects.get(number=number).set_status(status)
            return "Set."

        yield


def test_set_status_has_one_card(order):
    user = get_user_model().objects.create_superuser("ada")
    given = {"number": "100", "status": "Sent"}
    replies = [reply("", call("set_status", given)), "Done."]

    played = run_assistant(user, "/admin/", "Send it.", replies=replies)
    card = from_json(played.interrupts[0].proposal)
    played = answer_interrupt(played, "approve")

    assert played.state == "succeeded", played.interrupts
    order.refresh_from_db()
    assert order.status == "Sent"
    assert StatusChange.objects.get().new_status == "Sent"
    assert {(one.kind, one.model) for one in card.objects} == {
        ("change", "order.order"),
        ("create", "order.orderstatuschange"),
    }
