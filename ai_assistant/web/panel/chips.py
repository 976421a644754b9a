"""The panel's offers on a page: chips, suggestions, and what may be done there."""

import json
import logging
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.block import line_of
from ai_assistant.context.collect import collect_items
from ai_assistant.context.opened import page_request
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.page_items import PAGE
from ai_assistant.context.provided import is_withheld
from ai_assistant.context.viewparts import registered_parts
from ai_assistant.modules.read_only import read_only
from ai_assistant.modules.resolve import DEFAULT, is_page_open, module_by_id, module_for
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.types import ContextItem, PageInfo, RunContext

SHOWN = 4


def suggestions_of(context: RunContext) -> list[str]:
    """Return the suggestions of the page of `context`, the view's own first."""
    page, module = find_page(context.page_path), module_by_id(context.module)
    if not is_page_open(page, module, context.user):
        return []
    own = registered_parts(page.view, page.model_admin).suggestions if page else ()
    said = map(str, (*own, *module.suggestions))
    return list(dict.fromkeys(said))[:SHOWN]


logger = logging.getLogger("ai_assistant")


def allowed_here(context: RunContext, *, readonly: bool) -> str:
    """
    Return what is allowed on the page of `context`; empty if that is not known.

    `readonly`: nothing may be changed there. May ask the database for permissions.
    """
    try:
        page = find_page(context.page_path)
        module = module_by_id(context.module)
        if page is None or page.model_admin is None or not are_enabled(context):
            return ""
        if not is_page_open(page, module, context.user):
            return ""
        return _of_model(page, context, readonly=readonly)
    except Exception:  # code of the site: its ModelAdmin
        logger.exception("what is allowed on %r is not known", context.page_path)
        return ""


def _of_model(page: SitePage, context: RunContext, *, readonly: bool) -> str:
    admin = page.model_admin
    names = {"models": capfirst(str(admin.opts.verbose_name_plural))}
    if is_withheld(page):
        return _("%(models)s are kept from the assistant on this page.") % names
    if not admin.has_view_permission(page_request(page, context.user)):
        return ""
    if readonly:
        return _("On this page the assistant can look up %(models)s.") % names
    return (
        _(
            "On this page the assistant can look up %(models)s and propose changes to "
            "them."
        )
        % names
    )


NOT_YET = UUID(int=0)  # there is no run before the message


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """One item of the page. `text` is its line in the prompt."""

    id: str
    title: str
    description: str = ""
    text: str = ""
    chars: int = 0  # that it takes of the prompt
    auto: bool = True
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chips:
    """
    All items of a page; `room` is what its browser may add, in characters.

    `withheld`: no texts or values of the page's objects are sent.
    """

    items: list[Chip] = field(default_factory=list)
    room: int = 0
    withheld: bool = False


def page_context(user: Any, path: str, title: str = "") -> RunContext:
    """Return what code of the site is given that looks at a page before a run."""
    page = find_page(path, title)
    info = page.info if page else PageInfo(path=path, title=title)
    module = module_for(info)
    is_open = is_page_open(page, module, user)
    return RunContext(
        user=user,
        run_id=NOT_YET,
        conversation_id=NOT_YET,
        page=info,
        module=module.id if is_open else DEFAULT.id,
    )


def chips_of(context: RunContext) -> Chips:
    """Return the chips of the page of `context`. Asks the database."""
    try:
        items = collect_items(context).items
    except Exception as error:  # code of the site: its ModelAdmin, its __str__
        logger.exception("the page %r could not be described", context.page_path)
        items = [_unknown_page(error)]
    left = conf.CONTEXT_CHARS
    chips = []
    for item in items:
        size = 0 if item.error else len(line_of(item))
        fits = size <= left
        chips.append(_chip(item, size, fits=fits))
        left -= size if fits and item.auto else 0
    page = find_page(context.page_path)
    return Chips(
        items=chips,
        room=min(left, conf.BROWSER_CONTEXT_CHARS),
        withheld=page is not None and is_withheld(page),
    )


def why_read_only(context: RunContext) -> str:
    """Return the sentence that says why nothing may be changed there, or nothing."""
    found = read_only(module_for(context.page), context)
    return found.banner if found else ""


def _chip(item: ContextItem, size: int, *, fits: bool) -> Chip:
    error = item.error or ("" if fits else _("It is too large."))
    if error.isidentifier():  # of an exception, for whoever wrote the code
        error = _("It could not be read (%(error)s).") % {"error": error}
    return Chip(
        id=item.id,
        title=capfirst(item.title or item.description or item.id),
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
