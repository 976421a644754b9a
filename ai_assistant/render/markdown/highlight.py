"""Highlighted code and a cache of drawn blocks. The colours are in `code.css`."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from html import escape
from itertools import groupby
from typing import Generic, TypeVar

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """
    Keeps what was used last, up to `max_chars` characters of keys and values.

    Safe to use from several threads; two may compute the same value at once.
    """

    def __init__(self, *, max_chars: int) -> None:
        self.max_chars = max_chars
        self.chars = 0
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of `key`, computed if it is not kept."""
        with self._lock:
            if (entry := self._entries.get(key)) is not None:
                self._entries.move_to_end(key)
                return entry[0]
        value = compute()
        self._keep(key, value, _chars(key) + _chars(value))
        return value

    def _keep(self, key: Key, value: Value, size: int) -> None:
        if size > self.max_chars // 4:
            return
        with self._lock:
            if key in self._entries:
                return
            self._entries[key] = value, size
            self.chars += size
            while self.chars > self.max_chars:
                _, (_, freed) = self._entries.popitem(last=False)
                self.chars -= freed


def _chars(value: object) -> int:
    if isinstance(value, str):
        return len(value) + 50  # an object has a size of its own
    if isinstance(value, tuple | list):
        return sum(_chars(item) for item in value) + 50
    return 50


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
