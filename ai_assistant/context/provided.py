"""What the site's own code adds to a page: its providers, and what they return."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ai_assistant.context.page import Page
from ai_assistant.context.plain import plain
from ai_assistant.context.viewparts import parts_of
from ai_assistant.registry import registry
from ai_assistant.types import ContextItem, ContextProvider, RunContext


def providers_of(page: Page) -> Iterator[ContextProvider]:
    """Yield the providers of the page: the site's, then those of its view."""
    info = page.info
    # The label of an app may have capitals, and so may what a provider says.
    label = f"{info.app_label}.{info.model_name}".lower() if info.model_name else ""
    for provider in registry.contexts().values():
        if provider.model and provider.model.lower() != label:
            continue
        if provider.view and provider.view not in (info.action, info.view_name):
            continue
        yield provider
    for number, function in enumerate(parts_of(page.view, page.model_admin).context):
        name = getattr(function, "__name__", "") or f"view-{number}"
        yield ContextProvider(name=f"view.{name}", function=function)


def provided(
    provider: ContextProvider,
    context: RunContext,
    opened: Any,  # noqa: ANN401
) -> list[ContextItem]:
    """
    Ask the provider; return its items.

    Raises what its code raises, and TypeError or ValueError if its value has no
    JSON form.
    """
    value = (
        provider.function(context, opened)
        if _takes_object(provider.function)
        else provider.function(context)
    )
    if provider.convert is not None:
        value = provider.convert(value)
    return [_item(provider, one, number) for number, one in _each(value)]


def failed(provider: ContextProvider, error: str) -> ContextItem:
    """Return the item that tells its owner why the value is missing."""
    return ContextItem(
        id=provider.name,
        description=provider.description or provider.name,
        title=provider.title or provider.name,
        error=error,
    )


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
            value=plain(value.value),
            source="server",
        )
    return ContextItem(
        id=own_id,
        description=provider.description or provider.name,
        value=plain(value),
        title=provider.title,
        auto=provider.auto,
        priority=provider.priority,
    )


def _takes_object(function: Callable[..., Any]) -> bool:
    return len(inspect.signature(function).parameters) > 1
