import re

import pytest

from ai_assistant.render.markdown import render, split_blocks
from ai_assistant.render.markdown.highlight import CLASSES, LANGUAGES, Cache, highlight


class TestOrdinaryText:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("# One", "<h1>One</h1>"),
            ("One\n===", "<h1>One</h1>"),
            ("###### Six", "<h6>Six</h6>"),
            ("a\nb", "<p>a\nb</p>"),
            ("a  \nb", "<p>a<br>\nb</p>"),
            ("*a* __b__ ~~c~~", "<p><em>a</em> <strong>b</strong> <s>c</s></p>"),
            ("`<b>`", "<p><code>&lt;b&gt;</code></p>"),
            ("a <b>b</b> &amp; &lt;", "<p>a &lt;b&gt;b&lt;/b&gt; &amp; &lt;</p>"),
            ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
            ("3. a", '<ol start="3">\n<li>a</li>\n</ol>'),
            ("---", "<hr>"),
            (r"\*a\*", "<p>*a*</p>"),
            ("snake_case_name", "<p>snake_case_name</p>"),
        ],
    )
    def test_ordinary_text_is_commonmark(self, text, html):
        assert render(text) == [html]

    def test_task_list_has_no_form_field(self):
        assert render("- [x] a\n- [ ] b") == [
            '<ul>\n<li class="aia-task"><span class="aia-check">☑</span> a</li>\n'
            '<li class="aia-task"><span class="aia-check">☐</span> b</li>\n</ul>'
        ]

    def test_table_has_a_named_box(self):
        (html,) = render("| A | *B* |\n|--:|---|\n| 1 | 2 |")

        assert html.startswith(
            '<div class="aia-table" tabindex="0" role="region" aria-label="A, B">'
            "<table>"
        )
        assert '<th class="aia-right">A</th>' in html

    def test_code_has_its_language(self):
        (html,) = render("```python\ndef f(): ...\n```")

        assert html.startswith(
            '<div class="aia-code"><span class="aia-lang">python</span>'
            '<pre tabindex="0"><code><span class="aia-k">def</span>'
        )

    def test_unknown_language_is_plain(self):
        assert "<code>x &lt; 1\n</code>" in render("```brainfog\nx < 1\n```")[0]

    def test_definition_is_a_block_that_shows_nothing(self):
        assert render("[a]: /u\n\nsee [a]") == ["", '<p>see <a href="/u">a</a></p>']

    def test_blocks(self):
        assert len(render("# a\nb\n\n- c\n\n  d\n\n```\ne\n\nf\n```\ng")) == 5

    def test_empty_text_renders_no_block(self):
        assert render("") == []


class TestSplitBlocks:
    def test_last_is_open(self):
        blocks = split_blocks("# a\n\nb\nc")

        assert [(b.source, b.closed) for b in blocks] == [
            ("# a\n", True),
            ("b\nc", False),
        ]

    @pytest.mark.parametrize(
        "text",
        ["# a\n", "---\n", "```\na\n```\n", "a\n\n", "> a\n\n", "| a |\n|-|\n\n"],
    )
    def test_complete_is_closed(self, text):
        assert [block.closed for block in split_blocks(text)] == [True]

    @pytest.mark.parametrize(
        "text", ["# a", "a\n", "- a\n\n", "    a\n\n", "```\na\n", "[a]: /u\n"]
    )
    def test_what_may_grow_is_open(self, text):
        assert [block.closed for block in split_blocks(text)] == [False]


class TestHighlight:
    @pytest.mark.parametrize("language", sorted(LANGUAGES))
    def test_every_language_has_a_lexer(self, language):
        code = "def f(x): # <b>\n    return 'a' + 1\n\n"

        html = highlight(code, language)

        assert set(re.findall(r'class="([^"]+)"', html)) <= CLASSES
        assert "<b>" not in html

    def test_text_is_kept(self):
        assert re.sub("<[^>]+>", "", highlight("\n\n x\t= 1 \n\n", "py")) == (
            "\n\n x\t= 1 \n\n"
        )

    def test_long_code_is_plain(self):
        assert "<span" not in highlight("x = 1\n" * 5000, "py")


class TestCache:
    def test_cache_computes_once(self):
        cache: Cache[str, str] = Cache(max_chars=1000)
        calls = []

        for _ in range(2):
            assert cache.get("a", lambda: calls.append(1) or "b") == "b"

        assert calls == [1]

    def test_cache_forgets_what_was_used_last(self):
        cache: Cache[str, str] = Cache(max_chars=500)
        for key in "abcd":
            cache.get(key, lambda: "x")
        cache.get("a", lambda: "gone")
        for key in "efg":
            cache.get(key, lambda: "x")

        assert cache.chars <= 500
        assert cache.get("a", lambda: "gone") == "x"
        assert cache.get("b", lambda: "gone") == "gone"

    def test_cache_keeps_nothing_too_large(self):
        cache: Cache[str, str] = Cache(max_chars=1000)
        cache.get("a", lambda: "x" * 500)

        assert cache.chars == 0
