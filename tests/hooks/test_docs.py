"""The page about hooks names every point, value and signal."""

import pytest

from ai_assistant import hooks, signals
from ai_assistant.decorators import HookOptions
from ai_assistant.hooks.points import RETURNS
from ai_assistant.types.hook import POINTS
from tests.docs.blocks import page, section


@pytest.mark.parametrize(
    "name", [*POINTS, *hooks.__all__, *HookOptions.__annotations__]
)
def test_is_named(name):
    assert f"`{name}`" in page("docs/hooks.md")


@pytest.mark.parametrize("name", [one for one in vars(signals) if one.islower()])
def test_signal_is_told(name):
    if name.startswith("_"):
        return
    assert f"| `{name}` |" in section(page("docs/hooks.md"), "Signals")


def test_every_point_that_takes_something_is_one():
    assert set(RETURNS) <= set(POINTS)
