"""Which module a page selects: exact beats pattern, long beats short."""

import re
from typing import ClassVar

import pytest

import ai_assistant
from ai_assistant.exceptions import AlreadyRegistered
from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.modules.resolve import (
    BUILT_IN,
    ambiguous_patterns,
    every_module,
    module_by_id,
    module_for,
)
from ai_assistant.registry import registry

pytestmark = pytest.mark.django_db

CHANGE = "admin:shop_order_change"


@pytest.fixture(autouse=True)
def _registry():
    with registry.restored():
        for module in list(registry.modules()):
            registry._remove("module", module)
        yield


def register(name, *patterns, **parts):
    return ai_assistant.register(
        type(f"{name}Module", (ContextModule,), {"matches": patterns, **parts})
    )


@pytest.mark.row("M03")
class TestModuleFor:
    @pytest.mark.parametrize(
        ("view", "module"),
        [
            ("admin:index", "admin-index"),
            ("admin:app_list", "admin-index"),
            ("admin:shop_order_changelist", "admin-list"),
            ("admin:shop_order_add", "admin-form"),
            (CHANGE, "admin-form"),
            ("admin:shop_order_history", "admin-history"),
            ("admin:shop_order_delete", "default"),
            ("shop:basket", "default"),
            ("", "default"),
        ],
    )
    def test_built_in(self, view, module):
        assert module_for(view).id == module

    @pytest.mark.parametrize(
        "patterns",
        [
            ("admin:shop_order_*", CHANGE),
            (CHANGE, "admin:shop_order_*"),
            ("admin:shop_order_change*", CHANGE),
        ],
    )
    def test_exact_beats_pattern(self, patterns):
        for number, pattern in enumerate(patterns):
            register(f"M{number}", pattern)

        assert CHANGE in module_for(CHANGE).matches

    def test_longer_pattern_beats_shorter(self):
        register("Wide", "admin:shop_*")
        register("Narrow", "admin:shop_order_*")

        assert module_for(CHANGE).id == "narrow"
        assert module_for("admin:shop_customer_change").id == "wide"

    def test_own_beats_ours(self):
        register("Own", "admin:*_change")
        register("Start", "admin:i*")

        assert module_for(CHANGE).id == "own"
        assert module_for("admin:index").id == "start"

    def test_first_of_two_alike_wins(self):
        register("First", CHANGE, "shop:*")
        register("Second", CHANGE, "shop:*")

        assert module_for(CHANGE).id == "first"
        assert module_for("shop:basket").id == "first"

    def test_star_stands_for_anything_and_a_dot_for_itself(self):
        register("Dotted", "shop.eu:*_basket")

        assert module_for("shop.eu:my_basket").id == "dotted"
        assert module_for("shopXeu:my_basket").id == "default"

    def test_module_for_knows_at_once_what_is_registered(self):
        assert module_for("shop:basket").id == "default"

        register("Basket", "shop:basket")

        assert module_for("shop:basket").id == "basket"

    def test_module_for_forgets_what_a_test_has_registered(self):
        with registry.restored():
            register("Basket", "shop:basket")
            assert module_for("shop:basket").id == "basket"

        assert module_for("shop:basket").id == "default"


class TestModuleById:
    def test_one_of_the_site(self):
        register("Order", CHANGE)

        assert module_by_id("order").matches == (CHANGE,)

    @pytest.mark.parametrize("module", BUILT_IN)
    def test_built_in(self, module):
        assert module_by_id(module.id) is module

    @pytest.mark.parametrize("gone", ["", "order"])
    def test_module_by_id_that_is_gone(self, gone):
        assert module_by_id(gone).id == "default"


class TestAmbiguous:
    def test_same_pattern_of_two(self):
        register("First", CHANGE, "shop:*")
        register("Second", "shop:*")

        ((pattern, first, second),) = ambiguous_patterns()
        assert (pattern, first.id, second.id) == ("shop:*", "first", "second")

    def test_routes_of_unequal_precision_are_not_ambiguous(self):
        register("First", "shop:*")
        register("Second", "shop:order_*")

        assert ambiguous_patterns() == []

    def test_ours_may_be_replaced(self):
        register("Own", "admin:*_change")

        assert ambiguous_patterns() == []


@pytest.mark.row("M01")
class TestContextModule:
    def test_id_is_made_of_the_name(self):
        class OrderLineModule(ContextModule):
            pass

        class Named(ContextModule):
            id = "own"

        class Below(Named):
            pass

        assert (OrderLineModule.id, Named.id, Below.id) == (
            "order_line",
            "own",
            "below",
        )

    def test_twice_the_same_id_names_both(self):
        register("Order")

        with pytest.raises(AlreadyRegistered, match=re.escape("Module 'order'")):
            register("Order")

    def test_methods_return_what_the_class_says(self):
        class OrderModule(ContextModule):
            label = "Orders"
            tools = ("mark_paid",)
            prompt = "Be quick."
            read_only = True

        module = OrderModule()
        assert module.get_tools(None) == ("mark_paid",)
        assert module.get_prompt(None) == "Be quick."
        assert module.get_label(None) == "Orders"
        assert module.is_read_only(None) is True
        assert module.cleanup(None) is None

    @pytest.mark.row("M02")
    def test_features(self):
        class OrderModule(ContextModule):
            features: ClassVar = {"read_only_guard": False}

        module = OrderModule()
        assert module.has("ask_user")
        assert not module.has("read_only_guard")
        assert not module.has("rollback")
        with pytest.raises(KeyError):
            module.has("flying")

    def test_context_module_names_of_tools(self):
        def plain():
            pass

        def own():
            pass

        own.assistant_tool = "renamed"
        assert [tool_name(one) for one in ("x", plain, own)] == [
            "x",
            "plain",
            "renamed",
        ]


def test_every_module_has_ours_last():
    register("Order")

    assert every_module()[0].id == "order"
    assert every_module()[1:] == list(BUILT_IN)
