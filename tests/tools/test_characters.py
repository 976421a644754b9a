"""Text comes out whole, wherever it was cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.text.unicode import SurrogateJoiner, join_surrogates, whole_json

any_text = st.text(st.characters(exclude_categories=[]))


class TestWhole:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ""),
            ("plain", "plain"),
            ("ä\U0001f600", "ä\U0001f600"),
            ("\ud83d\ude00", "\U0001f600"),
            ("a\ud83d", "a\ufffd"),
            ("\ude00a", "\ufffda"),
            ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
            ("a\0b", "a\ufffdb"),
        ],
    )
    def test_examples(self, text, expected):
        assert join_surrogates(text) == expected

    @given(any_text)
    def test_whole_can_always_be_sent(self, text):
        told = join_surrogates(text)

        assert told.encode().decode() == told
        assert "\0" not in told
        assert join_surrogates(told) == told


class TestWholeJson:
    def test_whole_json_reaches_everything(self):
        value = {"a\0": [1, None, True, ("\ud800", {"b": 1.5})]}

        assert whole_json(value) == {"a\ufffd": [1, None, True, ["\ufffd", {"b": 1.5}]]}


class TestJoiner:
    @given(st.lists(any_text))
    def test_joiner_cuts_make_no_difference(self, pieces):
        joiner = SurrogateJoiner()

        told = "".join(joiner.add(piece) for piece in pieces) + joiner.end()

        assert told == join_surrogates("".join(pieces))

    def test_joiner_can_be_used_again(self):
        joiner = SurrogateJoiner()
        joiner.add("\ud83d")
        joiner.end()

        assert joiner.add("\ude00") + joiner.end() == "\ufffd"
