"""Collect the context items of a page, in the order of the prompt."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.opened import may_open, opened_object
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.page_items import (
    OBJECT,
    PAGE,
    list_items,
    object_item,
    page_item,
    page_title,
)
from ai_assistant.context.provided import (
    ask_provider,
    failed_item,
    is_withheld,
    providers_of,
    without_texts,
)
from ai_assistant.safety.bulkhead import (
    Bulkhead,
    BulkheadFull,
    CodeTimedOut,
    thread_of_site_code,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import ContextItem, ContextProvider, RunContext

logger = logging.getLogger("ai_assistant")

# As many as may hang; the bulkhead limits how many work at once.
_providers = ThreadPoolExecutor(max_workers=256, thread_name_prefix="aia-context")
_bulkhead = Bulkhead()
OWN_PAGES = "ai_assistant"  # namespace of the assistant's own: nothing is seen there


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptChips:
    """The person's choice of chips: ids dropped, titles mentioned, own items."""

    dropped: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    browser: tuple[ContextItem, ...] = ()


@dataclass(kw_only=True, slots=True)
class PageItems:
    """The items of a page, with the page and its opened object."""

    page: SitePage | None = None
    opened: Any = None
    items: list[ContextItem] = field(default_factory=list)


def collect_items(
    context: RunContext, browser: Iterable[ContextItem] = ()
) -> PageItems:
    """
    Return all items of the page of `context`, the most important first.

    A provider that raises or takes longer than CONTEXT_S leaves an item
    with its `error`. Blocks, and asks the database.
    """
    page = find_page(context.page.path, context.page.title)
    if page is None or OWN_PAGES in page.match.app_names:
        return PageItems(items=list(browser))
    page_items = PageItems(page=page)
    user, path = context.user, page.info.path
    page_items.items += _items_or_error(
        PAGE, _("This page"), path, lambda: [page_item(page, user), *list_items(page)]
    )
    page_items.items += _items_or_error(
        OBJECT, page_title(page), path, lambda: _object_items(page_items, page, user)
    )
    if _is_open(page_items, page, user):
        page_items.items += _provided_items(page, context, page_items.opened)
    page_items.items += without_texts(browser) if is_withheld(page) else browser
    page_items.items.sort(key=lambda item: -item.priority)  # stable
    return page_items


def sent_items(items: Iterable[ContextItem], chips: KeptChips) -> list[ContextItem]:
    """Return the items to send: not dropped, and automatic or mentioned."""
    return [
        item
        for item in items
        if item.id not in chips.dropped
        and (item.auto or item.id in chips.mentioned)
        and not item.error
    ]


# --- the items of every page ---


def _items_or_error(
    item_id: str, title: str, path: str, items: Callable[[], list[ContextItem]]
) -> list[ContextItem]:
    """Return the items, or one that reports the error to its owner only."""
    try:
        return items()
    except Exception as error:  # a ModelAdmin's own code may raise anything
        logger.exception("the %s of %r could not be described", item_id, path)
        name = type(error).__name__
        return [ContextItem(id=item_id, description=title, title=title, error=name)]


def _object_items(
    page_items: PageItems, page: SitePage, user: Any
) -> list[ContextItem]:
    page_items.opened = opened_object(page, user)
    if page_items.opened is None:
        return []  # there is none, or not for this user
    return [object_item(page, user, page_items.opened)]


def _is_open(page_items: PageItems, page: SitePage, user: Any) -> bool:
    """Return whether the user may open the page: else no provider is asked."""
    return value_or(
        False,
        lambda: may_open(page, user, page_items.opened),
        "whether %r may be opened is not known",
        page.info.path,
    )


# --- what the site's code adds ---


def _provided_items(
    page: SitePage,
    context: RunContext,
    opened: Any,
) -> list[ContextItem]:
    """Ask all providers of the page; one that hangs does not delay the others."""
    until = time.monotonic() + float(conf.get("TIMEOUTS", "CONTEXT_S"))
    providers = list(providers_of(page))
    in_turn = sorted(providers, key=lambda provider: _bulkhead.hangs(_key(provider)))
    items = {
        id(provider): _ask_within_time(provider, context, opened, until)
        for provider in in_turn
    }
    return [item for provider in providers for item in items[id(provider)]]


def _ask_within_time(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,
    until: float,
) -> list[ContextItem]:
    try:
        return _bulkhead.ask(
            _providers,
            _key(provider),
            lambda: _items_of_provider(provider, context, opened),
            timeout_s=until - time.monotonic(),
        )
    except CodeTimedOut:
        logger.warning("context provider %r took too long", provider.name)
        return [failed_item(provider, _("It took too long."))]
    except BulkheadFull:
        logger.warning("context provider %r hangs, and is not called", provider.name)
        return [
            failed_item(provider, _("It hangs, and is not called until it returns."))
        ]
    except Exception as error:
        logger.exception("context provider %r failed", provider.name)
        return [failed_item(provider, type(error).__name__)]


def _key(provider: ContextProvider) -> str:
    """Return the key of a provider; two views may give theirs the same name."""
    module = getattr(provider.function, "__module__", "")
    name = getattr(provider.function, "__qualname__", "")
    return f"{provider.name} {module}.{name}"


def _items_of_provider(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,
) -> list[ContextItem]:
    with thread_of_site_code():
        return ask_provider(provider, context, opened)


def from_browser(payload: Mapping[str, Any]) -> ContextItem:
    """Return an item that the browser has sent. Nothing in it gives a permission."""
    return ContextItem(
        id=f"browser.{str(payload['id'])[:100]}",
        description=str(payload.get("description", ""))[:500],
        value=payload.get("value"),
        title=str(payload.get("label", ""))[:80],
        auto=bool(payload.get("auto", True)),
        source="browser",
        label="data",
        priority=10,
    )
