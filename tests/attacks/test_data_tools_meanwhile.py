"""The data tools, and what changes between their cards and their effects."""

import json

import pytest
from django.contrib.auth.models import Permission

from ai_assistant.testing import call, reply
from tests.attacks.dump import differs, dump
from tests.attacks.person import Person, card, go_on
from tests.figures import cell
from tests.tools.data.writing import make_stock
from tests.warehouse.models import Movement, Part, Product, Remark

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "warehouse.product"


@pytest.fixture
def stock():
    return make_stock()


@pytest.fixture
def nora(staff, options):
    """Staff who may do everything in the warehouse; who is no superuser."""
    options(LIMITS={"TOOL_SCHEMA_CHARS": 10**6})
    own = Permission.objects.filter(content_type__app_label="warehouse")
    staff.user_permissions.add(*own)
    return Person(staff)


def lamp(stock):
    return {"model": MODEL, "id": stock.lamp.pk}


def both(stock):
    return {"model": MODEL, "ids": [stock.lamp.pk, stock.chair.pk]}


CALLS = {
    "change_object": lambda at: {**lamp(at), "values": {"price": "1.00"}},
    "change_objects": lambda at: {**both(at), "values": {"note": "x"}},
    "delete_objects": both,
    "run_admin_action": lambda at: {**both(at), "action": "discount"},
}


def row(stock):
    Product.objects.filter(pk=stock.lamp.pk).update(note="by somebody")


def row_is_hidden(stock):
    Product.objects.filter(pk=stock.lamp.pk).update(name="hidden")


def row_is_locked(stock):
    Product.objects.filter(pk=stock.lamp.pk).update(name="locked")


def row_is_gone(stock):
    Part.objects.filter(product=stock.lamp).delete()
    Product.marks.through.objects.all().delete()
    Product.objects.filter(pk=stock.lamp.pk).delete()


def dependent_is_new(stock):
    Part.objects.create(product=stock.lamp, code="new")
    Remark.objects.create(product=stock.lamp, text="new")


def dependent_is_other(stock):
    Part.objects.filter(product=stock.lamp).update(count=99)


def dependent_protects(stock):
    Movement.objects.create(product=stock.lamp)


def permissions_are_gone(stock):
    Permission.objects.get(codename="change_product").user_set.clear()
    Permission.objects.get(codename="delete_product").user_set.clear()


ALL = (*CALLS,)
# What has to ask again or be refused, by the tools for which it matters.
CHANGES = (
    (row, ALL),
    (row_is_hidden, ALL),
    (row_is_locked, ("change_object", "change_objects", "delete_objects")),
    (row_is_gone, ALL),
    (dependent_is_new, ("delete_objects",)),
    (dependent_is_other, ("delete_objects",)),
    (dependent_protects, ("delete_objects",)),
    (permissions_are_gone, ("change_object", "change_objects", "delete_objects")),
)
CASES = [(change, name) for change, names in CHANGES for name in names]


def propose(nora, script, name, arguments):
    script.add(reply("", call(name, arguments)), *["Done."] * 3)
    run = nora.ask("Do it.")
    assert run.state == "waiting_approval", run.calls.get().error
    return run


@pytest.mark.parametrize("name", ALL)
def test_unchanged_is_carried_out(nora, script, stock, name):
    run = propose(nora, script, name, CALLS[name](stock))
    before = dump()
    nora.answer(card(run))
    run = go_on(run)

    assert (run.state, run.calls.get().status) == ("succeeded", "complete")
    assert differs(before, dump())


@pytest.mark.parametrize(
    ("change", "name"), CASES, ids=lambda one: getattr(one, "__name__", one)
)
def test_changed(nora, script, stock, change, name, record_property):
    run = propose(nora, script, name, CALLS[name](stock))
    nora.answer(card(run))
    change(stock)
    before = dump()
    run = go_on(run)

    found = differs(before, dump())
    ended = "asked again" if run.state == "waiting_approval" else "refused"
    told = f"{len(found)} ({ended})"
    record_property(*cell("effects", name, change.__name__, told))
    assert found == []
    assert ended == "asked again" or run.calls.get().status in ("failed", "denied")


class TestEdited:
    def test_only_the_proposed_fields(self, nora, script, stock):
        """What the form of the card has not, an answer cannot bring in."""
        arguments = {**lamp(stock), "values": {"price": "1.00"}}
        run = propose(nora, script, "change_object", arguments)
        before = dump()
        planted = {
            "name": "planted",
            "margin": "99",
            "api_key": "planted",
            "number": "00000000-0000-0000-0000-000000000009",
            "supplier": str(stock.bolt.pk),
            "id": str(stock.chair.pk),
            "model": "warehouse.supplier",
            "values": json.dumps({"name": "planted"}),
            "parts-0-code": "planted",
            "is_superuser": "on",
        }
        fields = {f"edit-{name}": value for name, value in planted.items()} | planted
        answer = nora.answer(card(run), "edit", **{"edit-price": "2.00"}, **fields)
        assert answer.status_code == 204, answer.content
        go_on(run)

        found = [one for one in differs(before, dump()) if "admin.logentry" not in one]
        assert len(found) == 2
        after = Product.objects.get(pk=stock.lamp.pk)
        assert str(after.price) == "2.00"
        assert (after.name, after.margin, after.api_key, after.supplier) == (
            *("Lamp", 7, "canary-key"),
            stock.acme,
        )

    @pytest.mark.parametrize(
        "price", ["much", "", "1e400", "-", "2.00' OR 1=1", "{{7*7}}", "\x00"]
    )
    def test_value_that_the_form_refuses(self, nora, script, stock, price):
        arguments = {**lamp(stock), "values": {"price": "1.00"}}
        run = propose(nora, script, "change_object", arguments)
        before = dump()
        nora.answer(card(run), "edit", **{"edit-price": price})
        run = go_on(run)

        assert run.state == "waiting_approval"
        assert differs(before, dump()) == []


class TestRows:
    def test_only_the_chosen(self, nora, script, stock):
        run = propose(nora, script, "delete_objects", both(stock))
        nora.answer(card(run), has_rows="1", rows=[stock.chair.pk, stock.locked.pk])
        run = go_on(run)

        assert run.state == "succeeded"
        left = set(Product.objects.values_list("name", flat=True))
        assert left == {"Lamp", "locked safe"}
