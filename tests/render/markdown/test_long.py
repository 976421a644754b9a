"""A long answer: its beginning is drawn, the rest in parts of its own."""

import pytest

from ai_assistant.render.markdown import BlockStream, part_end, parts_of, render
from ai_assistant.render.markdown.stream import LINE_CHARS, OPEN_CHARS, PART_CHARS

ROW = "| 7 | A name | 12.50 |\n"
HEAD = "| id | name | price |\n|---|---|---|\n"
TABLE = HEAD + ROW * 16_000
WORDS = "Some **words** of an answer.\n\n" * 12_000
CODE = "```python\n" + "x = 1\n" * 50_000 + "```\n"
ONE_LINE = "word " * 70_000


def streamed(text, size):
    stream = BlockStream()
    drawn = {}
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
        drawn.update({one.index: one.html for one in stream.changes()})
    drawn.update({one.index: one.html for one in stream.finish()})
    return stream, [drawn[index] for index in sorted(drawn)]


@pytest.mark.broad
@pytest.mark.parametrize("text", [TABLE, WORDS, CODE, ONE_LINE])
class TestLong:
    def test_first_part_is_bounded(self, text):
        assert PART_CHARS <= part_end(text) <= PART_CHARS + LINE_CHARS

    @pytest.mark.parametrize("size", [333, 7_000, 10**6])
    def test_stream_ends_as_the_first_part(self, text, size):
        stream, blocks = streamed(text, size)

        assert stream.is_cut
        assert blocks == render(text[: part_end(text)])

    def test_end_of_the_first_part_is_known_while_it_grows(self, text):
        sizes = range(PART_CHARS + 5_000, PART_CHARS + 20_000, 77)
        ends = {part_end(text[:size]) for size in sizes}

        assert ends == {part_end(text)}

    def test_parts_are_all_of_it(self, text):
        parts = parts_of(text)

        assert len(parts) >= 3
        assert len(text) <= sum(map(len, parts)) <= len(text) + len(parts) * LINE_CHARS
        assert all(one in text for part in parts for one in part.splitlines())
        assert parts[0] == text[: part_end(text)]
        assert all(len(part) <= PART_CHARS + 2 * LINE_CHARS for part in parts)


def test_table_goes_on_as_a_table():
    first, second, *_, last = parts_of(TABLE)

    assert all(part.startswith(HEAD) for part in (second, last))
    assert "<table>" in render(second)[0]
    assert "<th>price</th>" in render(last)[0]
    assert sum(part.count(ROW) for part in parts_of(TABLE)) == TABLE.count(ROW)


def test_code_goes_on_as_code():
    assert all(part.startswith("```python\n") for part in parts_of(CODE))


def test_short_text_is_one_part():
    assert parts_of("Hello.\n") == ["Hello.\n"]
    assert parts_of("") == []


class TestOpenBlock:
    def test_end_of_a_large_one_is_plain(self):
        stream = BlockStream()
        stream.feed(HEAD + ROW * (OPEN_CHARS // len(ROW) + 10))
        (first,) = stream.changes()
        stream.feed("| 8 | **More** <b> | 1 |\n")
        (second,) = stream.changes()

        assert first.html.count("<tr>") > 100
        assert second.html == f"{first.html}<pre>| 8 | **More** &lt;b&gt; | 1 |\n</pre>"

    def test_open_block_is_drawn_again_when_it_has_grown(self):
        stream = BlockStream()
        stream.feed(HEAD + ROW * 400)
        stream.changes()
        stream.feed(ROW * 400)

        (again,) = stream.changes()

        assert again.html.count("<tr>") == 801
        assert "<pre>" not in again.html

    def test_next_block_is_drawn_from_its_own_beginning(self):
        stream = BlockStream()
        stream.feed(HEAD + ROW * 400)
        stream.changes()
        stream.feed("\n" + "- one\n" * 1_200)

        told = stream.changes() + stream.changes()
        html = "".join(one.html for one in told if one.index == 1)

        assert html.count("<li>") == 1_200

    def test_open_block_shows_no_more_than_the_first_part(self):
        stream = BlockStream()
        stream.feed(TABLE)
        stream.changes()
        stream.feed(ROW)

        assert stream.changes() == []


def test_marks_of_a_huge_paragraph_are_words():
    (html,) = render("**a** " * 2_000)

    assert "<strong>" not in html
    assert html.count("**a**") == 2_000
