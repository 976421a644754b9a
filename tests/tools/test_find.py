"""Tools are found by the words of their name, label and docstring."""

import pytest

from ai_assistant.tools.find import MOST_FOUND, find_matching_tools
from ai_assistant.types import ToolDefinition


def tool(name, description="", label=""):
    return ToolDefinition.of(
        name=name, handler=print, effect="read", description=description, label=label
    )


TOOLS = [
    tool("mark_paid", "Mark one order as paid."),
    tool("list_orders", "List orders of a customer.", "Orders"),
    tool("send_letter", "Write to a customer.", "Brief senden"),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("list orders", ["list_orders", "mark_paid"]),
        ("order", ["list_orders", "mark_paid"]),
        ("BRIEF", ["send_letter"]),
        ("letters", ["send_letter"]),
        ("customer", ["list_orders", "send_letter"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_matching(query, found):
    assert [one.name for one in find_matching_tools(query, TOOLS)] == found


def test_five_at_most():
    many = [tool(f"order_{number}") for number in range(20)]

    assert len(find_matching_tools("order", many)) == MOST_FOUND
