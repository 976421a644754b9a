import re

import pytest

from ai_assistant.render.markdown import BlockStream, split_blocks
from tests.render.markdown.judge import Judge, faults
from tests.render.markdown.texts import ORDINARY

pytestmark = pytest.mark.broad

# Every mark of this text means something, so none may ever be seen in prose.
MARKS = re.compile(r"\*|`|~~|\]\(|\[|\||(?<!\w)_|_(?!\w)|^#|^>|^\d\.|^-|===|---", re.M)
WORDS = [
    "a **bold** z",
    "a *slanted* z",
    "a ***both*** z",
    "**a *b* c** z",
    "*a **b** c* z",
    "a __bold__ and _slanted_ z",
    "a ~~lost **and** found~~ z",
    "a `code` z",
    "a ``co`de`` z",
    "**a `b` c** z",
    "a [link](https://e.example/a_(b)_c) z",
    'a [link](</u v> "t**") z',
    "a [**bold** link](/u 'it''s') z".replace("''", ""),
    "a ![picture](https://e.example/p.png) z",
    "[![p](/p.png)](/u) z",
    "# Heading **bold** z",
    "Heading\n=======\n\nz",
    "Heading\n---\n\nz",
    "- one\n- **two**\n  - three\n\nz",
    "* one\n* two\n\nz",
    "text\n- one\n- two\n\nz",
    "1. one\n2. two\n10. ten\n\nz",
    "> quote **bold**\n> more\n\nz",
    "> - a\n> - b\n\nz",
    "- [ ] a\n- [x] b\n\nz",
    "a\n\n---\n\nb\n\n***\n\nz",
    "| a | b |\n|---|:-:|\n| **c** | `d` |\n\nz",
    "text\n| a |\n| - |\n| c |\n\nz",
    "- x\n\n  | a | b |\n  |---|---|\n  | c | d |\n\nz",
    "a <https://e.example/> z",
    "[r]: https://e.example/x 'title'\n\na [r] z",
    "[r]: <https://e.example/x>\n\na [r] z",
]


def shown(text: str) -> str:
    return "\n".join(block.html for block in split_blocks(text))


class TestEveryCut:
    @pytest.mark.parametrize("text", WORDS)
    def test_no_raw_marks(self, text):
        for at in range(len(text) + 1):
            prose = Judge(shown(text[:at])).prose
            assert not MARKS.search(prose), (text[:at], prose)

    def test_no_raw_marks_in_a_long_text(self):
        for at in range(len(ORDINARY) + 1):
            html = shown(ORDINARY[:at])
            assert not MARKS.search(Judge(html).prose), (ORDINARY[:at][-60:], html)
            assert faults(html) == []

    @pytest.mark.parametrize("text", WORDS)
    def test_text_only_grows(self, text):
        before = 0
        for at in range(len(text) + 1):
            length = len(re.sub(r"\W", "", Judge(shown(text[:at])).text))
            assert length >= before - 1, text[:at]
            before = max(before, length)


class TestHalfMarks:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("a **b", "<p>a <strong>b</strong></p>"),
            ("a **b c*", "<p>a <strong>b c</strong></p>"),
            ("a *b **c", "<p>a <em>b <strong>c</strong></em></p>"),
            ("a ***b", "<p>a <em><strong>b</strong></em></p>"),
            ("a ~~b", "<p>a <s>b</s></p>"),
            ("a `b **c", "<p>a <code>b **c</code></p>"),
            ("a ``b`c", "<p>a <code>b`c</code></p>"),
            ("a [b", "<p>a b</p>"),
            ("a [b](", "<p>a b</p>"),
            ("a [b](htt", "<p>a b</p>"),
            ('a [b](/c "t', "<p>a b</p>"),
            ("a [**b](/c", "<p>a <strong>b</strong></p>"),
            ("a ![b](htt", "<p>a b</p>"),
            ("a [b][c", "<p>a b</p>"),
            ("a <https://e", "<p>a https://e</p>"),
            ("2 * 3 and a_b_c", "<p>2 * 3 and a_b_c</p>"),
            ("arr[0] and [note] z", "<p>arr[0] and [note] z</p>"),
            ("a [b](c d", "<p>a [b](c d</p>"),
            ("*a ~~b* c", "<p><em>a ~~b</em> c</p>"),
            (r"a \*b", "<p>a *b</p>"),
            ("text\n-", "<p>text</p>"),
            ("text\n1.", "<p>text</p>"),
        ],
    )
    def test_half_marks_is_closed_or_hidden(self, text, html):
        assert shown(text) == html

    def test_code_is_never_touched(self):
        html = shown("```py\n| a | **b\n[c](d")

        assert "| a | **b\n[c](d" in Judge(html).text

    def test_header_of_a_table_is_a_table(self):
        assert "<th>a</th>" in shown("| a | b")

    def test_half_marks_marks_of_a_closed_block_are_the_writers_own(self):
        assert shown("a **b\n\nc") == "<p>a **b</p>\n<p>c</p>"

    def test_open_code_has_no_colours_yet(self):
        stream = BlockStream()
        stream.feed("```py\nx = 1\n")
        before = stream.changes()[0].html
        stream.feed("```\n")

        assert "aia-m" not in before
        assert "aia-m" in stream.changes()[0].html
