"""Whatever a tool returns or raises is one clear result."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils.translation import gettext_lazy

from ai_assistant import ModelRetry, ToolFailed, ToolResult
from ai_assistant.tools.result import (
    STORED_CHARS,
    cut_result,
    from_exception,
    from_value,
    permission_denied_result,
    storable_result,
    text_for_model,
)


class TestFromValue:
    @pytest.mark.parametrize(
        ("value", "data"),
        [
            (None, None),
            ("text", "text"),
            ({"a": [1, True, None]}, {"a": [1, True, None]}),
            ((1, 2), [1, 2]),
            (date(2026, 1, 2), "2026-01-02"),
            (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00Z"),
            (timedelta(days=1), "P1DT00H00M00S"),
            (Decimal("1.50"), "1.50"),
            (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            (gettext_lazy("text"), "text"),
            ({1: "a"}, {"1": "a"}),
            (ToolResult(ok=True, data=Decimal("1.5")), "1.5"),
        ],
    )
    @pytest.mark.row("T25")
    def test_from_value_becomes_plain_json(self, value, data):
        result = from_value("tool", value)

        assert (result.ok, result.data) == (True, data)
        json.dumps(result.data)

    def test_result_of_its_own_is_kept(self):
        own = ToolResult(ok=False, error="No.", error_type="mine", suggestion="Ask.")

        assert from_value("tool", own) == own

    @pytest.mark.parametrize(
        "value",
        [
            object(),
            {1, 2},
            b"bytes",
            float("nan"),
            [float("inf")],
            {"a": lambda: 1},
            {(1, 2): 3},
            ToolResult(ok=True, data=object()),
        ],
        ids=lambda value: re.sub(r"0x[0-9a-f]+", "", repr(value)),
    )
    def test_from_value_without_a_json_form(self, value):
        result = from_value("tool", value)

        assert (result.ok, result.error_type) == (False, "bad_result")
        assert result.error == (
            "Tool “tool” returned a value that is not JSON serializable."
        )

    def test_from_value_that_holds_itself(self):
        loop = []
        loop.append(loop)

        assert from_value("tool", loop).error_type == "bad_result"

    def test_too_deep(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]

        assert from_value("tool", deep).error_type == "bad_result"

    def test_too_large_for_a_row(self):
        result = from_value("tool", {"a": "x" * (2 * STORED_CHARS)})

        assert result.ok
        assert len(result.data) == STORED_CHARS


WRONGLY = "The assistant asked for this wrongly, and was told why."


class TestFromException:
    @pytest.mark.parametrize(
        ("raised", "expected"),
        [
            (
                ModelRetry("Which?"),
                ToolResult(
                    ok=False, error="Which?", error_type="retry", summary=WRONGLY
                ),
            ),
            (
                ToolFailed("No.", suggestion="Ask."),
                ToolResult(
                    ok=False, error="No.", error_type="failed", suggestion="Ask."
                ),
            ),
            (
                ValidationError({"name": ["Too long."], "age": ["Too old."]}),
                ToolResult(
                    ok=False, error="Too long. Too old.", error_type="validation"
                ),
            ),
            (
                get_user_model().DoesNotExist("No such user."),
                ToolResult(
                    ok=False,
                    error="No such user.",
                    error_type="not_found",
                    summary="What the assistant looked for does not exist.",
                ),
            ),
            (PermissionDenied("secret"), permission_denied_result("tool")),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_from_exception_that_is_meant_to_be_read(self, raised, expected):
        assert from_exception("tool", raised) == expected

    @pytest.mark.parametrize(
        "raised", [RuntimeError("secret"), KeyError("secret"), SystemExit("secret")]
    )
    def test_from_exception_that_is_not(self, raised):
        result = from_exception("tool", raised)

        assert "secret" not in str(result)
        assert type(raised).__name__ in result.error
        assert result.error_type == "exception"


class TestTextForModel:
    def test_text_as_it_is(self):
        assert text_for_model(ToolResult(ok=True, data="Hä?")) == "Hä?"

    def test_data_as_json(self):
        assert text_for_model(ToolResult(ok=True, data={"ä": 1})) == '{"ä": 1}'

    def test_error_as_an_object(self):
        failed = ToolResult(ok=False, error="No.", error_type="failed")

        assert json.loads(text_for_model(failed)) == {
            "ok": False,
            "error": "No.",
            "error_type": "failed",
        }

    @pytest.mark.row("T09")
    def test_success_tells_what_was_done_and_changed(self):
        changed = {"model": "shop.order", "id": 1, "text": "Order 1"}
        done = ToolResult(ok=True, message="Paid.", data=[1], changed=(changed,))

        assert json.loads(text_for_model(done)) == {
            "ok": True,
            "message": "Paid.",
            "data": [1],
            "changed": [changed],
        }

    @pytest.mark.row("T09")
    def test_failure_tells_what_to_do(self):
        failed = ToolResult(
            ok=False,
            error="No.",
            error_type="retry",
            suggestion="Ask.",
            schema_hint={"required": ["id"]},
        )

        assert json.loads(text_for_model(failed)) == {
            "ok": False,
            "error": "No.",
            "error_type": "retry",
            "suggestion": "Ask.",
            "schema_hint": {"required": ["id"]},
        }

    def test_long_result_is_cut_and_says_so(self):
        text = text_for_model(ToolResult(ok=True, data="x" * 40_000))

        assert text.startswith("x" * 32_000 + "\n[cut: 32000 of 40000 characters")


class TestCut:
    def test_cut_leaves_what_fits(self):
        assert cut_result("x" * 32_000) == "x" * 32_000


class TestStorable:
    def test_storable_makes_all_texts_whole(self):
        result = storable_result(
            ToolResult(
                ok=False,
                data={"a\0": ["\ud800"]},
                error="\ud83d\ude00\0",
                error_type="t\0",
                suggestion="\udfff",
            )
        )

        assert result == ToolResult(
            ok=False,
            data={"a\ufffd": ["\ufffd"]},
            error="\U0001f600\ufffd",
            error_type="t\ufffd",
            suggestion="\ufffd",
        )

    def test_storable_makes_lazy_texts_plain(self):
        result = storable_result(ToolResult(ok=False, error=gettext_lazy("No.")))

        json.dumps(result.error)

    def test_storable_bounds_an_error(self):
        result = storable_result(ToolResult(ok=False, error="x" * (2 * STORED_CHARS)))

        assert len(result.error) == STORED_CHARS
