"""A long list, given to the model a page at a time."""

import inspect
from collections.abc import Awaitable, Mapping
from math import ceil
from typing import Any

from django.db.models import QuerySet

from ai_assistant.exceptions import ModelRetry
from ai_assistant.types import ToolDefinition

PAGE = "page"
PAGE_SCHEMA: Mapping[str, Any] = {"type": "integer", "minimum": 1, "default": 1}


def is_paged(tool: ToolDefinition) -> bool:
    """Tell whether the model may ask for a page: of a tool that has none itself."""
    if tool.display.page_size <= 0:
        return False
    return PAGE not in inspect.signature(tool.handler).parameters


def split_page(
    tool: ToolDefinition, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """Return the arguments of the function, and the page that the model asks for."""
    own = dict(arguments)
    return (own, own.pop(PAGE, 1)) if is_paged(tool) else (own, 1)


def paginate(tool: ToolDefinition, value: Any, page: int) -> Any:
    """
    Return one page of a list or a queryset, with how much there is.

    Whatever else a tool returns is not touched; what is awaited is paged then.
    Raise ModelRetry for a page that does not exist.
    """
    if not is_paged(tool):
        return value
    if inspect.iscoroutine(value):
        return _paged_later(tool, value, page)
    if not isinstance(value, list | tuple | QuerySet):
        return value
    total = value.count() if isinstance(value, QuerySet) else len(value)
    pages = max(ceil(total / tool.display.page_size), 1)
    if page > pages:
        raise ModelRetry(f"There is no page {page}: the last is {pages}.")
    first = (page - 1) * tool.display.page_size
    return {
        "rows": list(value[first : first + tool.display.page_size]),
        "total": total,
        "page": page,
        "pages": pages,
    }


async def _paged_later(tool: ToolDefinition, value: Awaitable[Any], page: int) -> Any:
    return paginate(tool, await value, page)
