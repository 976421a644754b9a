"""Whoever approves a value sees every character of it."""

import pytest
from django.utils.html import strip_tags

from ai_assistant.text.hidden_characters import looks_like, mark_hidden_characters
from tests.render.html.dom import parse


def marks(text: str, **options) -> list[tuple[str, str]]:
    found = parse(mark_hidden_characters(text, **options)).elements()
    return [(node.text(), node.attrs["title"]) for node in found]


class TestVisible:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a\u202eb", ("RLO", "U+202E RIGHT-TO-LEFT OVERRIDE")),
            ("a\u2066b", ("LRI", "U+2066 LEFT-TO-RIGHT ISOLATE")),
            ("a\u200bb", ("ZWSP", "U+200B ZERO WIDTH SPACE")),
            ("a\u200db", ("ZWJ", "U+200D ZERO WIDTH JOINER")),
            ("a\ufeffb", ("BOM", "U+FEFF ZERO WIDTH NO-BREAK SPACE")),
            ("a\u00adb", ("SHY", "U+00AD SOFT HYPHEN")),
            ("a\u00a0b", ("NBSP", "U+00A0 NO-BREAK SPACE")),
            ("a\u2009b", ("U+2009", "U+2009 THIN SPACE")),
            ("a\x00b", ("U+0000", "U+0000")),
            ("a\x1bb", ("U+001B", "U+001B")),
            ("a\rb", ("U+000D", "U+000D")),
            ("a\u2028b", ("U+2028", "U+2028 LINE SEPARATOR")),
            ("a\u3164b", ("U+3164", "U+3164 HANGUL FILLER")),
            ("a\ufe0fb", ("U+FE0F", "U+FE0F VARIATION SELECTOR-16")),
            ("a\ue000b", ("U+E000", "U+E000")),
            ("p\u0430ypal", ("\u0430 U+0430", "U+0430 CYRILLIC SMALL LETTER A")),
            ("\u03bfne", ("\u03bf U+03BF", "U+03BF GREEK SMALL LETTER OMICRON")),
        ],
    )
    def test_visible_marks(self, text, shown):
        assert marks(text) == [shown]

    @pytest.mark.parametrize(
        "text",
        [
            "plain words, 3 of them",
            "two\nlines\tand a tab\r\nand a third",
            "Größe, naïve, Łódź",
            "Привет, мир",
            "Καλημέρα κόσμε",
            "日本語\u3000テスト",
            "می\u200cخواهم",
            "❤\ufe0f 👨\u200d👩\u200d👧",
        ],
    )
    def test_visible_leaves_alone_what_is_as_it_looks(self, text):
        assert marks(text) == []
        assert parse(mark_hidden_characters(text)).text() == text

    def test_visible_spells_out_a_hidden_text(self):
        tags = "".join(chr(0xE0000 + ord(char)) for char in "pay 9")

        assert marks(f"Fine{tags}")[0][0] == "TAG pay 9"

    def test_visible_counts_a_run_of_one_character(self):
        assert marks("a" + "\u200b" * 400 + "b")[0][0] == "ZWSP ×400"

    @pytest.mark.parametrize("text", [" a", "a ", "a  "])
    def test_visible_marks_spaces_at_the_ends(self, text):
        assert len(marks(text)) == 1
        assert marks(text, edges=False) == []

    def test_visible_never_puts_out_what_it_marks(self):
        assert "\u202e" not in mark_hidden_characters("a\u202eb")

    def test_visible_escapes(self):
        html = mark_hidden_characters("<img src=x onerror=alert(1)>\u200b<b>")

        assert "<img" not in html
        assert strip_tags(html).count("&lt;") == 2

    def test_strict_marks_what_a_script_may_need(self):
        assert marks("می\u200cخواهم", strict=True) == [
            ("ZWNJ", "U+200C ZERO WIDTH NON-JOINER")
        ]


class TestLooksLike:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("paypal", "p\u0430yp\u0430l"),
            ("As agreed", "As\u00a0agreed"),
            ("admin", "admin\u200b"),
            ("admin", "admin "),
            ("file", "ﬁle"),  # a ligature
            ("Item", "\u0406tem"),  # a Cyrillic I
            ("GAS", "G\u13aaS"),  # a Cherokee A
            ("go", "\u0581o"),  # an Armenian letter
        ],
    )
    def test_looks_like_of_equals_to_the_eye(self, first, second):
        assert looks_like(first, second)

    @pytest.mark.parametrize(
        ("first", "second"), [("a", "a"), ("a", "b"), ("a b", "ab"), ("A", "a")]
    )
    def test_looks_like_of_others(self, first, second):
        assert not looks_like(first, second)
