"""
The objects and pages of the admin that a person points at with `@`.

Objects are found as the admin searches, and read when the model is asked.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.safety.policy.admin_pages import Page
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    find_object,
    visible_models,
)
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.tools.data.access.values import object_text
from ai_assistant.tools.data.access.visibility import changelist_rows, openable_keys
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.read import get_object
from ai_assistant.tools.data.reading.search import search_rows
from ai_assistant.types import JSON, ContextItem, RunContext

PREFIX = "object:"  # of the id of such an item: object:shop.order:42
PAGE = "page:"  # page:shop.order:changelist, page:shop.order:add
MOST_FOUND = 12
MOST_OF_MODEL = 4  # where no model is named
MOST_POINTED = 10  # of one message
TITLE_CHARS = 80
LETTERS = 3  # with which the name of a model may be begun
SEARCH_S = 0.12  # after which no further model is begun
PRIORITY = 85  # behind the object that is open


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Something that may be pointed at, as the palette offers it."""

    id: str
    title: str
    kind: str  # of an object, the name of its model


def find_pointed(context: RunContext, text: str) -> list[Mention]:
    """
    Return the objects that the user may see and that `text` may mean.

    “order 42” is searched among orders, and an id counts. Other words are searched in
    each model that has a search, for a moment, the one of the open page first.
    """
    words = " ".join(text.split())
    if not words or not are_enabled(context):
        return []
    every = visible_models(context)
    first, _space, rest = words.partition(" ")
    named = _named(every, first)
    found: list[Mention] = []
    for access in named[:MOST_OF_MODEL]:
        exact = _by_id(access, rest)
        others = _of_model(access, rest, most=MOST_FOUND)
        found += [*exact, *(one for one in others if one not in exact)]
    if found:
        return found[:MOST_FOUND]
    open_label = f"{context.page.app_label}.{context.page.model_name}"
    every.sort(key=lambda access: access.label != open_label)  # stable
    until = time.monotonic() + SEARCH_S
    for access in every:
        if access not in named:
            found += _of_model(access, words, most=MOST_OF_MODEL)
        if len(found) >= MOST_FOUND or time.monotonic() > until:
            break
    return found[:MOST_FOUND]


def pointed_items(context: RunContext, ids: Iterable[str]) -> list[ContextItem]:
    """Return where these pages are, and what the page of each object shows now."""
    pointed = sorted(one for one in ids if one.startswith((PREFIX, PAGE)))
    if not pointed or not are_enabled(context):
        return []
    return [
        _item(context, one) if is_pointed(one) else _page_item(context, one)
        for one in pointed[:MOST_POINTED]
    ]


def mentionable_pages(context: RunContext) -> list[Mention]:
    """Return the lists and the forms for new objects that the user may open."""
    if not are_enabled(context):
        return []
    return [
        Mention(id=f"{PAGE}{access.label}:{page}", title=title, kind=_("Page"))
        for access in visible_models(context)
        for page, title in model_pages(access).items()
    ]


def is_pointed(item_id: str) -> bool:
    """Return whether an id that is mentioned names an object, and no item of a page."""
    return item_id.startswith(PREFIX)


def named_object(item_id: str) -> tuple[str, str]:
    """Return the model and the key that such an id names; it may not exist."""
    model, _colon, key = item_id.removeprefix(PREFIX).partition(":")
    return model.lower(), key


def model_pages(access: AdminAccess) -> dict[Page, str]:
    """Return the titles of the pages of a model that the user may open."""
    plural = capfirst(access.options.verbose_name_plural)
    titles: dict[Page, str] = {"changelist": str(plural)}
    may_add = access.model_admin.has_add_permission
    if value_or(False, lambda: bool(may_add(access.request))):
        name = {"name": access.options.verbose_name}
        titles["add"] = _("Add %(name)s") % name
    return titles


def _named(every: list[AdminAccess], word: str) -> list[AdminAccess]:
    """Return the models of that name; else those that begin so, from three letters on."""
    said = word.casefold()
    names = {access.label: _names(access) for access in every}
    exact = [one for one in every if said in (one.label, *names[one.label])]
    if exact or len(said) < LETTERS:
        return exact
    return [
        one for one in every if any(name.startswith(said) for name in names[one.label])
    ]


def _names(access: AdminAccess) -> set[str]:
    options = access.options
    names = (options.model_name, options.verbose_name, options.verbose_name_plural)
    return {str(name).casefold() for name in names}


def _of_model(access: AdminAccess, words: str, *, most: int) -> list[Mention]:
    """Return the first objects of a model; none if its search refuses the words."""
    failed = "search of %r failed"
    none: list[Any] = []
    rows = value_or(none, lambda: _search(access, words, most), failed, access.label)
    return _offered(access, rows)


def _offered(access: AdminAccess, rows: list[Any]) -> list[Mention]:
    none: set[Any] = set()
    keys = value_or(none, lambda: openable_keys(access, rows))
    return [
        Mention(
            id=f"{PREFIX}{access.label}:{row.pk}",
            title=" ".join(object_text(row).split())[:TITLE_CHARS] or str(row.pk),
            kind=capfirst(access.options.verbose_name),
        )
        for row in rows
        if row.pk in keys
    ]


def _search(access: AdminAccess, words: str, most: int) -> list[Any]:
    try:
        with wrong_values():
            rows = search_rows(access, changelist_rows(access), words)
            # By their keys: an order of the site would have to look at all that match.
            return list(rows.order_by("pk")[:most])
    except (ModelRetry, ToolFailed):
        return []  # it has no search, or not for these words


def _by_id(access: AdminAccess, key: str) -> list[Mention]:
    if not key or " " in key:
        return []
    try:
        obj = find_object(access, key)
    except (ModelRetry, ToolFailed):
        return []
    return _offered(access, [obj])


def _page_item(context: RunContext, pointed: str) -> ContextItem:
    model, _colon, page = pointed.removeprefix(PAGE).partition(":")
    value: JSON = "not there, or not for this user to see"
    title = page
    with suppress(ModelRetry, ToolFailed):
        access = find_access(context, model)
        for name, said in model_pages(access).items():
            if name == page:
                title = said
                value = {"title": said, "path": access.at_page(name).request.path}
    return ContextItem(
        id=pointed,
        description=_("The page that the user points at."),
        value=value,
        title=title[:TITLE_CHARS],
        priority=PRIORITY,
        label="site",
    )


def _item(context: RunContext, pointed: str) -> ContextItem:
    model, key = named_object(pointed)
    value: Any
    try:
        value = get_object(context, model, key)
    except (ModelRetry, ToolFailed):
        value = "not there, or not for this user to see"
    except Exception:  # noqa: BLE001 - code of the site: its ModelAdmin
        value = "could not be read"
    kind = value_or(
        model, lambda: str(find_access(context, model).options.verbose_name)
    )
    return ContextItem(
        id=pointed,
        description=_("The %(model)s that the user points at.") % {"model": kind},
        value=value,
        title=str(value["text"])[:TITLE_CHARS] if isinstance(value, dict) else key,
        priority=PRIORITY,
        label="data",
    )
