"""Find a tool by words, where a page has too many to tell of them all."""

import re
from collections.abc import Iterable

from ai_assistant.types import ToolDefinition

FIND_TOOLS = "find_tools"
MOST_FOUND = 5
WORD = re.compile(r"[^\W_]+")
SHORTEST = 3  # characters of a word that may stand for a longer one
# A hit in the name tells more than one in the label, and that more than the rest.
WEIGHTS = (4, 3, 1)


def find_matching_tools(
    query: str, tools: Iterable[ToolDefinition]
) -> list[ToolDefinition]:
    """
    Return the tools that `query` means, the best first, MOST_FOUND at most.

    Its words are looked for in name, label and description; the beginning of a
    word will do, so that `orders` finds `order`.
    """
    wanted = set(_words(query))
    scored = [(_score(wanted, tool), tool) for tool in tools]
    found = [(score, tool) for score, tool in scored if score]
    found.sort(key=lambda entry: -entry[0])  # stable: the page's own come first
    return [tool for _score_, tool in found[:MOST_FOUND]]


def _score(wanted: set[str], tool: ToolDefinition) -> int:
    texts = (tool.name, str(tool.display.label), tool.description)
    places = [set(_words(text)) for text in texts]
    return sum(
        max(
            weight * _likeness(word, there)
            for weight, there in zip(WEIGHTS, places, strict=True)
        )
        for word in wanted
    )


def _likeness(word: str, there: set[str]) -> int:
    if word in there:
        return 2
    return int(any(_is_like(word, other) for other in there))


def _is_like(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST and long.startswith(short)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(text)]
