import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.text.word_diff import (
    BRIEF_CHARS,
    CARD_CHARS,
    diff_words,
    mark_lone_value,
    marked_diff,
)
from tests.render.html.dom import parse

TEXTS = st.text("ab <&\n.", max_size=60)


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    return [tuple(piece) for piece in diff_words(before, after)]


class TestCompared:
    def test_short_values_are_replaced_as_a_whole(self):
        assert pieces("Draft", "Published") == [("del", "Draft"), ("ins", "Published")]

    def test_words_of_a_sentence_are_told_apart(self):
        before = "The quick brown fox jumps over the lazy dog."
        after = "The quick red fox jumps over the very lazy dog."

        assert pieces(before, after) == [
            ("same", "The quick "),
            ("del", "brown"),
            ("ins", "red"),
            ("same", " fox jumps over the"),
            ("ins", " very"),
            ("same", " lazy dog."),
        ]

    def test_texts_with_little_in_common_are_replaced(self):
        before, after = "one two three four five", "six seven eight nine ten five"

        assert [kind for kind, _ in pieces(before, after)] == ["del", "ins"]

    @pytest.mark.parametrize("lines", [100, 5000])
    def test_long_texts_show_the_word_that_differs(self, lines):
        old = [f"line {number} of many words" for number in range(lines)]
        new = [*old]
        new[50] = new[50].replace("many", "few")

        found = pieces("\n".join(old), "\n".join(new))

        assert [piece for piece in found if piece[0] != "same"] == [
            ("del", "many"),
            ("ins", "few"),
        ]

    @given(TEXTS, TEXTS)
    def test_lose_and_invent_nothing(self, before, after):
        found = pieces(before, after)

        assert "".join(t for kind, t in found if kind != "ins") == before
        assert "".join(t for kind, t in found if kind != "del") == after


class TestDifference:
    def test_difference_shows_the_surroundings_and_keeps_the_whole(self):
        words = " ".join(f"w{n}" for n in range(400))

        shown = marked_diff(words, words.replace("w200 ", "other "))

        brief = parse(shown.brief).text()
        assert brief.startswith("… w192")
        assert brief.endswith("w208 …")
        assert parse(shown.whole).text().startswith("w0 w1 ")
        assert "<del>w200</del><ins>other</ins>" in shown.whole

    def test_difference_shows_a_line_break_that_comes(self):
        before = "One sentence of some words. Another one of some words."
        after = before.replace(". A", ".\nA")

        assert "¶" in marked_diff(before, after).brief

    def test_difference_escapes(self):
        shown = marked_diff("<script>a</script>", "<script>b</script> & more")

        tags = {node.tag for node in parse(shown.brief).elements()}
        assert tags == {"del", "ins"}
        assert "<script>a" in parse(shown.brief).text()


LONG = "".join(f"Sentence {n} of many. " for n in range(50_000))  # more than 1 MB


class TestLong:
    """A text that a card has no room for is cut, and the card says by how much."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("", LONG),
            (LONG, ""),
            (LONG, LONG.replace("Sentence", "Phrase")),
            (LONG, LONG.replace(" ", "\u00a0")),
            ("a\u200b" * 500_000, "b\u200b" * 500_000),
            ("x" * 1_000_000, "y" * 1_000_000),
            ("\n" * 500_000, "\n " * 500_000),
            (LONG, LONG[::-1]),
        ],
    )
    def test_card_stays_small(self, before, after):
        shown = marked_diff(before, after)

        assert len(parse(shown.brief).text()) < 10 * BRIEF_CHARS
        assert shown.whole == ""
        assert shown.more > 0

    def test_every_character_is_shown_or_counted(self):
        shown = marked_diff("Something short of its own", LONG)

        come = [*parse(shown.brief).elements()][-1].text().removesuffix(" …")
        assert LONG.startswith(come)
        assert len(come) + shown.more == len(LONG)

    def test_words_of_two_lines(self):
        lines = [f"Line {n} of many. " + "Words. " * 1000 for n in range(100)]
        before = "\n".join(lines)

        after = before.replace("Line 9 ", "Row 9 ").replace("Line 90 ", "Row 90 ")
        shown = marked_diff(before, after)

        assert shown.more > 0
        assert "Row 9 of many." in parse(shown.brief).text()
        assert "Row 90 of many." in parse(shown.brief).text()

    def test_one_changed_word(self):
        shown = marked_diff(LONG, LONG.replace("Sentence 25000 ", "Phrase 25000 "))

        assert "<del>Sentence</del><ins>Phrase</ins> 25000" in shown.brief
        assert shown.more == 0

    def test_new_text(self):
        shown = mark_lone_value(LONG)

        assert shown.more + len(shown.brief.removesuffix(" …")) == len(LONG)

    def test_fields_of_a_card_share_its_room(self):
        text = LONG[: CARD_CHARS - 100]

        assert mark_lone_value(text).whole
        assert mark_lone_value(text, among=2).more

    @pytest.mark.parametrize("lines", [10, 5000])
    def test_lose_and_invent_nothing(self, lines):
        before = "".join(f"line {n}{' word' * 700}\n" for n in range(lines))[:900_000]
        after = before.replace("line 7", "row 7").replace("line 3 word", "line 3 a")

        found = pieces(before, after)

        assert "".join(t for kind, t in found if kind != "ins") == before
        assert "".join(t for kind, t in found if kind != "del") == after
