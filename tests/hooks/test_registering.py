"""A hook says at which point, for what, in which order and for how long."""

import re

import pytest

import ai_assistant
from ai_assistant.exceptions import AlreadyRegistered
from ai_assistant.hooks.running import hooks_of
from ai_assistant.registry import registry
from ai_assistant.types.hook import POINTS


def add(name, point="before_tool", **options):
    @ai_assistant.hook(point, name=name, **options)
    def function(context, value):
        return None


def names(*where):
    return [hook.name for hook in hooks_of(*where)]


@pytest.mark.row("H10")
class TestWhere:
    def test_no_hook_is_an_empty_tuple(self):
        for point in POINTS:
            registry._registry.pop(("hooks", point), None)

        assert all(hooks_of(point) == () for point in POINTS)

    def test_in_order_and_then_as_registered(self):
        add("b", order=1)
        add("c", order=1)
        add("a")

        assert names("before_tool") == ["a", "b", "c"]

    def test_by_tools_and_modules(self):
        add("deletes", tools="delete_*")
        add("both", tools=["delete_*", "publish"], module="shop-*")
        add("all")

        assert names("before_tool", "shop-order", "publish") == ["both", "all"]
        assert names("before_tool", "wiki", "delete_object") == ["deletes", "all"]

    def test_where_it_applies_in_words(self):
        add("both", tools=["delete_*", "publish"], module="shop")

        (hook,) = registry.hooks_at("before_tool")

        assert hook.where == "before_tool: tools delete_*, publish of modules shop"


class TestMistakes:
    @pytest.mark.parametrize(
        ("point", "options", "told"),
        [
            ("before_tol", {}, "there is no such point. Use before_tool."),
            ("run_finished", {"tools": "x"}, "`tools` works at before_tool and after"),
            ("run_finished", {"guard": True}, "`guard` works at user_message_received"),
        ],
    )
    def test_are_told_at_once(self, point, options, told):
        with pytest.raises(ValueError, match=re.escape(told)):
            ai_assistant.hook(point, **options)

    def test_name_that_is_taken_at_another_point(self):
        add("same")

        with pytest.raises(AlreadyRegistered, match="Hook 'same' of 'tests"):
            add("same", "after_tool")
