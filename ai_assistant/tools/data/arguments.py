"""Arguments that several tools on rows share, and the objects that they name."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from django.db.models import Model
from pydantic import BeforeValidator, Field

from ai_assistant.changes.capture.images import in_batches
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.admin_pages import Page, is_overridden
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.model_admin import (
    ID_CHARS,
    AdminAccess,
    check_writable,
)
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.tools.data.access.visibility import changelist_rows, page_rows
from ai_assistant.tools.data.errors import wrong_values

MOST_IDS = 1000
IDS_NAMED = 10
ID_HEAD_CHARS = 10

ObjectId = Annotated[str, BeforeValidator(str)]  # of any type, as a text
Ids = Annotated[list[str | int], Field(min_length=1, max_length=MOST_IDS)]
Names = list[str]
PageNumber = Annotated[int, Field(ge=1)]
Filters = Annotated[
    dict[str, Any],
    Field(
        description='Django lookups: {"status": "new", "customer__name__contains": "x"}'
    ),
]
Values = Annotated[dict[str, Any], Field(max_length=200)]
Inlines = Annotated[dict[str, list[dict[str, Any]]] | None, Field(max_length=50)]

data_tool = partial(tool, shared=True, is_enabled=are_enabled)


def chosen_rows(access: AdminAccess, ids: list[Any], page: Page) -> list[Model]:
    """
    Return the objects with these ids, in the order of the ids, without repeats.

    They are those that the list shows, if `page` is "changelist", or whose own page
    finds them. Raise ModelRetry if there are none or too many ids, or an object is
    not found.
    """
    check_writable(access)
    texts = list(dict.fromkeys(map(str, ids)))
    if not 0 < len(texts) <= MOST_IDS:
        raise ModelRetry(f"Give 1 to {MOST_IDS} ids, not {len(texts)}.")
    with wrong_values():
        keys = [_key(access, text) for text in texts]
        rows = {str(row.pk): row for row in _rows(access, keys, page)}
    missing = [str(key) for key in keys if str(key) not in rows]
    if missing:
        raise ModelRetry(
            f"There is no {access.options.verbose_name} with the id "
            f"{', '.join(map(repr, missing[:IDS_NAMED]))}. search_objects finds ids."
        )
    return [rows[key] for key in dict.fromkeys(map(str, keys))]


def _key(access: AdminAccess, text: str) -> Any:
    if len(text) > ID_CHARS or join_surrogates(text) != text:
        raise ModelRetry(
            f"{join_surrogates(text[:ID_HEAD_CHARS])!r} is not a valid id."
        )
    return access.options.pk.to_python(text)


def _rows(access: AdminAccess, keys: list[Any], page: Page) -> Iterator[Model]:
    is_list = page == "changelist"
    if not is_list and is_overridden(access.model_admin, "get_object"):
        for key in keys:
            its_page = access.at_object(key, page)
            obj = its_page.model_admin.get_object(its_page.request, str(key))
            if obj is not None:
                yield obj
        return
    rows = changelist_rows(access) if is_list else page_rows(access, page)
    for batch in in_batches(rows, keys):
        yield from batch
