"""
Patterns that name tools: a small part of regular expressions.

It is small enough that no pattern takes long, whatever it is compared with.
"""

import re
from functools import lru_cache

MAX_CHARS = 200
MOST_CHOICES = 3  # repeats and groups that one alternative may have
ALLOWED = (
    "letters, digits, '_', '-', '.', '[...]', '\\w', '\\d', '|', '(...)', and '*', "
    "'+' or '?' behind one character"
)
TOKEN = re.compile(
    r"(?P<one>\\[wd._-]|\[\^?(?:[\w.]|(?<=\w)-(?=\w))+\]|[A-Za-z0-9_.-])"
    r"|(?P<repeat>[*+?])|(?P<or>\|)|(?P<open>\()|(?P<close>\))",
    re.ASCII,
)


@lru_cache(maxsize=1024)
def pattern_error(pattern: str) -> str:
    """Return what is wrong with `pattern`, as the end of a sentence; empty if it is good."""
    if len(pattern) > MAX_CHARS:
        return f"is longer than {MAX_CHARS} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression: {error}"
    tokens = _tokens(pattern)
    if tokens is None:
        return f"holds more than a pattern may: {ALLOWED}"
    return _slow(tokens)


@lru_cache(maxsize=4096)
def fits(pattern: str, name: str) -> bool:
    """Tell whether the whole of `name` fits a pattern that has no error."""
    return re.fullmatch(pattern, name, re.ASCII) is not None


def _tokens(pattern: str) -> list[str] | None:
    """Return the kinds of the tokens of a pattern that compiles; None if one is unknown."""
    kinds: list[str] = []
    at = 0
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None:
            return None
        kinds.append(str(found.lastgroup))
        at = found.end()
    return kinds


def _slow(tokens: list[str]) -> str:
    """Return why trying the pattern may take long, if it may."""
    choices = depth = 0
    last = ""
    for kind in tokens:
        if kind == "repeat" and last != "one":
            return "repeats more than one character, which may take very long"
        if kind == "or" and depth == 0:
            choices = 0  # each alternative is tried for itself
        depth += {"open": 1, "close": -1}.get(kind, 0)
        choices += kind in ("repeat", "open")
        if choices > MOST_CHOICES:
            return f"has more than {MOST_CHOICES} repeats and groups: it may take long"
        last = kind
    return ""
