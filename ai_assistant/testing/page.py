"""Check that the page of a test exists, and the context the test gives it."""

from collections.abc import Mapping
from difflib import get_close_matches

from django.core.exceptions import ValidationError
from django.views.generic import RedirectView

from ai_assistant.context.collect import collect_items
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.engine.lifecycle.scope import RunScope, kept_of
from ai_assistant.types import JSON

KEYS = ("browser", "mentioned", "dropped", "tools")  # as the panel sends them
ITEM_KEYS = ("id", "description", "value", "label", "auto")


def check_page_context(context: Mapping[str, JSON]) -> None:
    """Raise AssertionError for a key that no page sends, and for what is no list."""
    _check_keys("context", context, KEYS)
    for key, value in context.items():
        if not isinstance(value, list | tuple):
            raise AssertionError(  # noqa: TRY004 - a failure of the test
                f"context[{key!r}] is {value!r}. Give a list."
            )
    for item in context.get("browser", ()):
        if not isinstance(item, Mapping) or not item.get("id"):
            raise AssertionError(
                f"context['browser'] has {item!r}. Give dicts, each with an 'id'."
            )
        _check_keys(f"Item {item['id']!r} of context['browser']", item, ITEM_KEYS)


def _check_keys(place: str, data: Mapping[str, JSON], names: tuple[str, ...]) -> None:
    for key in data:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            suggestion = f" Did you mean {near[0]!r}?" if near else ""
            raise AssertionError(
                f"{place} has the key {key!r}, which no page sends.{suggestion} Use one "
                f"of: {', '.join(names)}."
            )


def check_path(path: str) -> None:
    """Raise AssertionError for a path without a page to write a message on."""
    page = find_page(path)
    if not path or (page and _is_page(page) and _has_object(page)):
        return
    if page is None or not _is_page(page):
        problem = "where the site has no page"
    else:
        name = page.model_admin.opts.verbose_name
        problem = f"but there is no {name} with the id {page.info.object_id!r}"
    raise AssertionError(
        f"path is {path!r}, {problem}. Give the address as the browser shows it, for "
        "example reverse('admin:shop_order_change', args=[order.pk])."
    )


def _is_page(page: SitePage) -> bool:
    """Return whether it is more than the admin's catch-all view."""
    if not page.is_of_admin:
        return True
    is_rest = getattr(page.view, "__name__", "") == "catch_all_view"
    view_class = getattr(page.view, "view_class", object)
    return not is_rest and not issubclass(view_class, RedirectView)


def _has_object(page: SitePage) -> bool:
    """Return whether the object of the page exists, for any user."""
    if page.model_admin is None or not page.info.object_id:
        return True
    try:
        rows = page.model_admin.model._base_manager.filter(pk=page.info.object_id)
        return bool(rows.exists())
    except (ValidationError, ValueError):
        return False


def check_ids(scope: RunScope) -> None:
    """Raise AssertionError for an item that is mentioned or dropped and not there."""
    chips = kept_of(scope.run.context)
    item_ids = [*chips.mentioned, *chips.dropped]
    if not item_ids:
        return  # the providers are asked once only
    items = [*collect_items(scope.context, chips.browser).items, *scope.items]
    existing = list(dict.fromkeys(item.id for item in items))
    for item_id in item_ids:
        if item_id not in existing:
            raise AssertionError(
                f"context mentions or drops {item_id!r}, and the page has no such "
                f"item. The page has: {', '.join(existing) or 'none'}. Items from the "
                "browser have 'browser.' before their id."
            )
