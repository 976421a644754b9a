"""What a person sends becomes text, or a sentence."""

import pytest

from ai_assistant.engine.intake.submission import clean_text
from ai_assistant.exceptions import Refused


class TestCleanText:
    @pytest.mark.parametrize(
        ("said", "kept"),
        [
            ("  Hello \n", "Hello"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("a\tb", "a\tb"),
            ("\U0001f600 ﷽ ‮x", "\U0001f600 ﷽ ‮x"),
        ],
    )
    def test_clean_text_keeps(self, said, kept):
        assert clean_text(said) == kept

    @pytest.mark.parametrize(
        ("said", "code"),
        [
            ("", "empty"),
            (" \n\t ", "empty"),
            ("x" * 100_001, "too_long"),
            ("x" * 1_000_000, "too_long"),
            ("a\x00b", "binary"),
            ("a\x1b[31mb", "binary"),
            ("a\x7fb", "binary"),
            ("a\x85b", "binary"),
            ("a\ud800b", "binary"),
        ],
    )
    def test_clean_text_refuses(self, said, code):
        with pytest.raises(Refused) as refused:
            clean_text(said)

        assert refused.value.code == code

    def test_clean_text_says_how_long_it_was(self, options):
        options(LIMITS={"MESSAGE_CHARS": 5})

        with pytest.raises(Refused, match="6 characters; at most 5"):
            clean_text("123456")

    def test_longest(self, options):
        options(LIMITS={"MESSAGE_CHARS": 5})

        assert clean_text("12345") == "12345"
