"""The objects that a call names by their ids."""

from typing import Annotated, Any

from django.db.models import Model
from pydantic import Field

from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.characters import whole
from ai_assistant.tools.data.access import ID_CHARS, Door, check_told
from ai_assistant.tools.data.guard import wrong_values

MOST_IDS = 1000
MOST_NAMED = 10
BATCH = 400  # keys in one query; SQLite's oldest limit is 999 values

Ids = Annotated[list[str | int], Field(min_length=1, max_length=MOST_IDS)]


def chosen_rows(door: Door, ids: list[Any]) -> list[Model]:
    """
    Return the objects of these ids, in their order, each once.

    Raise ModelRetry if there are none or too many, or the list of the admin
    does not have one.
    """
    check_told(door.model)
    wanted = list(dict.fromkeys(str(one) for one in ids))
    if not 0 < len(wanted) <= MOST_IDS:
        raise ModelRetry(f"Give 1 to {MOST_IDS} ids, not {len(wanted)}.")
    found: dict[str, Model] = {}
    with wrong_values():
        keys = [_key(door, own) for own in wanted]
        queryset = door.model_admin.get_queryset(door.request)
        for start in range(0, len(keys), BATCH):
            for row in queryset.filter(pk__in=keys[start : start + BATCH]):
                found[str(row.pk)] = row
        own_ids = [str(key) for key in keys]
        missing = [own for own in own_ids if own not in found]
    if missing:
        raise ModelRetry(
            f"There is no {door.options.verbose_name} with the id "
            f"{', '.join(repr(one) for one in missing[:MOST_NAMED])}. "
            "search_objects finds ids."
        )
    return [found[own] for own in dict.fromkeys(own_ids)]


def _key(door: Door, own: str) -> Any:  # noqa: ANN401 - of any type
    if len(own) > ID_CHARS or whole(own) != own:
        raise ModelRetry(f"{whole(own[:MOST_NAMED])!r} is no id.")
    return door.options.pk.to_python(own)
