"""From type hints and docstrings to what a model reads, and back to arguments."""

import re
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from ai_assistant import ModelRetry, RunContext
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.arguments import (
    function_schema,
    takes_context,
    validate_arguments,
)
from ai_assistant.types import ToolDefinition


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Row(BaseModel):
    name: str
    count: int = 1


def define(handler):
    return ToolDefinition.of(
        name=handler.__name__,
        handler=handler,
        effect="read",
        description=handler.__doc__ or "",
        label="x",
    )


def parameters(handler):
    return function_schema(define(handler))["function"]["parameters"]


def check(handler, **arguments):
    return validate_arguments(define(handler), arguments)


def refusal(handler, **arguments):
    with pytest.raises(ModelRetry) as raised:
        check(handler, **arguments)
    return str(raised.value)


class TestFunctionSchema:
    @pytest.mark.row("T02")
    @pytest.mark.row("T01")
    def test_whole(self):
        def rename(context: RunContext, pk: int, title: str = "x") -> str:
            """
            Rename one row.

            pk: the row's number
            """

        assert function_schema(define(rename)) == {
            "type": "function",
            "function": {
                "name": "rename",
                "description": rename.__doc__,
                "parameters": {
                    "type": "object",
                    "properties": {
                        "pk": {"type": "integer", "description": "the row's number"},
                        "title": {"type": "string", "default": "x"},
                    },
                    "required": ["pk"],
                    "additionalProperties": False,
                },
            },
        }

    def test_no_arguments(self):
        def ping() -> str:
            """Ping."""

        assert parameters(ping) == {
            "type": "object",
            "properties": {},
            "additionalProperties": False,
        }

    @pytest.mark.parametrize(
        ("hint", "schema"),
        [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
            (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            (date, {"type": "string", "format": "date"}),
            (UUID, {"type": "string", "format": "uuid"}),
            (
                dict[str, int],
                {"type": "object", "additionalProperties": {"type": "integer"}},
            ),
            (
                Annotated[int, Field(ge=1, description="from 1")],
                {"type": "integer", "minimum": 1, "description": "from 1"},
            ),
        ],
    )
    def test_hints(self, hint, schema):
        def tool(value):
            """Do."""

        tool.__annotations__ = {"value": hint}

        assert parameters(tool)["properties"]["value"] == schema

    def test_models_and_enums(self):
        def tool(row: Row, rows: list[Row], colour: Colour) -> None:
            """Do."""

        schema = parameters(tool)

        assert set(schema["$defs"]) == {"Row", "Colour"}
        assert schema["required"] == ["row", "rows", "colour"]

    @pytest.mark.parametrize(
        "line",
        [
            "value: what it is",
            ":param value: what it is",
            "    value (int): what it is",
        ],
    )
    def test_descriptions(self, line):
        def tool(value: int) -> None:
            pass

        tool.__doc__ = f"Do.\n\n{line}\n"

        assert parameters(tool)["properties"]["value"]["description"] == "what it is"

    def test_text_hints(self):
        def tool(value: "int", context: "RunContext") -> "None":
            """Do."""

        assert list(parameters(tool)["properties"]) == ["value"]

    @pytest.mark.filterwarnings("ignore:Field name:UserWarning")
    def test_words_that_pydantic_uses_too(self):
        def tool(model: str, copy: int, schema: str = "x") -> None:
            """Do."""

        assert check(tool, model="a", copy=1) == {
            "model": "a",
            "copy": 1,
            "schema": "x",
        }

    @pytest.mark.parametrize("kind", ["bare", "star", "stars"])
    def test_an_argument_without_a_type(self, kind):
        def bare(value):
            """Do."""

        def star(*value):
            """Do."""

        def stars(**value):
            """Do."""

        tool = {"bare": bare, "star": star, "stars": stars}[kind]

        expected = (
            f"Tool '{kind}' has an argument 'value' without a type. Give it a type "
            "hint, so that the model knows what to send."
        )
        with pytest.raises(ImproperlyConfiguredAssistant, match=re.escape(expected)):
            parameters(tool)


class TestValidated:
    def test_types_and_defaults(self):
        def tool(
            day: date, price: Decimal, colour: Colour, rows: list[Row], limit: int = 5
        ) -> None:
            """Do."""

        found = check(
            tool, day="2026-01-02", price="1.50", colour="red", rows=[{"name": "a"}]
        )

        assert found == {
            "day": date(2026, 1, 2),
            "price": Decimal("1.50"),
            "colour": Colour.RED,
            "rows": [Row(name="a", count=1)],
            "limit": 5,
        }

    def test_defaults_are_not_shared(self):
        def tool(tags: list[str] = []) -> None:  # noqa: B006 - that is the question
            """Do."""

        check(tool)["tags"].append("x")

        assert check(tool) == {"tags": []}

    def test_null_where_it_may_be(self):
        def tool(value: int | None = 3) -> None:
            """Do."""

        assert check(tool, value=None) == {"value": None}

    def test_missing(self):
        def tool(pk: int, title: str) -> None:
            """Do."""

        assert refusal(tool) == (
            "The arguments of 'tool' are wrong: argument 'pk': Field required; "
            "argument 'title': Field required. Call it again."
        )

    def test_argument_that_the_tool_has_not_is_refused(self):
        def tool(pk: int) -> None:
            """Do."""

        assert "argument 'id': Extra inputs are not permitted" in refusal(
            tool, pk=1, id=2
        )

    def test_context_cannot_be_sent(self):
        def tool(context: RunContext) -> None:
            """Do."""

        assert "argument 'context'" in refusal(tool, context={"user": 1})

    @pytest.mark.parametrize(
        ("hint", "value", "told"),
        [
            (int, "many", "valid integer"),
            (int, 1.5, "valid integer"),
            (bool, "perhaps", "valid boolean"),
            (Literal["a", "b"], "c", "'a' or 'b'"),
            (list[int], "1,2", "valid list"),
            (date, "yesterday", "valid date"),
            (Annotated[int, Field(ge=1)], 0, "greater than or equal to 1"),
            (Row, {"count": 1}, "argument 'value.name': Field required"),
        ],
    )
    def test_validated_says_what_is_wrong(self, hint, value, told):
        def tool(value):
            """Do."""

        tool.__annotations__ = {"value": hint}

        assert told in refusal(tool, value=value)

    def test_validated_says_at_most_five_things(self):
        def tool(values: list[int]) -> None:
            """Do."""

        assert refusal(tool, values=["x"] * 50).count("argument") == 6

    def test_any_json(self):
        def tool(value: Any) -> None:
            """Do."""

        assert check(tool, value={"a": [1, None]}) == {"value": {"a": [1, None]}}


class TestTakesContext:
    def test_takes_context_by_name(self):
        def with_it(context: RunContext) -> None:
            """Do."""

        def without(contexts: int) -> None:
            """Do."""

        assert takes_context(define(with_it))
        assert not takes_context(define(without))
