"""Sensitive objects of a page: it reports that they are open, but not their content."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ai_assistant.context.block import to_plain_json
from ai_assistant.context.page import SitePage
from ai_assistant.context.viewparts import registered_parts
from ai_assistant.registry import registry
from ai_assistant.safety.policy.sensitive import is_opted_out, is_sensitive_model
from ai_assistant.types import ContextItem, ContextProvider, RunContext

OWN_APP = "ai_assistant"
ROWS = "browser.page-rows"  # the ticked rows of a list
# What was typed into the form, and what is selected on the page.
TEXTS = frozenset({"browser.page-fields", "browser.page-selection"})


def is_withheld(page: SitePage) -> bool:
    """
    Return whether objects of the page are sensitive, or kept from the assistant.

    The start page of our own app tells of them as well.
    """
    admin = page.model_admin
    if admin is None:
        return page.is_of_admin and page.match.kwargs.get("app_label") == OWN_APP
    return _is_hidden(admin.model, admin)


def is_withheld_model(page: SitePage, model: Any) -> bool:
    """Return the same for objects that a page leads to, by its AdminSite."""
    site = page.model_admin.admin_site
    return _is_hidden(model, site._registry.get(model))


def without_texts(items: Iterable[ContextItem]) -> Iterator[ContextItem]:
    """Yield the ticked rows of a withheld page, without their text."""
    for item in items:
        if item.id == ROWS:
            yield replace(item, value=_ids_only(item.value))
        elif item.id not in TEXTS:
            yield item


def _is_hidden(model: Any, model_admin: Any) -> bool:
    return is_sensitive_model(model) or is_opted_out(model, model_admin)


def _ids_only(value: Any) -> Any:
    rows = value.get("rows") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return None
    ids = [{"id": row.get("id")} for row in rows if isinstance(row, dict)]
    return {**value, "rows": ids}


def providers_of(page: SitePage) -> Iterator[ContextProvider]:
    """Yield the providers of the page: the site's, then those of its view."""
    info = page.info
    # The label of an app may have capitals, and so may a provider's model.
    label = f"{info.app_label}.{info.model_name}".lower() if info.model_name else ""
    for provider in registry.contexts().values():
        if provider.model and provider.model.lower() != label:
            continue
        if provider.view and provider.view not in (info.action, info.view_name):
            continue
        yield provider
    for number, function in enumerate(
        registered_parts(page.view, page.model_admin).context
    ):
        name = getattr(function, "__name__", "") or f"view-{number}"
        yield ContextProvider(name=f"view.{name}", function=function)


def ask_provider(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,
) -> list[ContextItem]:
    """
    Ask the provider; return its items.

    Raises what its code raises, and TypeError or ValueError if its value has no
    JSON form.
    """
    takes_object = len(inspect.signature(provider.function).parameters) > 1
    arguments = (context, opened) if takes_object else (context,)
    value = provider.function(*arguments)
    if provider.convert is not None:
        value = provider.convert(value)
    return [_item(provider, item, n) for n, item in enumerate(_values(value))]


def failed_item(provider: ContextProvider, error: str) -> ContextItem:
    """Return the item that reports to its owner why the value is missing."""
    return ContextItem(
        id=provider.name,
        description=provider.description or provider.name,
        title=provider.title or provider.name,
        error=error,
    )


def _values(value: Any) -> Sequence[Any]:
    """Return the items of a list of ContextItems; any other value as one item."""
    is_list = isinstance(value, list | tuple)
    if is_list and any(isinstance(item, ContextItem) for item in value):
        return value  # type: ignore[no-any-return]
    return () if value is None else (value,)


def _item(provider: ContextProvider, value: Any, number: int) -> ContextItem:
    own_id = provider.name if number == 0 else f"{provider.name}-{number}"
    if isinstance(value, ContextItem):
        return replace(
            value,
            id=value.id or own_id,
            title=value.title or provider.title,
            value=to_plain_json(value.value),
            source="server",
        )
    return ContextItem(
        id=own_id,
        description=provider.description or provider.name,
        value=to_plain_json(value),
        title=provider.title,
        auto=provider.auto,
        priority=provider.priority,
        context_rounds=provider.context_rounds,
    )
