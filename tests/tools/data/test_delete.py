"""Objects are deleted as the admin would, or not at all."""

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.reading import context_of, staff
from tests.tools.data.writing import use
from tests.warehouse.models import Mark, Movement, Part, Product, Remark, Secret

MODEL = "warehouse.product"


def delete(user, ids, model=MODEL, **arguments):
    return use("delete_objects", user, model=model, ids=ids, **arguments)


class TestDelete:
    def test_one_with_what_depends_on_it(self, boss, stock):
        remark = Remark.objects.create(product=stock.lamp, text="Bright")
        context = context_of(boss)

        result = delete(boss, [stock.lamp.pk], context=context)

        remark.refresh_from_db()
        assert (result.ok, result.message) == (True, "Deleted 1 product.")
        assert result.changed == (
            {"model": MODEL, "id": str(stock.lamp.pk), "text": "Lamp"},
        )
        assert not Product.objects.filter(name="Lamp").exists()
        assert not Part.objects.exists()
        assert remark.product is None
        entry = LogEntry.objects.get()
        assert (entry.action_flag, entry.object_repr) == (DELETION, "Lamp")
        assert entry.change_message == (f"(Assistant, run {str(context.run_id)[:8]})")

    def test_several(self, boss, stock):
        result = delete(boss, [stock.lamp.pk, stock.chair.pk, stock.lamp.pk])

        assert result.message == "Deleted 2 products."
        assert list(Product.objects.all()) == [stock.locked]
        assert (
            LogEntry.objects.filter(change_message__contains="Assistant").count() == 2
        )

    def test_user_who_may_only_delete(self, stock):
        user = staff("nora", "delete_mark")

        assert delete(user, [stock.marks[2].pk], model="warehouse.mark").ok


class TestRefused:
    def test_protected(self, boss, stock):
        Movement.objects.create(product=stock.lamp)

        with pytest.raises(ToolFailed, match="these objects depend on it"):
            delete(boss, [stock.chair.pk, stock.lamp.pk])
        assert Product.objects.count() == 3

    def test_object_that_may_not_be_deleted(self, boss, stock):
        with pytest.raises(
            ToolFailed, match="You may not delete product “locked safe”"
        ):
            delete(boss, [stock.chair.pk, stock.locked.pk])
        assert Product.objects.count() == 3

    def test_cascade_that_may_not_be_deleted(self, stock):
        user = staff("nora", "view_supplier", "delete_supplier", "view_product")
        Product.objects.all().delete()
        assert delete(user, [stock.bolt.pk], model="warehouse.supplier").ok

        other = staff("lena", "view_product", "delete_product")
        product = Product.objects.create(name="x", sku="x", supplier=stock.acme)
        Remark.objects.create(product=product, text="r")
        Movement.objects.create(product=product)
        with pytest.raises(ToolFailed):
            delete(other, [product.pk])

    @pytest.mark.parametrize("codes", [(), ("view_product", "change_product")])
    def test_permission(self, stock, codes):
        with pytest.raises((ModelRetry, ToolFailed)):
            delete(staff("nora", *codes), [stock.chair.pk])

    @pytest.mark.parametrize(
        "ids",
        [["x"], [10**30], ["9" * 400], [999_999], ["1\0"], ["1); DROP"], ["\ud800"]],
    )
    def test_ids(self, boss, stock, ids):
        with pytest.raises(ModelRetry):
            delete(boss, ids)

    def test_hidden_object(self, boss, stock):
        Product.objects.filter(pk=stock.chair.pk).update(name="hidden")

        with pytest.raises(ModelRetry, match="There is no product with the id"):
            delete(boss, [stock.chair.pk])

    def test_what_is_kept_from_the_assistant_goes_with_it(self, boss, stock):
        Secret.objects.create(mark=stock.marks[0])

        with pytest.raises(ToolFailed, match="kept from the assistant"):
            delete(boss, [stock.marks[0].pk], model="warehouse.mark")
        assert Mark.objects.count() == 3

    def test_membership_of_users(self, boss):
        group = Group.objects.create(name="one")
        group.permissions.add(Permission.objects.first())
        boss.groups.add(group)

        with pytest.raises(ToolFailed, match="kept from the assistant"):
            delete(boss, [group.pk], model="auth.group")
        assert get_user_model().objects.get(pk=boss.pk).groups.count() == 1
