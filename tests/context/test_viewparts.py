"""What is wrong with the parts of a view is said where they are written."""

import pytest

from ai_assistant import AssistantMixin, assistant_view
from ai_assistant.context.viewparts import names_of_views, registered_parts


def lend():
    """A tool without its decorator."""


def orders(request):
    """A view."""


@pytest.mark.row("C02")
class TestAssistantView:
    def test_assistant_view_without_parentheses_says_what_to_write(self):
        with pytest.raises(TypeError, match=r"View 'orders' .*@assistant_view\(con"):
            assistant_view(orders)

    def test_function_that_is_no_tool_is_named(self):
        with pytest.raises(TypeError, match=r"the tool 'lend', which is not regist"):
            assistant_view(tools=["known", lend])
        assert "known" not in names_of_views()

    @pytest.mark.parametrize("name", ["context", "tools", "suggestions"])
    def test_text_is_no_list(self, name):
        with pytest.raises(TypeError, match=rf"{name!r} .*Write {name}=\['lend'\]\."):
            assistant_view(**{name: "lend"})

    def test_function_is_no_list(self):
        with pytest.raises(TypeError, match=r"Write context=\[orders\]\."):
            assistant_view(context=orders)


def holder_of(module):
    """A ModelAdmin class `OrderAdmin` in `module`, with its provider."""
    kind = type("OrderAdmin", (AssistantMixin,), {"__module__": module})
    return registered_parts(orders, kind()).context[0]


@pytest.mark.row("C02")
class TestMixin:
    def test_classes_of_one_name_are_told_apart(self):
        shop, crm = holder_of("shop.admin"), holder_of("crm.admin")

        assert shop.__name__ == crm.__name__ == "OrderAdmin"
        assert shop.__module__ != crm.__module__

    def test_tools_as_a_text(self):
        with pytest.raises(
            TypeError, match=r"Orders.assistant_tools is the string 'le"
        ):
            type("Orders", (AssistantMixin,), {"assistant_tools": "lend"})

    def test_function_that_is_no_tool_is_named(self):
        with pytest.raises(TypeError, match=r"Orders.assistant_tools has the tool 'l"):
            type("Orders", (AssistantMixin,), {"assistant_tools": [lend]})
