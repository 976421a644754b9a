"""Code with classes, never with styles. The colours are in `code.css`."""

from functools import cache
from html import escape
from itertools import groupby

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType

from ai_assistant.render.markdown.cache import Cache

# Only these: a lexer is a heap of patterns, run over text that anyone may have
# written.
LANGUAGES = frozenset(
    {
        *("bash", "sh", "shell", "zsh", "console", "c", "cpp", "c++", "csharp"),
        *("c#", "css", "diff", "django", "jinja", "docker", "dockerfile", "go"),
        *("html", "http", "ini", "cfg", "java", "javascript", "js", "jsx", "json"),
        *("kotlin", "makefile", "markdown", "md", "nginx", "php", "postgresql"),
        *("powershell", "py", "python", "pycon", "python3", "r", "rb", "ruby"),
        *("rs", "rust", "scss", "sql", "swift", "toml", "ts", "tsx"),
        *("typescript", "xml", "yaml", "yml"),
    }
)
MAX_CHARS = 20_000  # longer code is shown plain

_BY_TOKEN: dict[_TokenType, str] = {
    Token.Comment: "aia-c",
    Token.Comment.Preproc: "aia-k",
    Token.Keyword: "aia-k",
    Token.Operator.Word: "aia-k",
    Token.Literal.String: "aia-s",
    Token.Literal.Number: "aia-m",
    Token.Keyword.Constant: "aia-m",
    Token.Name.Function: "aia-f",
    Token.Name.Class: "aia-f",
    Token.Name.Decorator: "aia-f",
    Token.Name.Builtin: "aia-b",
    Token.Name.Exception: "aia-b",
    Token.Name.Tag: "aia-k",
    Token.Name.Attribute: "aia-f",
    Token.Name.Variable: "aia-b",
    Token.Generic.Deleted: "aia-d",
    Token.Generic.Inserted: "aia-i",
    Token.Generic.Heading: "aia-c",
    Token.Generic.Subheading: "aia-c",
    Token.Generic.Prompt: "aia-c",
    Token.Generic.Output: "aia-c",
}
CLASSES = frozenset(_BY_TOKEN.values())

_cache: Cache[tuple[str, str], str] = Cache(max_chars=1_000_000)


def highlight(code: str, language: str) -> str:
    """Return `code` as escaped HTML, with classes if the language is known."""
    language = language.lower()
    if language not in LANGUAGES or len(code) > MAX_CHARS:
        return escape(code)
    key = (language, code)
    return _cache.get(key, lambda: _highlighted(code, language))


def _highlighted(code: str, language: str) -> str:
    pieces = []
    marked = ((_class(kind), text) for kind, text in _lexer(language).get_tokens(code))
    for name, group in groupby(marked, key=lambda pair: pair[0]):
        text = escape("".join(text for _, text in group))
        pieces.append(f'<span class="{name}">{text}</span>' if name else text)
    return "".join(pieces)


@cache
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(language, stripnl=False)


@cache
def _class(kind: _TokenType) -> str:
    if kind in _BY_TOKEN or kind.parent is None:
        return _BY_TOKEN.get(kind, "")
    return _class(kind.parent)
