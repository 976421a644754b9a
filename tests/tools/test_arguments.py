"""What a model sent as arguments becomes an object or a sentence, never a guess."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant import ModelRetry
from ai_assistant.tools import arguments
from ai_assistant.tools.arguments import arguments_digest, parse_arguments

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)


@pytest.mark.row("L04")
class TestParsed:
    @pytest.mark.parametrize("text", ["", " ", "\n", "{}"])
    def test_nothing_is_none(self, text):
        assert parse_arguments("tool", text) == {}

    @pytest.mark.broad
    @given(st.dictionaries(texts, values))
    def test_any_object(self, value):
        assert parse_arguments("tool", json.dumps(value)) == value

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            '{"a": 1',
            '{"a": 1}}',
            '{"a": 1} {"b": 2}',
            "{'a': 1}",
            '{"a": 1,}',
            '{"a": }',
            "{a: 1}",
            '{"a": NaN}',
            '{"a": Infinity}',
            '{"a": -Infinity}',
            '{"a": 1e400}',
            '{"a": -1e400}',
            '{"a": ' + "9" * 5000 + "}",
            '{"a": 1, "a": 2}',
            '{"b": {"a": 1, "a": 1}}',
            '{"a": "\x00"}',
            '{"a": "\n"}',
            '{"a": "\\x"}',
            '{"a": "\\ud8"}',
            "\ufeff{}",
            '```json\n{"a": 1}\n```',
            "// a comment\n{}",
            "<tool>a</tool>",
            "undefined",
        ],
        ids=lambda text: text[:20].encode("unicode_escape").decode(),
    )
    def test_broken(self, text):
        with pytest.raises(ModelRetry, match="not valid JSON .*Send one JSON object"):
            parse_arguments("tool", text)

    @pytest.mark.parametrize("levels", [32, 5_000, 100_000])
    def test_too_deep(self, levels):
        text = '{"a":' + "[" * levels + "]" * levels + "}"
        with pytest.raises(ModelRetry, match="nested more than 32 levels deep"):
            parse_arguments("tool", text)

    @pytest.mark.parametrize(
        ("text", "kind"),
        [("[1]", "list"), ("1", "int"), ('"a"', "str"), ("null", "NoneType")],
    )
    def test_no_object(self, text, kind):
        with pytest.raises(ModelRetry, match=f"are a JSON {kind}"):
            parse_arguments("tool", text)

    @pytest.mark.parametrize(
        "text", ['{"a": "\\ud800"}', '{"a": ["x\\u0000"]}', '{"\\udfff": 1}']
    )
    def test_no_characters(self, text):
        with pytest.raises(ModelRetry, match="NUL or half a character"):
            parse_arguments("tool", text)

    def test_pair_of_halves_is_one(self):
        assert parse_arguments("tool", '{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}

    def test_two_megabytes(self):
        text = json.dumps({"a": "x" * 2_000_000})

        with pytest.raises(ModelRetry, match="at most 1000000"):
            parse_arguments("tool", text)

    def test_parsed_as_much_as_allowed(self):
        most = arguments.MAX_ARGUMENTS_CHARS
        text = json.dumps({"a": "x" * (most - 9)})

        assert len(text) == most
        assert len(parse_arguments("tool", text)["a"]) == most - 9

    def test_no_more_than_allowed(self, monkeypatch):
        monkeypatch.setattr(arguments, "MAX_ARGUMENTS_CHARS", 10)

        assert parse_arguments("tool", '{"a": "b"}') == {"a": "b"}
        with pytest.raises(ModelRetry, match=r"have 11 characters \(at most 10\)"):
            parse_arguments("tool", '{"a": "bc"}')


class TestDigest:
    def test_digest_is_of_the_exact_arguments(self):
        assert arguments_digest("t", {"a": 1, "b": 2}) == arguments_digest(
            "t", {"b": 2, "a": 1}
        )
        assert arguments_digest("t", {"a": 1}) != arguments_digest("t", {"a": "1"})
        assert arguments_digest("t", {"a": 1}) != arguments_digest("t", {"a": True})
        assert arguments_digest("t", {"a": 1}) != arguments_digest("u", {"a": 1})
        assert arguments_digest("t", {"a": "é"}) != arguments_digest(
            "t", {"a": "e\u0301"}
        )

    def test_digest_fits_its_column(self):
        assert len(arguments_digest("t", {})) == 64
