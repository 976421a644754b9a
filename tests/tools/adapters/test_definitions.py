"""Tools that were described elsewhere keep their schema, and are held to it."""

import pytest

from ai_assistant import RunContext
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, WrongArguments
from ai_assistant.tools.adapters import from_function, from_mcp, from_openai
from ai_assistant.tools.arguments import (
    function_schema,
    schema_error,
    validate_arguments,
)
from ai_assistant.tools.result import from_exception

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"type": "string", "enum": ["c", "f"]},
    },
    "required": ["city"],
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": PARAMETERS,
    },
}


def weather(context: RunContext, **asked):
    return asked


@pytest.mark.row("E03")
class TestDefinitions:
    @pytest.mark.parametrize(
        "tool",
        [
            from_openai(WEATHER, weather, effect="read"),
            from_openai(WEATHER["function"], weather, effect="read"),
            from_mcp(
                {
                    "name": "weather",
                    "description": "Tell the weather.",
                    "inputSchema": PARAMETERS,
                },
                weather,
                effect="read",
            ),
        ],
    )
    def test_definitions_are_told_as_given(self, tool):
        told = function_schema(tool)["function"]

        assert (told["name"], told["description"]) == ("weather", "Tell the weather.")
        assert told["parameters"] == {**PARAMETERS, "additionalProperties": False}
        assert (tool.effect, tool.display.label) == ("read", "Weather")

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ({}, "'city' is a required property"),
            ({"city": 1}, "argument 'city': 1 is not of type 'string'"),
            ({"city": "x", "unit": "k"}, "'k' is not one of"),
            ({"city": "x", "more": 1}, "'more' was unexpected"),
        ],
    )
    @pytest.mark.row("T10")
    def test_arguments_are_checked(self, arguments, told):
        tool = from_openai(WEATHER, weather, effect="read")

        with pytest.raises(WrongArguments, match=told) as raised:
            validate_arguments(tool, arguments)
        hint = from_exception("weather", raised.value).schema_hint
        assert (hint["required"], hint["allowed"]) == (["city"], ["city", "unit"])

    def test_right_ones_pass(self):
        tool = from_openai(WEATHER, weather, effect="read")

        assert validate_arguments(tool, {"city": "Bonn"}) == {"city": "Bonn"}

    @pytest.mark.parametrize(
        ("schema", "told"),
        [
            ({"type": "array"}, "Tool 'x' has a schema that is not of an object. "),
            (
                {"properties": {"a": {"type": "no"}}},
                "Tool 'x' has an invalid schema: ",
            ),
        ],
    )
    def test_no_schema(self, schema, told):
        tool = from_openai({"name": "x", "parameters": schema}, weather, effect="read")

        assert schema_error(tool).startswith(told)

    def test_no_name(self):
        with pytest.raises(ImproperlyConfiguredAssistant, match="has no name"):
            from_openai({}, weather, effect="read")

    def test_a_reference_is_never_fetched(self):
        far = {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}}
        tool = from_openai({"name": "x", "parameters": far}, weather, effect="read")

        with pytest.raises(WrongArguments, match="cannot be resolved"):
            validate_arguments(tool, {"a": 1})

    def test_plain_function(self):
        def twice(number: int) -> int:
            """Double a number."""
            return number * 2

        tool = from_function(twice, effect="read", rate="1/s")

        assert (tool.name, tool.description, tool.execution.rate) == (
            "twice",
            "Double a number.",
            "1/s",
        )
        assert validate_arguments(tool, {"number": 2}) == {"number": 2}
