"""Find rows of a model: the list of the admin as a tool."""

from math import ceil
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.data.access.lookups import apply_lookups
from ai_assistant.tools.data.access.model_admin import find_door
from ai_assistant.tools.data.access.shown import changelist_rows
from ai_assistant.tools.data.access.values import with_related
from ai_assistant.tools.data.arguments import Filters, Names, PageNumber, are_enabled
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.rows import (
    chosen_fields,
    order_rows,
    search_rows,
    told_rows,
)
from ai_assistant.types import JSON, RunContext

MOST_ROWS = 50  # a page
PageSize = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Ordering = Annotated[Names, Field(description="fields, with - for descending")]
Fields = Annotated[Names, Field(description="to tell; those of the list if empty")]


@tool(
    effect="read",
    label=_("Search"),
    label_plural=_("Searches"),
    icon="search",
    shared=True,
    is_enabled=are_enabled,
)
def search_objects(  # noqa: PLR0913, PLR0917 - each narrows a list
    context: RunContext,
    model: str,
    search: str = "",
    filters: Filters = {},
    ordering: Ordering = [],
    fields: Fields = [],
    page: PageNumber = 1,
    page_size: PageSize = 20,
) -> dict[str, JSON]:
    """List objects of a model, and how many there are; `search` as the admin does."""
    door = find_door(context, model)
    told = chosen_fields(door, fields)
    with wrong_values():
        found = search_rows(door, changelist_rows(door), search)
        found = apply_lookups(door, found, filters)
        total = found.count()
        pages = max(ceil(total / page_size), 1)
        if page > pages:
            raise ModelRetry(f"There is no page {page}: the last is {pages}.")
        first = (page - 1) * page_size
        rows = with_related(order_rows(door, found, ordering), told)
        there = list(rows[first : first + page_size])
    return {
        "model": door.label,
        "total": total,
        "page": page,
        "pages": pages,
        "rows": told_rows(door, there, told),
    }
