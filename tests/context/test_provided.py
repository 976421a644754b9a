"""Which providers a page asks."""

import pytest
from django.http import QueryDict
from django.urls import resolve

import ai_assistant
from ai_assistant.context.page import SitePage
from ai_assistant.context.provided import providers_of
from ai_assistant.types import PageInfo


@pytest.mark.row("C02")
@pytest.mark.parametrize("said", ["Shop.Order", "shop.order", "Shop.order"])
def test_app_label_with_capitals(said):
    @ai_assistant.context(said)
    def about_orders(context):
        return 1

    match = resolve("/admin/")
    page = SitePage(
        info=PageInfo(path="/admin/", app_label="Shop", model_name="order"),
        view=match.func,
        model_admin=None,
        query=QueryDict(),
        match=match,
    )

    assert [one.name for one in providers_of(page)] == ["about_orders"]
