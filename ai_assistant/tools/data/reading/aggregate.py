"""Count and add up rows of a model, in groups."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from django.db.models import (
    Avg,
    Case,
    Count,
    DecimalField,
    DurationField,
    F,
    FloatField,
    IntegerField,
    Max,
    Min,
    QuerySet,
    Sum,
    When,
)
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.form_limits import (
    form_limited_fields,
    may_limit,
    says_itself,
)
from ai_assistant.tools.data.access.fields import list_names
from ai_assistant.tools.data.access.lookups import (
    OPAQUE,
    ORDERED,
    apply_lookups,
    split_transform,
)
from ai_assistant.tools.data.access.model_admin import AdminAccess, at_object, find_door
from ai_assistant.tools.data.access.paths import Path, find_path, unknown_path
from ai_assistant.tools.data.access.shown import changelist_rows
from ai_assistant.tools.data.access.values import object_text, short_value
from ai_assistant.tools.data.arguments import Names, are_enabled
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.rows import check_paths, hidden_rows, search_rows
from ai_assistant.types import JSON, RunContext

MOST_GROUPS = 100
MOST_NAMES = 5  # of groups, and of measures
TEXT_CHARS = 200
COUNT = "count"
# Where a ModelAdmin says by the object whether its form has an input for a field.
BY_OBJECT = ("has_change_permission", "get_readonly_fields")
Groups = Annotated[Names, Field(description="fields, as status or created_at__year")]
Measures = Annotated[
    Names, Field(description="count, or sum, avg, min, max of a field: sum:total")
]
ADDED = (IntegerField, FloatField, DecimalField, DurationField)
MEASURES: dict[str, tuple[Callable[..., Any], tuple[type, ...]]] = {
    "sum": (Sum, ADDED),
    "avg": (Avg, ADDED),
    "min": (Min, ORDERED),
    "max": (Max, ORDERED),
}


@tool(
    effect="read",
    label=_("Count"),
    label_plural=_("Counts"),
    icon="chart",
    shared=True,
    is_enabled=are_enabled,
)
def aggregate_objects(
    context: RunContext,
    model: str,
    group_by: Groups = [],
    measures: Measures = ["count"],
    filters: dict[str, Any] = {},
    search: str = "",
) -> dict[str, JSON]:
    """Count objects, or add them up, for each group; the largest groups first."""
    if max(len(group_by), len(measures)) > MOST_NAMES:
        raise ModelRetry(f"Give {MOST_NAMES} groups and {MOST_NAMES} measures at most.")
    door = find_door(context, model)
    groups = {text: _group(door, text) for text in dict.fromkeys(group_by)}
    asked = dict.fromkeys([COUNT, *measures])
    figures = {text: _measure(door, text) for text in asked}
    with wrong_values():
        rows = _plain(
            door,
            apply_lookups(
                door, search_rows(door, changelist_rows(door), search), filters
            ),
        )
        check_paths(rows, [*groups.values(), *_paths(door, asked)])
        found = _counted(rows, list(groups.values()), list(figures.values()))
    told = [_row(groups, figures, one) for one in found[:MOST_GROUPS]]
    _name_keys(groups, told)
    return {"model": door.label, "rows": told, "more": len(found) > MOST_GROUPS}


def _plain(door: AdminAccess, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the same rows without what the site has joined and counted to them."""
    there = door.model._base_manager.using(rows.db)
    return there.filter(pk__in=rows.order_by().values("pk"))


def _counted(
    rows: QuerySet[Any],
    groups: list[Path],
    figures: list[Any],
) -> list[dict[str, Any]]:
    named = {f"aia_m{number}": figure for number, figure in enumerate(figures)}
    if not groups:
        return [rows.aggregate(**named)]
    keys = {f"aia_g{number}": _key(path) for number, path in enumerate(groups)}
    table = rows.values(**keys).annotate(**named)
    ordering = ["-aia_m0", *keys]
    return list(table.order_by(*ordering)[: MOST_GROUPS + 1])


def _group(door: AdminAccess, text: str) -> Path:
    path = find_path(door, text)
    own, _name, rest = split_transform(path)
    if rest or isinstance(own, OPAQUE):
        raise unknown_path(door, text)
    if path.is_limited:
        raise hidden_rows(text)
    return path


def _key(path: Path) -> Any:
    """
    Return what the rows are grouped by; a date by its part.

    What the form does not name is one group with nothing.
    """
    _own, name, _rest = split_transform(path)
    limit = _limit(path)
    if limit is None:
        return F(name)
    return Case(When(**{f"{name}__in": limit}, then=F(name)), default=None)


def _limit(path: Path) -> Any:
    """Return what the form names of a field; None if that, or the list, is all."""
    door, own = path.door, path.field
    admin, there = door.model_admin, at_object(door, "")
    if own.name in list_names(door) or not may_limit(admin, own):
        return None
    if says_itself(admin) or is_overridden(admin, *BY_OBJECT):
        raise ModelRetry(
            f"{own.name!r} cannot be a group: the form of each object of {door.label} "
            "says what it names of it. Use filters and count."
        )
    named = form_limited_fields(admin, there.request, door.model(), [own]).get(own.name)
    if isinstance(named, QuerySet):
        key = "pk" if own.many_to_many else own.target_field.name
        return named.order_by().values(key)
    if named is None:
        return None
    return [choice for choice, _label in own.flatchoices if str(choice) in named]


def _paths(door: AdminAccess, measures: Iterable[str]) -> list[Path]:
    names = [text.partition(":")[2] for text in measures if text != COUNT]
    return [find_path(door, name) for name in names]


def _measure(door: AdminAccess, text: str) -> Any:
    if text == COUNT:
        return Count("pk", distinct=True)
    kind, _colon, name = text.partition(":")
    if kind not in MEASURES:
        raise ModelRetry(
            f"Measure {text[:100]!r} is unknown. Use count, or one of "
            f"{', '.join(MEASURES)} with a field, as sum:total."
        )
    path = find_path(door, name)
    if path.is_limited:
        raise hidden_rows(name)
    aggregate, kinds = MEASURES[kind]
    if path.rest or path.is_many or path.is_key or not isinstance(path.field, kinds):
        raise ModelRetry(f"There is no {kind} of {name[:100]!r}: it is no number.")
    return aggregate(path.name)


def _row(
    groups: dict[str, Path], figures: dict[str, Any], found: dict[str, Any]
) -> dict[str, JSON]:
    told = {
        text: short_value(found[f"aia_g{number}"], TEXT_CHARS)
        for number, text in enumerate(groups)
    }
    measured = {
        text: short_value(found[f"aia_m{number}"], TEXT_CHARS)
        for number, text in enumerate(figures)
    }
    return {"group": told, **measured} if groups else measured


def _name_keys(groups: dict[str, Path], rows: list[dict[str, JSON]]) -> None:
    """Tell with the id of a related object also what the site calls it."""
    for text, path in groups.items():
        own = path.field
        if not own.is_relation or path.rest:
            continue
        ids = [row["group"][text] for row in rows if row["group"][text] is not None]
        name = "pk" if own.many_to_many else own.target_field.name
        related = own.related_model._base_manager.filter(**{f"{name}__in": ids})
        texts = {str(getattr(one, name)): object_text(one) for one in related}
        for row in rows:
            key = row["group"][text]
            if key is not None:
                row["group"][text] = {"id": key, "text": texts.get(str(key), "")}
