"""Arguments that several tools on rows share, and the objects that they name."""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from django.db.models import Model, QuerySet
from pydantic import BeforeValidator, Field

from ai_assistant import conf
from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.admin_pages import Page, is_overridden
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.model_admin import (
    ID_CHARS,
    AdminAccess,
    at_object,
    check_told,
    may_enter,
)
from ai_assistant.tools.data.access.shown import changelist_rows, of_pages
from ai_assistant.tools.data.access.sites import warn_once, why_closed
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.types import RunContext

ObjectId = Annotated[str, BeforeValidator(str)]  # of any type, told as a text
Names = list[str]
PageNumber = Annotated[int, Field(ge=1)]
Filters = Annotated[
    dict[str, Any],
    Field(
        description='Django lookups: {"status": "new", "customer__name__contains": "x"}'
    ),
]


def are_enabled(context: RunContext) -> bool:
    """Tell whether the site has switched them on, and some admin lets the user in."""
    for why in why_missing(context.user):
        warn_once(why)
    return bool(conf.get("DATA_TOOLS")) and may_enter(context)


def why_missing(user: Any) -> list[str]:
    """Return why tools on rows are missing that the user should have."""
    return why_closed(user) if conf.get("DATA_TOOLS") else []


MOST_IDS = 1000
MOST_NAMED = 10
BATCH = 400  # keys in one query; SQLite's oldest limit is 999 values

Ids = Annotated[list[str | int], Field(min_length=1, max_length=MOST_IDS)]


Load = Callable[[AdminAccess, list[Any]], Iterable[Model]]


def chosen_rows(door: AdminAccess, ids: list[Any], load: Load) -> list[Model]:
    """
    Return the objects of these ids, in their order, each once, as `load` finds them.

    Raise ModelRetry if there are none or too many, or one of them is not found.
    """
    check_told(door.model)
    wanted = list(dict.fromkeys(str(one) for one in ids))
    if not 0 < len(wanted) <= MOST_IDS:
        raise ModelRetry(f"Give 1 to {MOST_IDS} ids, not {len(wanted)}.")
    with wrong_values():
        keys = [_key(door, own) for own in wanted]
        found = {str(row.pk): row for row in load(door, keys)}
        own_ids = [str(key) for key in keys]
        missing = [own for own in own_ids if own not in found]
    if missing:
        raise ModelRetry(
            f"There is no {door.options.verbose_name} with the id "
            f"{', '.join(repr(one) for one in missing[:MOST_NAMED])}. "
            "search_objects finds ids."
        )
    return [found[own] for own in dict.fromkeys(own_ids)]


def in_list(door: AdminAccess, keys: list[Any]) -> Iterator[Model]:
    """Yield those of the objects that the list of the admin shows."""
    return _batches(changelist_rows(door), keys)


def on_page(page: Page) -> Load:
    """Return what yields those of the objects that a page of theirs finds."""

    def load(door: AdminAccess, keys: list[Any]) -> Iterator[Model]:
        if not is_overridden(door.model_admin, "get_object"):
            yield from _batches(of_pages(door, page), keys)
            return
        for key in keys:
            there = at_object(door, key, page)
            found = there.model_admin.get_object(there.request, str(key))
            if found is not None:
                yield found

    return load


def _batches(rows: QuerySet[Any], keys: list[Any]) -> Iterator[Model]:
    for start in range(0, len(keys), BATCH):
        yield from rows.filter(pk__in=keys[start : start + BATCH])


def _key(door: AdminAccess, own: str) -> Any:
    if len(own) > ID_CHARS or join_surrogates(own) != own:
        raise ModelRetry(f"{join_surrogates(own[:MOST_NAMED])!r} is no id.")
    return door.options.pk.to_python(own)
