import pytest
from hypothesis import given, settings

from ai_assistant.render.markdown import render, split_blocks
from tests.render.markdown.judge import Judge, faults
from tests.render.markdown.texts import HOSTILE, chunked, pieces, states

pytestmark = pytest.mark.broad


def links(text: str) -> list[tuple[str, str]]:
    return Judge("\n".join(render(text))).links


@pytest.mark.row("X04")
class TestHostileText:
    @pytest.mark.parametrize("size", [1, 3, 7, 64])
    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_text_is_safe_in_every_state(self, text, size):
        around = f"before **it** {text} and *after*\n\n- {text}\n\n> {text}\n"
        for source in (text, around):
            for blocks in states(pieces(source, size)):
                for html in blocks:
                    assert faults(html) == []

    @given(chunked())
    @settings(max_examples=300, deadline=None)
    def test_any_text_is_safe_in_every_state(self, chunks):
        for blocks in states(chunks):
            for html in blocks:
                assert faults(html) == []

    @pytest.mark.parametrize("text", HOSTILE)
    def test_no_address_is_fetched(self, text):
        for html in render(text):
            assert "src=" not in html.replace("src=x onerror", "")
            assert "<img" not in html

    def test_judge_sees_what_is_wrong(self):
        for html in (
            "<script>x</script>",
            "<p onclick=x>x</p>",
            '<a href="javascript:x">x</a>',
            '<a href="//evil.example">x</a>',
            '<a href="https://evil.example" target="_blank">evil.example</a>',
            '<img src="x">',
            "<p>open",
            '<p style="color:red">x</p>',
            '<p id="x">x</p>',
            "<p>a\u202eb</p>",
            "<form></form>",
        ):
            assert faults(html) != [], html


@pytest.mark.row("X04")
class TestLinks:
    @pytest.mark.parametrize(
        "href",
        [
            "javascript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "&#106;avascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "http:evil.example",
            "https:///evil.example",
            "https://good.example@evil.example",
            "https://a%00b.example",
            "mailto:a@b.example,c@d.example",
        ],
    )
    def test_refused_is_text(self, href):
        assert links(f"[x]({href})") == []
        assert Judge(render(f"[x]({href})")[0]).text == "x"

    @pytest.mark.parametrize("href", ["/admin/", "?p=2", "#top", "../x", "a/b?c=d#e"])
    def test_local_is_plain(self, href):
        assert render(f"[x]({href})") == [f'<p><a href="{href}">x</a></p>']

    @pytest.mark.parametrize("start", ["https://", "HTTP://", "//"])
    def test_foreign_shows_its_host(self, start):
        ((href, text),) = links(f"[good.example]({start}Evil.example:81/a?b)")

        assert href.lower().endswith("evil.example:81/a?b")
        assert text == "good.example evil.example:81"

    def test_host_of_other_letters_is_shown_in_punycode(self):
        ((_, text),) = links("[good.example](https://g\u043e\u043ed.example/)")

        assert text.startswith("good.example xn--")

    def test_links_address_as_text_is_not_said_twice(self):
        assert links("<https://e.example/x>") == [("https://e.example/x",) * 2]

    def test_mail_shows_its_address(self):
        assert links("[me](mailto:a@e.example?subject=b)")[0][1] == "me a@e.example"

    def test_title_is_dropped(self):
        assert "title" not in render('[x](/a "https://good.example")')[0]

    def test_image_says_its_text(self):
        assert links("![Chart](https://e.example/c.png)") == [
            ("https://e.example/c.png", "Chart e.example")
        ]

    def test_image_without_text_says_its_file(self):
        assert links("![](/media/c%20d.png)") == [("/media/c%20d.png", "c d.png")]

    def test_image_in_a_link_is_text(self):
        assert links("[![a](/b.png)](/c)") == [("/c", "a")]


class TestCharacters:
    @pytest.mark.parametrize(
        "form", ["a{}b", "`a{}b`", "```\na{}b\n```", "| a{}b |\n|-|"]
    )
    @pytest.mark.parametrize(
        "char", "\u202e\u2066\u200b\u200e\u2060\ufeff\u00ad\U000e0041\u061c\ufe01"
    )
    def test_invisible_is_removed(self, form, char):
        for text in (form.format(char), form.format(f"&#{ord(char)};")):
            html = "".join(render(text))
            assert char not in html
            assert faults(html) == []

    @pytest.mark.parametrize(
        "text", ["👩\u200d🚀", "❤\ufe0f", "\u0645\u06cc\u200c\u062e"]
    )
    def test_joiners_stay_where_scripts_need_them(self, text):
        assert render(text) == [f"<p>{text}</p>"]

    def test_joiner_in_plain_letters_is_removed(self):
        assert render("pass\u200dword") == ["<p>password</p>"]

    def test_escape_sequence_is_seen(self):
        assert render("\x1b[31mred") == ["<p>␛[31mred</p>"]

    @pytest.mark.parametrize("char", ["\x00", "\ud800"])
    def test_what_is_no_text_is_replaced(self, char):
        assert render(f"a{char}b") == ["<p>a\ufffdb</p>"]
        assert split_blocks(f"a{char}b")[0].html == "<p>a\ufffdb</p>"
