import pytest

from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry


class TestPolicy:
    def test_wrong_value(self, assistant, only):
        assistant(POLICY={"rename_section": "yes"})

        assert only() == (
            "ai_assistant.E070",
            "AI_ASSISTANT['POLICY']['rename_section'] is 'yes'. | "
            "Use 'allow', 'ask' or 'deny'.",
        )

    def test_unknown_tool(self, assistant, only):
        assistant(POLICY={"rename": "deny"})

        assert only() == (
            "ai_assistant.W071",
            "AI_ASSISTANT['POLICY'] names 'rename', but there is no tool of that "
            "name. | Correct or remove it. Registered are: "
            f"{', '.join(sorted(registry.tools()))}.",
        )

    def test_destructive_asks_all_the_same(self, assistant, only):
        assistant(POLICY={"delete_section": "allow"})

        assert only() == (
            "ai_assistant.W072",
            "AI_ASSISTANT['POLICY']['delete_section'] is 'allow', but the tool is "
            "destructive: it asks anyway. | Use 'ask' or 'deny'.",
        )

    def test_pattern(self, assistant):
        assistant(POLICY={"rename_.*": "deny", "(list|add)_.*": "ask"})

        assert check_assistant() == []

    @pytest.mark.parametrize(
        ("pattern", "error"),
        [
            (
                "(",
                "is not a regular expression: missing ), unterminated subpattern at ",
            ),
            ("(a+)+", "repeats more than one character, which may be very slow."),
            (5, "is not a string."),
        ],
    )
    def test_broken_pattern(self, assistant, only, pattern, error):
        assistant(POLICY={pattern: "deny"})

        said_id, said = only()
        assert said_id == "ai_assistant.E170"
        assert said.startswith(f"Pattern {pattern!r} of AI_ASSISTANT['POLICY'] {error}")
        assert said.endswith("| Write a simpler one, or the name of a tool.")
