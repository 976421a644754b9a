"""An action of the list is carried out on objects that the user sees there."""

from decimal import Decimal

import pytest

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.reading import staff
from tests.tools.data.writing import columns, use
from tests.warehouse.models import Product

MODEL = "warehouse.product"


def act(user, action, ids):
    return use("run_admin_action", user, model=MODEL, action=action, ids=ids)


class TestRunAdminAction:
    def test_run_admin_action_does_it_and_tells(self, boss, stock):
        result = act(boss, "discount", [stock.lamp.pk, stock.chair.pk])

        assert (result.ok, result.message) == (True, "2 cheaper.")
        assert columns(stock.lamp)["price"] == Decimal("11.50")

    def test_page_of_its_own(self, boss, stock):
        with pytest.raises(ToolFailed, match="shows a page of its own"):
            act(boss, "ask_again", [stock.lamp.pk])

    def test_refusal_of_the_action(self, boss, stock):
        result = act(boss, "refuse", [stock.lamp.pk])

        assert (result.ok, result.error) == (False, "No.")

    @pytest.mark.parametrize(
        "action", ["nothing", "save", "__init__", "", "has_add_permission"]
    )
    def test_unknown_action_names_those_there_are(self, boss, stock, action):
        with pytest.raises(ModelRetry, match="Actions: discount, ask_again, refuse"):
            act(boss, action, [stock.lamp.pk])

    def test_deleting_has_its_own_tool(self, boss, stock):
        with pytest.raises(ModelRetry, match="Use delete_objects instead"):
            act(boss, "delete_selected", [stock.lamp.pk])

    def test_permission_of_the_action(self, stock):
        with pytest.raises(ModelRetry, match="There is no action 'refuse'"):
            act(staff("nora", "change_product"), "refuse", [stock.lamp.pk])

    def test_hidden_object(self, boss, stock):
        Product.objects.filter(pk=stock.chair.pk).update(name="hidden")

        with pytest.raises(ModelRetry, match="There is no product with the id"):
            act(boss, "discount", [stock.lamp.pk, stock.chair.pk])
        assert columns(stock.lamp)["price"] == Decimal("12.50")
