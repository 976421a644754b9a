"""A long list, a page at a time."""

import asyncio
import inspect

import pytest

from ai_assistant import ModelRetry
from ai_assistant.tools.arguments import function_schema, split_page, validate_arguments
from ai_assistant.tools.result import paginate
from ai_assistant.types import ToolDefinition


def rows(prefix: str = "") -> list[str]:
    return []


def define(handler=rows, **fields):
    fields.setdefault("page_size", 2)
    return ToolDefinition.of(
        name="rows", handler=handler, effect="read", description="", label="", **fields
    )


class TestPaged:
    @pytest.mark.parametrize(
        ("page", "expected"), [(1, ["a", "b"]), (2, ["c", "d"]), (3, ["e"])]
    )
    def test_list(self, page, expected):
        assert paginate(define(), list("abcde"), page) == {
            "rows": expected,
            "total": 5,
            "page": page,
            "pages": 3,
        }

    def test_no_rows_are_one_empty_page(self):
        assert paginate(define(), [], 1) == {
            "rows": [],
            "total": 0,
            "page": 1,
            "pages": 1,
        }

    def test_no_such_page(self):
        with pytest.raises(ModelRetry, match="There is no page 2: the last is 1"):
            paginate(define(), ["a"], 2)

    @pytest.mark.parametrize("value", [{"a": 1}, "text", None])
    def test_other_values_are_left(self, value):
        assert paginate(define(), value, 1) is value

    def test_paged_not_without_a_size(self):
        assert paginate(define(page_size=0), ["a"], 1) == ["a"]

    def test_what_is_awaited(self):
        async def later():
            return list("abc")

        value = paginate(define(), later(), 2)

        assert inspect.iscoroutine(value)
        assert asyncio.run(value)["rows"] == ["c"]

    @pytest.mark.django_db
    def test_queryset_is_counted_and_cut(self, django_assert_num_queries):
        from django.contrib.auth.models import Permission

        with django_assert_num_queries(2):
            found = paginate(define(), Permission.objects.values("codename"), 1)

        assert len(found["rows"]) == 2
        assert found["total"] > 2


class TestArgument:
    def test_argument_is_added(self):
        tool = define()

        properties = function_schema(tool)["function"]["parameters"]["properties"]
        assert properties["page"] == {"type": "integer", "minimum": 1, "default": 1}
        assert split_page(tool, validate_arguments(tool, {"page": 2})) == (
            {"prefix": ""},
            2,
        )

    def test_argument_to_a_given_schema_too(self):
        tool = define(schema={"properties": {}})

        assert split_page(tool, validate_arguments(tool, {"page": 2})) == ({}, 2)

    def test_argument_not_if_the_function_has_one(self):
        def own(page: int = 1) -> list[int]:
            return []

        tool = define(own)

        assert split_page(tool, validate_arguments(tool, {})) == ({"page": 1}, 1)
        assert paginate(tool, [1, 2, 3], 1) == [1, 2, 3]
