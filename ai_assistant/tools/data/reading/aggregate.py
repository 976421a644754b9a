"""Count and add up rows of a model, in groups."""

from collections.abc import Callable
from typing import Annotated, Any

from django.db import models
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.form_limits import (
    form_limited_fields,
    may_limit,
    says_itself,
)
from ai_assistant.text.unicode import short_value
from ai_assistant.tools.data.access import lookups
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.tools.data.access.values import object_text
from ai_assistant.tools.data.access.visibility import changelist_rows, list_names
from ai_assistant.tools.data.arguments import Names, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.search import check_paths, search_rows
from ai_assistant.tools.summary import model_words
from ai_assistant.types import JSON, RunContext

MOST_GROUPS = 100
MOST_NAMES = 5  # of groups, and of measures
TEXT_CHARS = 200
COUNT = "count"
# The methods of a ModelAdmin that may make a field read-only by the object.
READONLY_METHODS = ("has_change_permission", "get_readonly_fields")
Groups = Annotated[Names, Field(description="fields, e.g. status, created_at__year")]
Measures = Annotated[
    Names, Field(description="count, or sum, avg, min or max of a field: sum:total")
]
ADDED = (
    models.IntegerField,
    models.FloatField,
    models.DecimalField,
    models.DurationField,
)
MEASURES: dict[str, tuple[Callable[..., Any], tuple[type, ...]]] = {
    "sum": (models.Sum, ADDED),
    "avg": (models.Avg, ADDED),
    "min": (models.Min, lookups.ORDERED),
    "max": (models.Max, lookups.ORDERED),
}


def _summary(arguments: dict[str, Any], data: Any) -> str:
    """Return "Counted schedules: 26", or in how many groups."""
    said: dict[str, Any] = {"models": model_words(data["model"])}
    rows = data["rows"]
    if not arguments.get("group_by"):
        number = number_format(rows[0][COUNT], force_grouping=True)
        return gettext("Counted %(models)s: %(number)s") % {**said, "number": number}
    said["count"] = len(rows)
    return (
        ngettext(
            "Counted %(models)s: %(count)d group",
            "Counted %(models)s: %(count)d groups",
            len(rows),
        )
        % said
    )


@data_tool(
    effect="read",
    label=_("Count"),
    label_plural=_("Counts"),
    icon="chart",
    summary=_summary,
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
    access = find_access(context, model)
    groups = {text: _group(access, text) for text in dict.fromkeys(group_by)}
    figures = list(dict.fromkeys([COUNT, *measures]))
    aggregates = {f"aia_m{i}": _measure(access, text) for i, text in enumerate(figures)}
    measured = [text.partition(":")[2] for text in figures if text != COUNT]
    with wrong_values():
        rows = search_rows(access, changelist_rows(access), search)
        rows = lookups.apply_lookups(access, rows, filters)
        # The same rows without the site's own joins and annotations.
        unjoined = access.model._base_manager.using(rows.db)
        rows = unjoined.filter(pk__in=rows.order_by().values("pk"))
        paths = [lookups.find_path(access, name) for name in measured]
        check_paths(rows, [*groups.values(), *paths])
        if groups:
            keys = {f"aia_g{i}": _key(path) for i, path in enumerate(groups.values())}
            table = rows.values(**keys).annotate(**aggregates)
            ordered = table.order_by("-aia_m0", *keys)
            results = list(ordered[: MOST_GROUPS + 1])
        else:
            results = [rows.aggregate(**aggregates)]
    table_rows: list[dict[str, JSON]] = []
    for result in results[:MOST_GROUPS]:
        values = {key: short_value(value, TEXT_CHARS) for key, value in result.items()}
        row = {text: values[f"aia_m{i}"] for i, text in enumerate(figures)}
        group = {text: values[f"aia_g{i}"] for i, text in enumerate(groups)}
        table_rows.append({"group": group, **row} if groups else row)
    _name_keys(groups, table_rows)
    return {
        "model": access.label,
        "rows": table_rows,
        "more": len(results) > MOST_GROUPS,
    }


def _group(access: AdminAccess, text: str) -> lookups.Path:
    path = lookups.find_path(access, text)
    compared, _name, lookup = lookups.split_transform(path)
    if lookup or isinstance(compared, lookups.OPAQUE):
        raise lookups.unknown_path(access, text)
    if path.hops:
        raise lookups.hidden_rows(text)
    return path


def _key(path: lookups.Path) -> Any:
    """
    Return the expression to group by; a date by its part.

    Values that the form does not name are one group without a value.
    """
    _compared, name, _rest = lookups.split_transform(path)
    limit = _limit(path)
    if limit is None:
        return models.F(name)
    return models.Case(
        models.When(**{f"{name}__in": limit}, then=models.F(name)), default=None
    )


def _limit(path: lookups.Path) -> Any:
    """Return the values of a field that the form names; None for all."""
    access, field = path.access, path.field
    admin = access.model_admin
    if field.name in list_names(access) or not may_limit(admin, field):
        return None
    if says_itself(admin) or is_overridden(admin, *READONLY_METHODS):
        raise ModelRetry(
            f"{field.name!r} cannot be a group: the form of each object of "
            f"{access.label} decides what is shown of it. Use filters and count."
        )
    request = access.at_object("").request
    limits = form_limited_fields(admin, request, access.model(), [field])
    limit = limits.get(field.name)
    if isinstance(limit, models.QuerySet):
        key = "pk" if field.many_to_many else field.target_field.name
        return limit.order_by().values(key)
    if limit is None:
        return None
    return [choice for choice, _label in field.flatchoices if str(choice) in limit]


def _measure(access: AdminAccess, text: str) -> Any:
    if text == COUNT:
        return models.Count("pk", distinct=True)
    kind, _colon, name = text.partition(":")
    if kind not in MEASURES:
        raise ModelRetry(
            f"Measure {text[:100]!r} is unknown. Use count, or one of "
            f"{', '.join(MEASURES)} with a field, as sum:total."
        )
    path = lookups.find_path(access, name)
    if path.hops:
        raise lookups.hidden_rows(name)
    aggregate, kinds = MEASURES[kind]
    if path.lookups or path.is_many or path.is_key or not isinstance(path.field, kinds):
        raise ModelRetry(f"There is no {kind} of {name[:100]!r}: it is not a number.")
    return aggregate(path.name)


def _name_keys(groups: dict[str, lookups.Path], rows: list[dict[str, JSON]]) -> None:
    """Add the text of a related object to its id."""
    for text, path in groups.items():
        field = path.field
        if not field.is_relation or path.lookups:
            continue
        ids = [row["group"][text] for row in rows if row["group"][text] is not None]
        name = "pk" if field.many_to_many else field.target_field.name
        related = field.related_model._base_manager.filter(**{f"{name}__in": ids})
        texts = {str(getattr(obj, name)): object_text(obj) for obj in related}
        for row in rows:
            key = row["group"][text]
            if key is not None:
                row["group"][text] = {"id": key, "text": texts.get(str(key), "")}
