import pytest

from ai_assistant.tools.followups import CHARS, comparable, shown_items, texts_in

pytestmark = pytest.mark.row("S04")


class TestShownItems:
    def test_are_three_at_most(self):
        assert shown_items(list("abcd")) == ["a", "b", "c"]

    def test_are_short(self):
        assert shown_items(["x" * (CHARS + 1), "x" * CHARS]) == ["x" * CHARS]

    def test_are_no_commands(self):
        assert shown_items(["/undo", " /clear", "Undo it"]) == ["Undo it"]

    def test_are_lines_that_hide_nothing(self):
        assert shown_items(["\u202eeteleD\u202c it\u200b,\nnow", "\u200b", ""]) == [
            "eteleD it, now"
        ]

    def test_are_named_once(self):
        assert shown_items(["a", " a ", "b"]) == ["a", "b"]


class TestComparable:
    def test_texts_that_read_the_same_are_equal(self):
        assert comparable("  Pay\n ORDER\u200b \uff17") == comparable("pay order 7")

    def test_texts_anywhere_in_arguments_are_found(self):
        assert list(texts_in({"items": ["A", {"b": "C"}], "n": 1})) == ["a", "c"]
