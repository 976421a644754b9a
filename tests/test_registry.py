"""What an `assistant.py` registers is found by its name, once."""

import re
from copy import copy
from dataclasses import replace

import pytest
from django.contrib.auth.models import User

import ai_assistant
from ai_assistant import ContextModule
from ai_assistant.decorators import ToolOptions
from ai_assistant.exceptions import AlreadyRegistered, NotRegistered
from ai_assistant.registry import Registry, registry
from ai_assistant.types import ToolDefinition
from ai_assistant.types.hook import Hook
from ai_assistant.types.tool import GROUP_OF


def tool(name="tool", origin="shop.assistant"):
    return ToolDefinition.of(
        name=name,
        handler=print,
        effect="read",
        description="",
        label="",
        origin=origin,
    )


class TestRegistry:
    def test_registry_keeps_the_order(self):
        own = Registry()
        own.add_tool(tool("b"))
        own.add_tool(tool("a"))

        assert list(own.tools()) == ["b", "a"]

    def test_hook_of_a_name_that_is_taken_names_both(self):
        own = Registry()
        first = Hook(name="watch", point="run_finished", function=print, origin="shop")
        own.add_hook(first)
        own.add_hook(replace(first, name="other"))

        with pytest.raises(AlreadyRegistered, match="'watch' of 'blog'.* by 'shop'"):
            own.add_hook(replace(first, point="before_tool", origin="blog"))
        assert [hook.name for hook in own.hooks()] == ["watch", "other"]

    def test_twice_names_both(self):
        own = Registry()
        own.add_tool(tool())

        expected = (
            "Tool 'tool' of 'other.assistant' is already registered by "
            "'shop.assistant'. Rename one or unregister the first."
        )
        with pytest.raises(AlreadyRegistered, match=re.escape(expected)):
            own.add_tool(tool(origin="other.assistant"))

    def test_offered_twice_keeps_the_first_and_notes_the_clash(self):
        own, first, second = Registry(), tool(), tool(origin="other.assistant")
        own.offer_tool(first)
        own.offer_tool(second)

        assert own.tool("tool") is first
        assert own.clashes == [(first, second)]

    def test_offered_again_replaces_if_it_says_so(self):
        own, second = Registry(), tool(origin="other.assistant")
        own.offer_tool(tool())
        own.offer_tool(second, replace=True)

        assert own.tool("tool") is second
        assert own.clashes == []

    def test_registry_removes(self):
        own = Registry()
        own.add_tool(tool())

        own.remove_tool("tool")

        assert own.tools() == {}

    @pytest.mark.parametrize(("there", "told"), [([], "none"), (["b", "a"], "a, b")])
    def test_registry_removes_nothing_unknown(self, there, told):
        own = Registry()
        for name in there:
            own.add_tool(tool(name))

        expected = f"Tool 'x' is not registered. Registered are: {told}."
        with pytest.raises(NotRegistered, match=re.escape(expected)):
            own.remove_tool("x")

    def test_other_kinds_are_no_tools(self):
        own = Registry()
        own._registry["module", "tool"] = object()

        assert own.tools() == {}

    def test_parts_are_gathered_again_after_each_change(self):
        own = Registry()
        own.add_tool(tool("a"))
        told = own.tools()

        before = copy(own._registry)
        own._registry["tool", "b"] = tool("b")  # as Django's autodiscovery has it
        assert list(own.tools()) == ["a", "b"]
        own._registry = before
        assert list(own.tools()) == ["a"]
        own._registry.pop(("tool", "a"))
        assert own.tools() == {}
        own._registry.update({("tool", "c"): tool("c")})
        assert list(own.tools()) == ["c"]
        assert list(told) == ["a"]

    def test_list_of_parts_is_the_askers_own(self):
        own = Registry()
        own.add_tool(tool("a"))

        own.tools().clear()

        assert list(own.tools()) == ["a"]

    def test_temporarily(self):
        own = Registry()
        own.add_tool(tool("a"))

        with own.temporarily(tool("a", origin="test"), tool("b", origin="test")):
            assert [one.origin for one in own.tools().values()] == ["test", "test"]

        assert [one.origin for one in own.tools().values()] == ["shop.assistant"]


class TestToolDecorator:
    @pytest.fixture(autouse=True)
    def _clean(self):
        with registry.temporarily():
            yield

    @pytest.mark.row("T01")
    def test_tool_decorator_registers_and_returns_the_function(self):
        @ai_assistant.tool(effect="write", permission="shop.change_order")
        def mark_paid(order: int) -> None:
            """
            Mark one order as paid.

            Use it when the money has arrived.
            """

        found = registry.tools()["mark_paid"]
        assert found.handler is mark_paid
        assert (found.effect, found.permission) == ("write", "shop.change_order")
        assert (found.display.label, found.origin) == ("Mark paid", __name__)
        assert found.description == (
            "Mark one order as paid.\n\nUse it when the money has arrived."
        )

    def test_name_and_label_of_its_own(self):
        @ai_assistant.tool(effect="read", name="shop_orders", label="Orders")
        def list_orders() -> None:
            pass

        found = registry.tools()["shop_orders"]
        assert (found.display.label, found.description) == ("Orders", "")

    @pytest.mark.row("T19")
    def test_effect_is_required(self):
        expected = (
            "A tool is registered without its effect, which says what it does at most. "
            "Write @ai_assistant.tool(effect='read'), or 'ui', 'write' or "
            "'destructive'; all arguments are given by name."
        )
        with pytest.raises(TypeError, match=re.escape(expected)):
            ai_assistant.tool()

    @pytest.mark.row("T19")
    def test_tool_decorator_without_parentheses(self):
        def list_orders() -> None: ...

        with pytest.raises(TypeError, match="Tool 'list_orders' is registered without"):
            ai_assistant.tool(list_orders)
        assert registry.tool("list_orders") is None

    def test_name_in_the_place_of_the_effect(self):
        with pytest.raises(TypeError, match="Tool 'orders' is registered without"):
            ai_assistant.tool("orders", effect="read")

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [("permision", "permission"), ("timeout", "timeout_s"), ("icons", "icon")],
    )
    def test_misspelt_argument(self, wrong, told):
        expected = f"@ai_assistant.tool has no argument {wrong!r}. Use {told}."
        with pytest.raises(TypeError, match=re.escape(expected)):
            ai_assistant.tool(effect="read", **{wrong: "x"})

    @pytest.mark.parametrize("wrong", ["handler", "origin", "xyz"])
    def test_unknown_argument(self, wrong):
        with pytest.raises(TypeError, match=f"has no argument {wrong!r}"):
            ai_assistant.tool(effect="read", **{wrong: print})

    def test_every_option_is_one_of_the_definition(self):
        assert {*ToolOptions.__annotations__} == {
            *(set(GROUP_OF) - {"label"}),
            *("schema", "effect_of", "external_of"),
        }


class TestContextDecorator:
    @pytest.fixture(autouse=True)
    def _clean(self):
        with registry.restored():
            yield

    @pytest.mark.parametrize(
        "decorator", [ai_assistant.context, ai_assistant.context()]
    )
    def test_parentheses_may_be_left_out(self, decorator):
        def season(context) -> str:
            """What season it is."""
            return "summer"

        assert decorator(season) is season
        found = registry.contexts()["season"]
        assert (found.function, found.model) == (season, "")
        assert found.description == "What season it is."

    def test_model_is_named_by_a_text(self):
        expected = "Write the model as a string: @ai_assistant.context('auth.user')."
        with pytest.raises(TypeError, match=re.escape(expected)):
            ai_assistant.context(User)


class TestRegisterDecorator:
    @pytest.fixture(autouse=True)
    def _clean(self):
        with registry.restored():
            yield

    @pytest.mark.parametrize(
        "decorator", [ai_assistant.register, ai_assistant.register()]
    )
    def test_parentheses_may_be_there(self, decorator):
        class OrderModule(ContextModule):
            pass

        assert decorator(OrderModule) is OrderModule
        assert isinstance(registry.modules()["order"], OrderModule)

    def test_register_decorator_takes_classes_of_modules_only(self):
        class Order:
            pass

        for given in (Order, ContextModule(), print):
            with pytest.raises(
                TypeError, match="which is not a ContextModule. Decorate"
            ):
                ai_assistant.register(given)
