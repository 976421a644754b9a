"""A process is killed in the middle of an undo of many rows."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection

from ai_assistant.changes.undo import groups
from ai_assistant.changes.undo.values import UndoTarget
from ai_assistant.models.change import ChangeSet, RowChange
from tests.engine.undo.strikes import strike, undo_in_a_child
from tests.figures import FIGURE
from tests.thorough import IS_THOROUGH, examples
from tests.warehouse.models import Part, Product

pytestmark = [pytest.mark.django_db, pytest.mark.broad, pytest.mark.row("R05")]

STRIKES = examples(3, many=100)
GROUPS = 75 if IS_THOROUGH else 10  # of four rows each
PIECE_ROWS = 60 if IS_THOROUGH else 16
KINDS = ("change", "delete", "create")

State = dict[str, tuple[Any, ...]]


def stock_state() -> State:
    """Return each product with its parts: a group."""
    return {
        product.sku: (
            product.name,
            *product.parts.order_by("code").values_list("code", "count"),
        )
        for product in Product.objects.filter(sku__startswith="K").order_by("sku")
    }


def make(acme) -> None:
    products = Product.objects.bulk_create(
        Product(name=f"K{n}", sku=f"K{n}", supplier=acme) for n in range(GROUPS)
    )
    Part.objects.bulk_create(
        Part(product=one, code=f"c{n}", count=1) for one in products for n in range(3)
    )


def write(scene, acme, kind: str) -> None:
    """Let the assistant write each group in a call of its own."""
    if kind == "create":
        scene.do(lambda: make(acme))
        return
    make(acme)
    for product in Product.objects.filter(sku__startswith="K"):
        scene.do(product.delete if kind == "delete" else lambda: change(product))  # noqa: B023


def change(product: Product) -> None:
    product.name = f"new {product.name}"
    product.save()
    product.parts.update(count=2)


@pytest.mark.timeout(3600)
def test_no_group_is_half_done_and_none_twice(
    scene, stock, monkeypatch, record_property
):
    monkeypatch.setattr(groups, "PIECE_ROWS", PIECE_ROWS)
    killed = 0
    for number in range(STRIKES):
        kind = KINDS[number % len(KINDS)]
        write(scene, stock.acme, kind)
        left = stock_state()
        before = expected(left, kind)

        killed += undo_in_a_child(scene, strike(number // len(KINDS)))

        found = stock_state()
        for sku in {*left, *before}:
            assert found.get(sku) in (left.get(sku), before.get(sku)), (number, sku)
        check_told(found, left)
        if scene.plan().rows:
            scene.undo()  # Go on
        assert stock_state() == before
        done = RowChange.objects.filter(change_set__kind="undo")
        objects = [*done.values_list("model", "object_id")]
        assert len(objects) == len({*objects}) == 4 * GROUPS
        for one in ChangeSet.objects.filter(kind="undo").order_by("-created_at"):
            scene.undo(UndoTarget(kind="change", id=one.pk))
        assert stock_state() == left
        forget()
    record_property(
        FIGURE,
        f"{STRIKES} strikes at an undo of {4 * GROUPS} rows, {killed} of them killed "
        f"it on {connection.vendor}: 0 groups half done, 0 rows twice",
    )
    assert killed >= STRIKES * 0.5


def check_told(found: State, left: State) -> None:
    """Only what is undone says so, and is in the history of the admin."""
    undone = {sku for sku in {*found, *left} if found.get(sku) != left.get(sku)}
    marked = RowChange.objects.exclude(undone_by=None).filter(model="warehouse.product")
    assert marked.count() == len(undone)
    assert LogEntry.objects.filter(object_repr__in=_names(undone)).count() == len(
        undone
    )


def _names(skus: set[str]) -> set[str]:
    return {name for sku in skus for name in (sku, f"new {sku}")}


def expected(left: State, kind: str) -> State:
    """Return the groups as they are once all is undone."""
    if kind == "create":
        return {}
    whole = tuple((f"c{n}", 1) for n in range(3))
    return {f"K{n}": (f"K{n}", *whole) for n in range(GROUPS)}


def forget() -> None:
    """Remove what a strike leaves."""
    Product.objects.filter(sku__startswith="K").delete()
    for model in (ChangeSet, LogEntry):
        model.objects.all().delete()
