"""What an `assistant.py` registers is found by its name, once."""

import re

import pytest

import ai_assistant
from ai_assistant.exceptions import AlreadyRegistered, NotRegistered
from ai_assistant.registry import Registry, registry
from ai_assistant.types import ToolDefinition


def tool(name="tool", origin="shop.assistant"):
    return ToolDefinition(
        name=name,
        handler=print,
        effect="read",
        description="",
        label="",
        origin=origin,
    )


class TestRegistry:
    def test_keeps_the_order(self):
        own = Registry()
        own.add_tool(tool("b"))
        own.add_tool(tool("a"))

        assert list(own.tools()) == ["b", "a"]

    def test_twice_names_both(self):
        own = Registry()
        own.add_tool(tool())

        expected = (
            "Tool 'tool' of 'other.assistant' is already registered by "
            "'shop.assistant'. Rename one or unregister the first."
        )
        with pytest.raises(AlreadyRegistered, match=re.escape(expected)):
            own.add_tool(tool(origin="other.assistant"))

    def test_removes(self):
        own = Registry()
        own.add_tool(tool())

        own.remove_tool("tool")

        assert own.tools() == {}

    @pytest.mark.parametrize(("there", "told"), [([], "none"), (["b", "a"], "a, b")])
    def test_removes_nothing_unknown(self, there, told):
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
    def test_registers_and_returns_the_function(self):
        @ai_assistant.tool(effect="write", permission="shop.change_order")
        def mark_paid(order: int) -> None:
            """
            Mark one order as paid.

            Use it when the money has arrived.
            """

        found = registry.tools()["mark_paid"]
        assert found.handler is mark_paid
        assert (found.effect, found.permission) == ("write", "shop.change_order")
        assert (found.label, found.origin) == ("Mark paid", __name__)
        assert found.description == (
            "Mark one order as paid.\n\nUse it when the money has arrived."
        )

    def test_name_and_label_of_its_own(self):
        @ai_assistant.tool(effect="read", name="shop_orders", label="Orders")
        def list_orders() -> None:
            pass

        found = registry.tools()["shop_orders"]
        assert (found.label, found.description) == ("Orders", "")

    @pytest.mark.row("T19")
    def test_effect_is_required(self):
        with pytest.raises(TypeError, match="effect"):
            ai_assistant.tool()
