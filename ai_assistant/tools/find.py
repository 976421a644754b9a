"""Find a tool by words, on pages with too many tools to offer them all."""

import re
from collections.abc import Iterable
from operator import itemgetter

from ai_assistant.types import ToolDefinition

FIND_TOOLS = "find_tools"
MOST_FOUND = 5
WORD = re.compile(r"[^\W_]+")
SHORTEST = 3  # characters of a word that may stand for a longer one
# A hit in the name weighs more than one in the label, and that more than others.
WEIGHTS = (4, 3, 1)


def find_matching_tools(
    query: str, tools: Iterable[ToolDefinition]
) -> list[ToolDefinition]:
    """
    Return the tools that match `query`, the best first, MOST_FOUND at most.

    Its words are looked up in name, label and description; the beginning of a
    word will do, so that `orders` finds `order`.
    """
    words = words_of(query)
    scored = [(_score(words, tool), tool) for tool in tools]
    # Sorting is stable: of equals, the tools of the page itself come first.
    scored.sort(key=itemgetter(0), reverse=True)
    return [tool for score, tool in scored[:MOST_FOUND] if score]


def _score(words: set[str], tool: ToolDefinition) -> int:
    texts = (tool.name, str(tool.display.label), tool.description)
    places = [
        (weight, words_of(text)) for weight, text in zip(WEIGHTS, texts, strict=True)
    ]
    return sum(
        max(weight * likeness(word, place) for weight, place in places)
        for word in words
    )


def likeness(word: str, place: set[str]) -> int:
    """Return 2 for the word itself, 1 if one word begins with the other, else 0."""
    if word in place:
        return 2
    for other in place:
        shorter, longer = sorted((word, other), key=len)
        if len(shorter) >= SHORTEST and longer.startswith(shorter):
            return 1
    return 0


def words_of(text: str) -> set[str]:
    """Return the words of a text, in small letters."""
    return {word.casefold() for word in WORD.findall(text)}
