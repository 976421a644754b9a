"""What a person may mean by an `@` and a few letters: objects, pages, tools, skills."""

from collections.abc import Iterable
from operator import attrgetter

from django.utils.translation import gettext as _

from ai_assistant.configuration.setup import resolve
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.lifecycle.mentions import SKILL, TOOL
from ai_assistant.engine.lifecycle.scope import scope_of_page
from ai_assistant.tools.data.reading.pointing import (
    MOST_FOUND,
    Mention,
    find_pointed,
    mentionable_pages,
)
from ai_assistant.types import RunContext

LETTERS = 2  # from which on pages, tools and skills are looked for
MOST_NAMED = 4  # of them all, so that there is room for objects


def find_mentions(context: RunContext, text: str) -> list[Mention]:
    """
    Return what the user may mean by `text`, and may see.

    Pages, tools and skills come first: they are few, and are found by the beginning
    of a word of their names.
    """
    words = " ".join(text.split()).casefold()
    named: list[Mention] = []
    if len(words) >= LETTERS:
        every = [*_skills(context), *mentionable_pages(context), *_tools(context)]
        named = _beginning_with(words, every)[:MOST_NAMED]
    return [*named, *find_pointed(context, text)][:MOST_FOUND]


def _beginning_with(words: str, every: Iterable[Mention]) -> list[Mention]:
    """Return those with a word that begins so; those that begin so themselves first."""
    titles = [(f" {one.title.casefold()}", one) for one in every]
    matching = [(title, one) for title, one in titles if f" {words}" in title]
    matching.sort(key=lambda pair: not pair[0].startswith(f" {words}"))
    return [one for _title, one in matching]


def _skills(context: RunContext) -> list[Mention]:
    names = sorted(resolve(context).skills)
    return [Mention(id=SKILL + name, title=name, kind=_("Skill")) for name in names]


def _tools(context: RunContext) -> list[Mention]:
    tools = [
        Mention(id=TOOL + tool.name, title=str(tool.display.label), kind=_("Tool"))
        for tool in tools_of(scope_of_page(context))
    ]
    return sorted(tools, key=attrgetter("title"))
