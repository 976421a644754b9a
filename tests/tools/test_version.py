"""The hash of a tool changes with what it is, and with nothing else."""

from dataclasses import replace

import pytest

from ai_assistant.tools.manifest import compute_tool_version, manifest
from ai_assistant.types import ToolDefinition


def handler(amount: int) -> None: ...
def other(amount: int, note: str = "") -> None: ...


TOOL = ToolDefinition.of(
    name="pay", handler=handler, effect="write", description="Pay.", label="Pay"
)


class TestVersion:
    @pytest.mark.parametrize(
        "fields",
        [
            {"name": "pay_now"},
            {"effect": "destructive"},
            {"policy": "allow"},
            {"handler": other},
            {"schema": {"properties": {"amount": {"type": "string"}}}},
        ],
    )
    def test_version_changes(self, fields):
        assert compute_tool_version(TOOL.changed(**fields)) != compute_tool_version(
            TOOL
        )

    @pytest.mark.parametrize(
        "fields", [{"label": "Pay now"}, {"description": "x"}, {"icon": "coin"}]
    )
    def test_version_stays_when_label_description_or_icon_change(self, fields):
        assert compute_tool_version(TOOL.changed(**fields)) == compute_tool_version(
            TOOL
        )

    def test_manifest_is_sorted_and_whole(self):
        second = replace(TOOL, name="a")

        found = manifest([TOOL, second])

        assert list(found) == ["a", "pay"]
        assert found["pay"]["version"] == compute_tool_version(TOOL)
        assert found["pay"]["schema"]["required"] == ["amount"]
