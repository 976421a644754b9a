"""What a model is sent of a tool's schema: the same tool, in fewer characters."""

import json
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

import ai_assistant
from ai_assistant.engine.calls.availability import is_built_in
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import function_schema
from ai_assistant.tools.model_schema import model_schema, schema_chars


class Part(BaseModel):
    title: str
    default: int | None = None


@pytest.fixture
def parameters():
    """Register a tool with every kind of argument; return what a model is sent."""
    with registry.restored():

        @ai_assistant.tool(effect="read")
        def odd(
            title: str,
            kind: Literal["", "a"] = "",
            parts: Annotated[tuple[Part, ...], Field(max_length=3)] = (),
            values: dict[str, Any] | None = None,
            either: str | int | None = None,
            size: Annotated[int, Field(ge=1, le=5)] = 2,
            exact: bool = False,  # noqa: FBT001, FBT002
        ) -> str:
            """
            Do something.

            Args:
                title: of it,
                    in two lines
                size: of the page

            Returns: nothing
            """
            return ""

        yield model_schema(registry.tool("odd"))["function"]


def test_texts_stand_at_their_arguments(parameters):
    assert parameters["description"] == "Do something.\n\n\nReturns: nothing"
    title = parameters["parameters"]["properties"]["title"]
    assert title == {"description": "of it, in two lines", "type": "string"}


def test_what_goes_without_saying_is_left_out(parameters):
    properties = parameters["parameters"]["properties"]

    assert properties["kind"] == {"enum": ["", "a"], "type": "string"}
    assert properties["values"] == {"type": "object"}
    assert properties["parts"]["type"] == "array"
    assert "maxItems" not in properties["parts"]
    assert parameters["parameters"]["required"] == ["title"]


def test_what_a_model_has_to_know_stays(parameters):
    schema = parameters["parameters"]
    properties = schema["properties"]

    assert schema["additionalProperties"] is False
    assert properties["size"] == {
        "description": "of the page",
        "default": 2,
        "minimum": 1,
        "maximum": 5,
        "type": "integer",
    }
    assert properties["exact"] == {"default": False, "type": "boolean"}
    assert len(properties["either"]["anyOf"]) == 3
    part = schema["$defs"]["Part"]
    assert part["properties"] == {
        "title": {"type": "string"},  # names of arguments, not words of JSON Schema
        "default": {"type": "integer"},
    }


def test_schema_of_the_site_is_sent_as_it_is():
    schema = {"type": "object", "properties": {"a": {"title": "A", "default": None}}}
    with registry.restored():

        @ai_assistant.tool(effect="read", schema=schema)
        def own(a: Any = None) -> str:
            """
            Do.

            a: of it
            """
            return ""

        tool = registry.tool("own")

        assert model_schema(tool) == function_schema(tool)


def test_every_built_in_tool_has_a_valid_and_shorter_one():
    tools = [tool for tool in registry.tools().values() if is_built_in(tool)]
    assert tools
    for tool in tools:
        short = model_schema(tool)["function"]
        whole = function_schema(tool)["function"]["parameters"]
        Draft202012Validator.check_schema(short["parameters"])
        assert [*short["parameters"]["properties"]] == [*whole["properties"]]
        assert short["parameters"].get("required") == whole.get("required")
        assert schema_chars(tool) < len(json.dumps(function_schema(tool)))
