import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.render.html.words import compared, difference
from tests.render.html.dom import parse

TEXTS = st.text("ab <&\n.", max_size=60)


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    return [tuple(piece) for piece in compared(before, after)]


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
    def test_shows_the_surroundings_and_keeps_the_whole(self):
        words = " ".join(f"w{n}" for n in range(400))

        shown = difference(words, words.replace("w200 ", "other "))

        brief = parse(shown.brief).text()
        assert brief.startswith("… w192")
        assert brief.endswith("w208 …")
        assert parse(shown.whole).text().startswith("w0 w1 ")
        assert "<del>w200</del><ins>other</ins>" in shown.whole

    def test_shows_a_line_break_that_comes(self):
        before = "One sentence of some words. Another one of some words."
        after = before.replace(". A", ".\nA")

        assert "¶" in difference(before, after).brief

    def test_escapes(self):
        shown = difference("<script>a</script>", "<script>b</script> & more")

        tags = {node.tag for node in parse(shown.brief).elements()}
        assert tags == {"del", "ins"}
        assert "<script>a" in parse(shown.brief).text()
