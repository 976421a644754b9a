"""Deny goes before ask, and ask before allow."""

import pytest

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.safety.policy import decide
from ai_assistant.types import ToolDefinition


def tool(effect, policy=None):
    return ToolDefinition(
        name="tool",
        handler=print,
        effect=effect,
        description="",
        label="",
        policy=policy,
    )


@pytest.fixture
def site(settings):
    def wish(**policy):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLICY": policy}

    return wish


class TestDecide:
    @pytest.mark.parametrize(
        ("effect", "expected"),
        [("read", "allow"), ("ui", "allow"), ("write", "ask"), ("destructive", "ask")],
    )
    def test_by_default(self, site, effect, expected):
        site()

        assert decide(tool(effect)) == expected

    @pytest.mark.parametrize(
        ("effect", "wished", "expected"),
        [
            ("read", "allow", "allow"),
            ("read", "ask", "ask"),
            ("read", "deny", "deny"),
            ("write", "allow", "allow"),
            ("write", "ask", "ask"),
            ("write", "deny", "deny"),
            ("destructive", "allow", "ask"),
            ("destructive", "ask", "ask"),
            ("destructive", "deny", "deny"),
        ],
    )
    @pytest.mark.parametrize("by", ["tool", "site"])
    def test_as_wished(self, site, effect, wished, expected, by):
        site(**({"tool": wished} if by == "site" else {}))
        own = tool(effect, wished if by == "tool" else None)

        assert decide(own) == expected

    def test_site_goes_before_the_tool(self, site):
        site(tool="deny")

        assert decide(tool("read", "allow")) == "deny"

    def test_other_tools_are_not_meant(self, site):
        site(other="deny")

        assert decide(tool("read")) == "allow"

    def test_no_such_word(self, site):
        site(tool="never")

        with pytest.raises(
            ImproperlyConfiguredAssistant,
            match=r"AI_ASSISTANT\['POLICY'\]\['tool'\] is 'never'\. Use 'allow'",
        ):
            decide(tool("read"))
