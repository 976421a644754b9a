"""
Characters that cannot be seen, or that look like others, made visible.

Whoever approves a value must see all of it. The returned HTML is escaped.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from ai_assistant.text.unicode import (
    CACHED,
    JOINERS,
    confusable_script,
    is_blank,
    is_hidden,
    is_variation_selector,
    lookalike,
)

WORD_CHARS = 100  # in which the beginning of a word is looked for
LAST_WORD = re.compile(r"\w*\Z")
FIRST_WORD = re.compile(r"\w*")


class SplitTexts(NamedTuple):
    """`head` + `old` + `tail` is the first text, with `new` it is the second."""

    head: str
    old: str
    new: str
    tail: str


def split_common_ends(first: str, second: str) -> SplitTexts:
    """Return two texts parted where they differ, between words if they have any."""
    head = _shared(first, second)
    word = LAST_WORD.search(first[max(0, head - WORD_CHARS) : head])
    head -= len(word[0]) if word else 0
    old, new = first[head:], second[head:]
    tail_chars = _shared(old[::-1], new[::-1])
    tail = old[len(old) - tail_chars :]
    word = FIRST_WORD.match(tail[:WORD_CHARS])
    tail = tail[len(word[0]) if word else 0 :]
    return SplitTexts(
        first[:head], old[: len(old) - len(tail)], new[: len(new) - len(tail)], tail
    )


def _shared(first: str, second: str) -> int:
    """Return how many characters both begin with."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


SHORT = {
    "\u00a0": "NBSP",
    "\u00ad": "SHY",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u202f": "NNBSP",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}
PLAIN_SPACE = " \n\t"
JOINED = ("So", "Sk", "Mn", "Mc", "Lo")  # emoji, and scripts that need the joiners
TAGS = range(0xE0000, 0xE0080)  # a whole second, invisible ASCII
PLAIN = re.compile(r"[\n\t\x20-\x7e]+")
WORD = re.compile(r"\w+")

NEAR_CHARS = 60  # that may change how a character looks
BEGIN_CHARS = 2_000

Mark = tuple[str, str]  # what is seen, and the title


def mark_hidden_characters(
    text: str, *, strict: bool = False, edges: bool = True
) -> SafeString:
    """
    Return `text` escaped, each hidden character in it as a labelled mark.

    With `strict` also those that a script or an emoji may need, and every letter
    that looks like a Latin one. With `edges` also spaces at the ends.
    """
    if edges and text != (inner := text.strip(" ")):
        leading = len(text) - len(text.lstrip(" "))
        marked = mark_hidden_characters(inner, strict=strict, edges=False)
        ends = _spaces(leading), _spaces(len(text) - len(inner) - leading)
        return format_html("{}{}{}", ends[0], marked, ends[1])
    if _is_plain(text, strict=strict):
        return format_html("{}", text)
    mixed = _mixed(text, strict=strict)
    runs = groupby(
        enumerate(text), lambda item: _kind(text, item[0], item[1], mixed, strict)
    )
    pieces = (
        (_piece(kind, "".join(char for _place, char in chars)),) for kind, chars in runs
    )
    return format_html_join("", "{}", pieces)


def looks_like(first: str, second: str) -> bool:
    """Return whether two different texts look the same."""
    if first == second:
        return False
    head, old, new, tail = split_common_ends(first, second)
    # What a character looks like depends on its neighbours.
    before, after = head[-NEAR_CHARS:], tail[:NEAR_CHARS]
    old, new = before + old + after, before + new + after
    return _begin_alike(old, new) and _skeleton(old) == _skeleton(new)


def _begin_alike(first: str, second: str) -> bool:
    """Return whether long texts may look alike: most differ at the beginning."""
    beginnings = [_skeleton(text[:BEGIN_CHARS]) for text in (first, second)]
    shortest = min(map(len, beginnings))
    compared = max(0, shortest - NEAR_CHARS)
    longest = max(map(len, beginnings))
    is_longer = longest > shortest + NEAR_CHARS  # than one that ends here
    return beginnings[0][:compared] == beginnings[1][:compared] and not (
        is_longer and min(len(first), len(second)) <= BEGIN_CHARS
    )


def _is_plain(text: str, *, strict: bool) -> bool:
    """Return whether there is nothing to mark, as in most texts."""
    letters = {*PLAIN.sub("", text)}
    if not letters:
        return True
    scripts = {*map(confusable_script, {*text})} - {""}
    return (
        not strict
        and len(scripts) < 2
        and not any(_is_hidden("", 0, char, strict=True) for char in letters)
        and not any(ord(char) in TAGS for char in letters)
    )


def _kind(text: str, place: int, char: str, mixed: frozenset[int], strict: bool) -> str:  # noqa: FBT001
    """Return the character if it is marked, "tag" for tag characters, else ""."""
    if ord(char) in TAGS:
        return "tag"
    if place in mixed or _is_hidden(text, place, char, strict=strict):
        return char
    return ""


def _is_hidden(text: str, place: int, char: str, *, strict: bool) -> bool:
    nature = _nature(char)
    if not nature or (char == "\r" and text[place + 1 : place + 2] == "\n"):
        return False
    return strict or nature == "hidden" or not _joins(text, place)


@lru_cache(maxsize=CACHED)
def _nature(char: str) -> str:
    """Return "hidden", "joining" for what a script or an emoji may need, or ""."""
    if char in PLAIN_SPACE:
        return ""
    if is_variation_selector(char) or char in JOINERS or char == "\u3000":
        return "joining"  # the last is the space of Chinese and Japanese
    is_space = unicodedata.category(char) == "Zs"
    return "hidden" if is_space or is_hidden(char) else ""


def _joins(text: str, place: int) -> bool:
    before = text[place - 1] if place else ""
    if not before:
        return False
    is_keycap = text[place + 1 : place + 2] == "\u20e3"
    varied = is_variation_selector(before)
    return is_keycap or varied or unicodedata.category(before) in JOINED


def _mixed(text: str, *, strict: bool) -> frozenset[int]:
    """Return the places of letters that are of another script than their word."""
    if text.isascii():
        return frozenset()
    places: set[int] = set()
    for word in WORD.finditer(text):
        if word[0].isascii():
            continue
        word_places = range(word.start(), word.end())
        scripts = {place: confusable_script(text[place]) for place in word_places}
        known = [script for script in scripts.values() if script]
        if not known:
            continue
        main = "LATIN" if "LATIN" in known else max(set(known), key=known.count)
        places |= {
            place
            for place, script in scripts.items()
            if script
            and (script != main or (strict and _passes_for_latin(text[place])))
        }
    return frozenset(places)


def _passes_for_latin(letter: str) -> bool:
    return not letter.isascii() and lookalike(letter) != letter


def _skeleton(text: str) -> str:
    """Return the text with look-alikes unified, equal for texts that look the same."""
    if PLAIN.sub("", text) or "I" in text:
        unified = "".join(map(lookalike, unicodedata.normalize("NFKC", text)))
        text = unified.translate({ord(char): _seen(char) for char in {*unified}})
    return " ".join(text.split())


def _seen(char: str) -> str:
    if char in PLAIN_SPACE or unicodedata.category(char)[0] == "Z":
        return " "
    is_hidden = ord(char) in TAGS or _is_hidden("", 0, char, strict=True)
    return "" if is_hidden else char


def _piece(kind: str, same: str) -> SafeString:
    if not kind:
        return format_html("{}", same)
    mark, title = _tags(same) if kind == "tag" else _mark(kind, same)
    return format_html(
        '<span class="aia-hidden-char" title="{}">{}</span>', title, mark
    )


@lru_cache(maxsize=CACHED)
def _mark(char: str, same: str) -> Mark:
    code = f"U+{ord(char):04X}"
    name = unicodedata.name(char, "")
    title = f"{code} {name}".strip()
    if unicodedata.category(char)[0] == "L" and not is_blank(char):
        return f"{same} {code}", title
    label = SHORT.get(char, code)
    times = f" ×{len(same)}" if len(same) > 1 else ""  # noqa: RUF001 - a sign
    return f"{label}{times}", title + times


def _tags(same: str) -> Mark:
    """Return tag characters as the ASCII text that they encode."""
    spelt = "".join(chr(ord(char) - TAGS.start) for char in same)
    spelt = "".join(char for char in spelt if char.isprintable())
    title = _("%(count)d invisible tag characters") % {"count": len(same)}
    return f"TAG {spelt}".strip(), title


def _spaces(count: int) -> SafeString:
    """Return the mark for a number of spaces at an end of a text."""
    if not count:
        return SafeString("")
    title = _("U+0020 SPACE at the end") + (f" ×{count}" if count > 1 else "")  # noqa: RUF001
    return format_html(
        '<span class="aia-hidden-char" title="{}">{}</span>', title, "␣" * min(count, 8)
    )
