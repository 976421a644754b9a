"""Many objects are changed by as many forms, all or none."""

import pytest
from django.contrib.admin.models import LogEntry

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.reading import staff
from tests.tools.data.writing import columns, use
from tests.warehouse.models import Part, Product

MODEL = "warehouse.product"


def change(user, ids, values):
    return use("change_objects", user, model=MODEL, ids=ids, values=values)


class TestChangeObjects:
    def test_change_objects_changes_each_and_nothing_else(self, boss, stock):
        before = columns(stock.lamp), columns(stock.chair)

        result = change(
            boss,
            [stock.lamp.pk, stock.chair.pk],
            {"price": "3", "marks": [stock.marks[2].pk]},
        )

        assert result.message == "Changed 2 products."
        assert [one["text"] for one in result.changed] == ["Lamp", "Chair"]
        for obj, was in zip((stock.lamp, stock.chair), before, strict=True):
            now = columns(obj)
            differ = {key for key in now if now[key] != was[key]}
            assert differ == {"price", "updated_at"}
            assert [one.name for one in obj.marks.all()] == ["old"]
        assert Part.objects.get().code == "P-1"
        assert (
            LogEntry.objects.filter(change_message__contains="Assistant").count() == 2
        )

    def test_forms_do_not_mix(self, boss, stock):
        """A form that shares its fields must not leave one row's values to the next."""
        Product.objects.filter(pk=stock.chair.pk).update(
            supplier=stock.bolt, weight=8, data={"own": True}
        )
        before = columns(stock.chair)

        change(boss, [stock.lamp.pk, stock.chair.pk, stock.lamp.pk], {"note": "n"})

        now = columns(stock.chair)
        differ = {key for key in now if now[key] != before[key]}
        assert differ == {"note", "updated_at"}
        assert columns(stock.lamp)["supplier_id"] == stock.acme.pk

    def test_one_wrong_row_changes_none(self, boss, stock):
        Product.objects.filter(pk=stock.chair.pk).update(supplier=stock.closed)

        result = change(boss, [stock.lamp.pk, stock.chair.pk], {"price": 1})

        assert not result.ok
        assert "“Chair” cannot be saved" in result.error
        assert str(columns(stock.lamp)["price"]) == "12.50"

    def test_unique_value(self, boss, stock):
        result = change(boss, [stock.lamp.pk, stock.chair.pk], {"sku": "C-1"})

        assert "“Lamp” cannot be saved" in result.error

    def test_readonly_by_the_object(self, boss, stock):
        Product.objects.filter(pk=stock.lamp.pk).update(status="sold")

        with pytest.raises(ModelRetry, match="'price' of product cannot be given"):
            change(boss, [stock.chair.pk, stock.lamp.pk], {"price": 1})

    def test_object_that_may_not_be_changed(self, boss, stock):
        with pytest.raises(ToolFailed, match="locked safe"):
            change(boss, [stock.chair.pk, stock.locked.pk], {"price": 1})

    def test_permission(self, stock):
        with pytest.raises(ToolFailed):
            change(staff("nora", "view_product"), [stock.chair.pk], {"price": 1})

    def test_nothing_to_change(self, boss, stock):
        result = change(boss, [stock.lamp.pk], {"price": 12.5})

        assert result.message == "No change: it already has these values."

    @pytest.mark.parametrize("count", [0, 1001])
    def test_number_of_ids(self, boss, stock, count):
        with pytest.raises(ModelRetry):
            change(boss, list(range(count)), {"price": 1})
