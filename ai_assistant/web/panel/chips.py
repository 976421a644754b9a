"""The chips of a page: what the assistant sees there."""

import json
import logging
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.block import line_of
from ai_assistant.context.collect import collect_items
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.page_items import OBJECT, PAGE, page_title
from ai_assistant.context.provided import is_withheld
from ai_assistant.modules.read_only import read_only
from ai_assistant.modules.resolve import module_for
from ai_assistant.render.html.transcript.faded import faded_items
from ai_assistant.types import ContextItem, RunContext

logger = logging.getLogger("ai_assistant")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """
    One item of the page. `text` is its line in the prompt.

    The chip of an object stands for its page too: `along` is sent, or not, with it.
    """

    id: str
    title: str
    name: str = ""  # of an object: what `@name` mentions
    along: str = ""
    description: str = ""
    text: str = ""
    chars: int = 0  # that it takes of the prompt
    auto: bool = True
    error: str = ""
    faded: str = ""  # why it is told no more


@dataclass(frozen=True, kw_only=True, slots=True)
class Chips:
    """
    All items of a page; `room` is what its browser may add, in characters.

    `withheld`: no texts or values of the page's objects are sent.
    """

    items: list[Chip] = field(default_factory=list)
    room: int = 0
    withheld: bool = False


def chips_of(context: RunContext) -> Chips:
    """Return the chips of the page of `context`. Asks the database."""
    try:
        items = collect_items(context).items
    except Exception as error:  # code of the site: its ModelAdmin, its __str__
        logger.exception("the page %r could not be described", context.page_path)
        items = [_unknown_page(error)]
    left = conf.CONTEXT_CHARS
    chips = []
    faded = faded_items(items, context)
    for item in items:
        size = 0 if item.error else len(line_of(item))
        fits = size <= left
        chip = _chip(item, size, fits=fits)
        chips.append(replace(chip, faded=faded.get(item.id, "")))
        left -= size if fits and item.auto and item.id not in faded else 0
    page = find_page(context.page_path)
    return Chips(
        items=_together(chips, page),
        room=min(left, conf.BROWSER_CONTEXT_CHARS),
        withheld=page is not None and is_withheld(page),
    )


def looks_only(context: RunContext) -> bool:
    """Return whether nothing can be changed from the page of `context` at all."""
    found = read_only(module_for(context.page, context.user), context)
    return found is not None and found.is_of_all


def why_read_only(context: RunContext) -> str:
    """Return the sentence that says why nothing may be changed there, or nothing."""
    found = read_only(module_for(context.page, context.user), context)
    return found.banner if found else ""


def _together(chips: list[Chip], page: SitePage | None) -> list[Chip]:
    """Return the chips with one for page and object, as “User: admin”."""
    by_id = {chip.id: chip for chip in chips}
    of_page, opened = by_id.get(PAGE), by_id.get(OBJECT)
    if page is None or of_page is None or opened is None:
        return chips
    if of_page.error or opened.error:
        return chips
    kind = capfirst(page_title(page))
    is_named = opened.name.casefold().startswith(kind.casefold())
    both = replace(
        opened,
        title=opened.title if is_named else f"{kind}: {opened.name}",
        along=PAGE,
        text=f"{of_page.text}\n{opened.text}",
        chars=of_page.chars + opened.chars,
    )
    return [both if chip is opened else chip for chip in chips if chip is not of_page]


def _chip(item: ContextItem, size: int, *, fits: bool) -> Chip:
    error = item.error or ("" if fits else _("It is too large."))
    if error.isidentifier():  # of an exception, for whoever wrote the code
        error = _("It could not be read (%(error)s).") % {"error": error}
    return Chip(
        id=item.id,
        title=capfirst(item.title or item.description or item.id),
        name=item.title if item.id == OBJECT else "",
        description=item.description,
        text=readable(item.value),
        chars=size,
        auto=item.auto,
        error=error,
    )


def readable(value: Any) -> str:
    """Return a value as a person reads it; nothing is left out."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)


def _unknown_page(error: Exception) -> ContextItem:
    return ContextItem(
        id=PAGE,
        description=_("The page of the user."),
        title=_("This page"),
        error=type(error).__name__,
    )
