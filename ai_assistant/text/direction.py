"""Names within a sentence, apart from its direction: they may run the other way."""

import re

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

PAIRS = ("“”", "„“", "„”", "””", "«»", "\u2039\u203a", "「」", "『』")
QUOTES = "".join(sorted(set("".join(PAIRS))))
# Outside of tags: the mark of a hidden character has attributes.
QUOTED = re.compile(
    "<[^>]*>|"
    + "|".join(f"(?<={pair[0]})[^{QUOTES}<>]+(?={pair[1]})" for pair in PAIRS)
)


def isolate(name: object) -> SafeString:
    """Return a name, escaped, so that its direction is its own."""
    return format_html("<bdi>{}</bdi>", name)


def isolate_quoted(sentence: str) -> SafeString:
    """
    Return a sentence, escaped, in which what is quoted has a direction of its own.

    The direction that an element with `dir="auto"` takes is then that of the sentence,
    not that of a name with which it begins.
    """
    return SafeString(QUOTED.sub(_isolated, conditional_escape(sentence)))


def _isolated(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == "<" else f"<bdi>{found[0]}</bdi>"
