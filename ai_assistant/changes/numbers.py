"""The words of a proposal name how many objects it is for: found, and put right."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ai_assistant.changes.meta import model_of_label
from ai_assistant.changes.values import Changes

NUMBER = re.compile(r"\d[\d.,\u00a0\u202f ]*")
AFTER = " .,\u00a0\u202f"  # belongs to what follows a number

Span = tuple[int, int]


def places_of(words: str, number: int) -> Iterator[Span]:
    """Yield where `words` say `number`, also as "1,000"; not inside of a name."""
    for found in NUMBER.finditer(words):
        before = words[: found.start()]
        is_named = before.count("“") > before.count("”")
        if not is_named and re.sub(r"\D", "", found[0]) == str(number):
            yield found.start(), found.start() + len(found[0].rstrip(AFTER))


def with_total(changes: Changes, total: int) -> Changes:
    """
    Return `changes` for fewer objects: the words of title and button say so too.

    A title that does not tell the number becomes that of the button.
    """
    verb = changes.verb or changes.title
    fewer = _renumbered(verb, changes, total) or f"{verb} ({total})"
    title = _renumbered(changes.title, changes, total) or fewer
    return replace(changes, title=title, verb=fewer, total=total)


def _renumbered(words: str, changes: Changes, total: int) -> str:
    """Return `words` with the other number; empty if it is not known which it is."""
    names = _names(changes.model)
    found = list(places_of(words, changes.total))
    counting = [one for one in found if names and _follows(words, one, names[1])]
    if len(counting or found) != 1:
        return ""
    ((start, end),) = counting or found
    rest = words[end:]
    if counting and total == 1:
        rest = rest.replace(names[1], names[0], 1)
    return f"{words[:start]}{total}{rest}"


def _names(label: str) -> tuple[str, ...]:
    """Return what one object of the model is called, and what several are."""
    model: Any = model_of_label(label)
    if model is None:
        return ()
    options = model._meta  # noqa: SLF001 - Django's public Meta API
    return str(options.verbose_name), str(options.verbose_name_plural)


def _follows(words: str, place: Span, name: str) -> bool:
    return words[place[1] :].lstrip(AFTER).startswith(name)
