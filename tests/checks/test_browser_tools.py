"""Tools that the page carries out are tools of effect ui."""

import pytest

from ai_assistant.checks import check_assistant


def shown(row: int) -> None:
    """Show a row."""


@pytest.mark.parametrize(
    "fields",
    [
        {"effect": "write"},
        {"effect": "ui", "background": True},
        {"effect": "ui", "external": True},
    ],
)
def test_carried_out_elsewhere(with_tool, only, fields):
    tool = with_tool(shown, browser=True, **fields)

    assert only() == (
        "ai_assistant.E097",
        f"{tool} is executed by the page, but is not a plain tool with the effect "
        "'ui'. | Use effect='ui', without background and external.",
    )


def test_of_effect_ui(with_tool):
    with_tool(shown, browser=True, effect="ui")

    assert check_assistant() == []
