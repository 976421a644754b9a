"""All that is known of a page, in the order in which the model is told."""

import inspect
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connections
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.opened import (
    held_permissions,
    may_open,
    opened_object,
    summary,
)
from ai_assistant.context.page import Page, find_page
from ai_assistant.context.viewparts import parts_of
from ai_assistant.registry import registry
from ai_assistant.safety.sensitive import is_sensitive_model
from ai_assistant.types import ContextItem, ContextProvider, RunContext

logger = logging.getLogger("ai_assistant")

OBJECT_CHARS = 2000  # of the text of an object
PAGE, OBJECT = "page", "object"  # ids of the items of every page
_providers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="aia-context")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What the person kept of the chips: ids dropped, titles mentioned, own items."""

    dropped: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    browser: tuple[ContextItem, ...] = ()


@dataclass(kw_only=True, slots=True)
class Seen:
    """The items of a page, and what was found on the way."""

    page: Page | None = None
    opened: Any = None
    items: list[ContextItem] = field(default_factory=list)


def see(context: RunContext, browser: Iterable[ContextItem] = ()) -> Seen:
    """
    Return all items of the page of `context`, the most important first.

    A provider that raises or takes longer than CONTEXT_TIMEOUT_S leaves an item
    with its `error`. Blocks, and asks the database.
    """
    page = find_page(context.page.path, context.page.title)
    if page is None:
        return Seen(items=list(browser))
    seen = Seen(page=page)
    seen.items += _page_items(page, context.user)
    if page.model_admin is not None and page.info.object_id:
        seen.items += _object_items(seen, page, context.user)
    if _is_open(seen, page, context.user):
        until = time.monotonic() + float(conf.get("CONTEXT_TIMEOUT_S"))
        for provider in _of_page(page):
            seen.items += _asked(provider, context, seen.opened, until)
    seen.items += browser
    seen.items.sort(key=lambda item: -item.priority)  # stable
    return seen


def chosen(items: Iterable[ContextItem], kept: Kept) -> list[ContextItem]:
    """Return the items that are sent: kept, and automatic or mentioned."""
    return [
        item
        for item in items
        if item.id not in kept.dropped
        and (item.auto or item.id in kept.mentioned)
        and not item.error
    ]


# --- the items of every page ---


def _page_items(page: Page, user: Any) -> list[ContextItem]:  # noqa: ANN401
    try:
        return [_page_item(page, user)]
    except Exception as error:  # a ModelAdmin's own code may raise anything
        logger.exception("the page %r could not be described", page.info.path)
        return [_broken(PAGE, _("This page"), error)]


def _object_items(seen: Seen, page: Page, user: Any) -> list[ContextItem]:  # noqa: ANN401
    try:
        seen.opened = opened_object(page, user)
        if seen.opened is None:
            return []  # gone, or not for this user
        return [_object_item(page, user, seen.opened)]
    except Exception as error:
        logger.exception("the object of %r could not be read", page.info.path)
        return [_broken(OBJECT, page_title(page), error)]


def _is_open(seen: Seen, page: Page, user: Any) -> bool:  # noqa: ANN401
    """Tell whether the user may open the page: else no provider is asked."""
    try:
        return may_open(page, user, seen.opened)
    except Exception:
        logger.exception("whether %r may be opened is not known", page.info.path)
        return False


def _broken(item_id: str, title: str, error: Exception) -> ContextItem:
    """Return the item that tells its owner, and nobody else, what went wrong."""
    name = type(error).__name__
    return ContextItem(id=item_id, description=title, title=title, error=name)


def _page_item(page: Page, user: Any) -> ContextItem:  # noqa: ANN401
    info = page.info
    said: dict[str, Any] = {
        "path": info.path,
        "title": info.title,
        "view": info.view_name,
        "arguments": dict(info.arguments),
        "app": info.app_label,
        "model": info.model_name,
        "action": info.action,
        "filters": dict(info.filters),
        "search": info.search,
        "page": info.page_number,
        "language": get_language() or "",
    }
    if page.model_admin is not None:
        said["you may"] = held_permissions(page, user, None)
    return ContextItem(
        id=PAGE,
        description=describe(page),
        value={key: value for key, value in said.items() if value},
        title=page_title(page),
        priority=100,
        label="user",
    )


def describe(page: Page) -> str:
    """Return what the page is, in words."""
    info = page.info
    if page.model_admin is None:
        words = {
            "index": _("The start page of the administration."),
            "app_list": _("The list of models of an app in the administration."),
        }
        return words.get(info.action) or _("A page of this site.")
    names = {
        "one": page.model_admin.opts.verbose_name,
        "many": page.model_admin.opts.verbose_name_plural,
    }
    words = {
        "changelist": _("The list of %(many)s in the administration."),
        "add": _("The form to add a %(one)s."),
        "change": _("The form of one %(one)s."),
        "delete": _("The confirmation before a %(one)s is deleted."),
        "history": _("The history of one %(one)s."),
    }
    return words.get(info.action, _("A page of %(many)s.")) % names


def page_title(page: Page) -> str:
    """Return the word for the page's chip."""
    if page.model_admin is not None:
        options = page.model_admin.opts
        many = page.info.action in ("changelist", "")
        return str(options.verbose_name_plural if many else options.verbose_name)
    return page.info.title or _("This page")


def _object_item(page: Page, user: Any, opened: Any) -> ContextItem:  # noqa: ANN401
    text = "" if is_sensitive_model(type(opened)) else str(opened)[:OBJECT_CHARS]
    value = {
        "id": opened.pk,
        "text": text,
        "fields": summary(page, user, opened),
        "you may": held_permissions(page, user, opened),
    }
    return ContextItem(
        id=OBJECT,
        description=_("The %(model)s that the user has opened.")
        % {"model": page.model_admin.opts.verbose_name},
        value=_plain(value),
        title=text[:80] or page_title(page),
        priority=90,
        label="data",
    )


# --- what the site's code adds ---


def _of_page(page: Page) -> Iterator[ContextProvider]:
    info = page.info
    label = f"{info.app_label}.{info.model_name}" if info.model_name else ""
    for provider in registry.contexts().values():
        if provider.model and provider.model.lower() != label:
            continue
        if provider.view and provider.view not in (info.action, info.view_name):
            continue
        yield provider
    for number, function in enumerate(parts_of(page.view, page.model_admin).context):
        name = getattr(function, "__name__", "") or f"view-{number}"
        yield ContextProvider(name=f"view.{name}", function=function)


def _asked(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,  # noqa: ANN401
    until: float,
) -> list[ContextItem]:
    left_s = max(0.0, until - time.monotonic())
    asked = _providers.submit(_told, provider, context, opened)
    try:
        return asked.result(timeout=left_s)
    except TookTooLong:
        asked.cancel()
        return [_failed(provider, _("It took too long."))]
    except Exception as error:
        logger.exception("context provider %r failed", provider.name)
        return [_failed(provider, type(error).__name__)]


def _told(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,  # noqa: ANN401
) -> list[ContextItem]:
    try:
        takes_object = _takes_object(provider.function)
        value = (
            provider.function(context, opened)
            if takes_object
            else provider.function(context)
        )
        if provider.convert is not None:
            value = provider.convert(value)
        return [_item(provider, one, number) for number, one in _each(value)]
    finally:
        _let_go_of_connections()


def _let_go_of_connections() -> None:
    for connection in connections.all(initialized_only=True):
        # In a test this is the thread of the test, in the middle of its transaction.
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


def _each(value: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
    if value is None:
        return
    is_list = isinstance(value, (list, tuple))
    if is_list and any(isinstance(one, ContextItem) for one in value):
        yield from enumerate(value)
    else:
        yield 0, value


def _item(provider: ContextProvider, value: Any, number: int) -> ContextItem:  # noqa: ANN401
    own_id = provider.name if number == 0 else f"{provider.name}-{number}"
    if isinstance(value, ContextItem):
        return replace(
            value,
            id=value.id or own_id,
            title=value.title or provider.title,
            value=_plain(value.value),
            source="server",
        )
    return ContextItem(
        id=own_id,
        description=provider.description or provider.name,
        value=_plain(value),
        title=provider.title,
        auto=provider.auto,
        priority=provider.priority,
    )


def _failed(provider: ContextProvider, error: str) -> ContextItem:
    return ContextItem(
        id=provider.name,
        description=provider.description or provider.name,
        title=provider.title or provider.name,
        error=error,
    )


def _takes_object(function: Callable[..., Any]) -> bool:
    return len(inspect.signature(function).parameters) > 1


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return `value` as plain JSON. Raise TypeError or ValueError if it has none."""
    text = json.dumps(value, cls=DjangoJSONEncoder, allow_nan=False)
    return json.loads(text)


def from_browser(said: Mapping[str, Any]) -> ContextItem:
    """Return an item that the page has told. Nothing in it gives a permission."""
    return ContextItem(
        id=f"browser.{str(said['id'])[:100]}",
        description=str(said.get("description", ""))[:500],
        value=said.get("value"),
        title=str(said.get("label", ""))[:80],
        auto=bool(said.get("auto", True)),
        source="browser",
        label="data",
        priority=10,
    )
