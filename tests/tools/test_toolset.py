"""Toolsets are changed as a whole, each by a method of one line."""

import pytest

from ai_assistant.exceptions import AlreadyRegistered, NotRegistered
from ai_assistant.registry import registry
from ai_assistant.tools.toolset import Toolset
from ai_assistant.types import ToolDefinition


def tool(name, effect="read"):
    return ToolDefinition.of(
        name=name, handler=print, effect=effect, description="", label=""
    )


CRM = Toolset("crm", [tool("find"), tool("save", "write")])


class TestToolset:
    @pytest.mark.parametrize(
        ("made", "names"),
        [
            (CRM.prefixed(), ["crm_find", "crm_save"]),
            (CRM.prefixed("x"), ["x_find", "x_save"]),
            (CRM.renamed({"find": "search"}), ["search", "save"]),
            (CRM.filtered(lambda one: one.effect == "read"), ["find"]),
            (CRM.filtered(lambda one: one.effect == "read").prefixed(), ["crm_find"]),
        ],
    )
    def test_toolset_names(self, made, names):
        assert made.names == names
        assert CRM.names == ["find", "save"]

    def test_fields(self):
        assert {one.approval.policy for one in CRM.changed(policy="ask")} == {"ask"}

    def test_toolset_registers(self):
        with registry.restored():
            assert CRM.prefixed().register() == ["crm_find", "crm_save"]
            assert registry.tool("crm_save").effect == "write"
        assert registry.tool("crm_save") is None

    def test_unknown_name(self):
        with pytest.raises(NotRegistered, match="'crm' has no tool 'x'"):
            CRM.renamed({"x": "y"})

    def test_two_of_one_name(self):
        with pytest.raises(AlreadyRegistered, match="two tools 'save'"):
            CRM.renamed({"find": "save"})
