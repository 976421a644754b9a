"""Resolve names like `customer__city__icontains` to fields that the user may see."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone
from django.utils.inspect import func_supports_parameter

from ai_assistant.changes.values import currency_field
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.visibility import (
    changelist_rows,
    decides_by_object,
    is_open_field,
    limits_list,
    model_fields,
    opens_list,
)
from ai_assistant.tools.data.errors import wrong_values

MAX_DEPTH = 4  # fields in one path
PATH_CHARS = 500
SHOWN_CHARS = 100
FIELDS_NAMED = 40  # fields, in the sentence about a wrong one
MAX_FILTERS = 10
MAX_VALUES = 100  # of one `in`
VALUE_CHARS = 1000
MOST_CHOICES = 20

EQUALITY = frozenset({"exact", "in", "isnull"})
ORDER = frozenset({"gt", "gte", "lt", "lte", "range"})
TEXT = frozenset(
    {"iexact", "contains", "icontains", "startswith", "istartswith"}
    | {"endswith", "iendswith"}
)
ORDERED = (
    models.IntegerField,
    models.FloatField,
    models.DecimalField,
    models.DurationField,
    models.DateField,
    models.TimeField,
)
TEXTUAL = (models.CharField, models.TextField, models.FileField)
# These are not compared by value; not every database supports it.
OPAQUE = (models.BinaryField, models.JSONField)
DATE_PARTS = ("year", "month", "day")


# --- paths ---


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """
    A field, reached over relations, with the lookup after it.

    `hops` holds, by the relations on the way, the rows that the user may see there,
    where these are not all.
    """

    access: AdminAccess  # to the model that has the field
    relation_path: str = ""  # to that model, as Django takes it
    name: str  # of the fields only, as Django takes it
    field: Any
    lookups: tuple[str, ...] = ()  # transform and lookup
    hops: dict[str, QuerySet[Any]] = field(default_factory=dict)
    is_many: bool = False  # a row may meet several of them
    is_key: bool = False  # the id of the row or of the related one, and no object


def find_path(access: AdminAccess, text: str, value: Any = "") -> Path:
    """
    Return the path of that name.

    Each field has to be one that the user sees in the admin of its own model, and
    that this admin allows in lookups. Raise ModelRetry, in the same words whether
    there is no such field or it may not be seen.
    """
    parts = text.split(LOOKUP_SEP) if len(text) <= PATH_CHARS else []
    path = _follow(access, parts, value) if parts else None
    if path is None:
        raise unknown_path(access, text)
    return path


def unknown_path(access: AdminAccess, text: str) -> ModelRetry:
    """Return the error for a name that is not a field, or not usable in a lookup."""
    fields = [field.name for field in model_fields(access)][:FIELDS_NAMED]
    names = ", ".join(dict.fromkeys(["id", *fields]))
    text = join_surrogates(text[:SHOWN_CHARS])
    return ModelRetry(
        f"{text!r} cannot be used with {access.label!r}. Its fields are: {names}. Over "
        "a relation: field__field, if the user may see that model too."
    )


def hidden_rows(text: str) -> ModelRetry:
    """Return the error for a path that leads over rows hidden from the user."""
    return ModelRetry(
        f"{text[:100]!r} leads to objects that the user may not all see. Use it only "
        "as a filter."
    )


def split_transform(path: Path) -> tuple[Any, str, tuple[str, ...]]:
    """
    Return the field that a path compares, its name, and the lookup after it.

    A part of a date is a field of its own: the year is a number.
    """
    if path.lookups and isinstance(path.field, models.DateField):
        first, *rest = path.lookups
        part: models.Field[Any, Any] | None = None
        if first in DATE_PARTS:
            part = models.IntegerField()
        elif first == "date" and isinstance(path.field, models.DateTimeField):
            part = models.DateField()
        if part is not None:
            return part, f"{path.name}{LOOKUP_SEP}{first}", tuple(rest)
    return path.field, path.name, path.lookups


def _follow(
    access: AdminAccess, parts: list[str], value: Any, depth: int = 1
) -> Path | None:
    """Return the path of these parts, or None if the user may see no such field."""
    part, rest = parts[0], tuple(parts[1:])
    model_field = _visible_field(access, part) if depth <= MAX_DEPTH else None
    if model_field is None:
        return None
    key = access.options.pk
    is_key = model_field.name != part or (
        part == key.name and not model_field.is_relation
    )
    ends = is_key or not rest or not model_field.is_relation
    if not _is_allowed(access, LOOKUP_SEP.join(parts) if ends else part, value):
        return None
    path = Path(
        access=access,
        name="pk" if part == "pk" else model_field.name,
        field=model_field,
        lookups=rest,
        is_many=bool(model_field.many_to_many),
        is_key=is_key,
    )
    if ends:
        return path
    target = (
        getattr(model_field, "target_field", None) or model_field.related_model._meta.pk
    )
    names = {target.name, target.attname} | ({"pk"} if target.primary_key else set())
    if rest[0] in names:
        return replace(path, lookups=rest[1:], is_key=True)
    return _beyond(access, model_field, parts[1:], value, depth) or path


def _beyond(
    access: AdminAccess, relation: Any, parts: list[str], value: Any, depth: int
) -> Path | None:
    """Return the path through `relation`, or None if nothing there may be seen."""
    related = access.related(relation.related_model)
    path = _follow(related, parts, value, depth + 1) if related else None
    # If the list does not open, and the site decides by the object, no row is visible.
    if (
        related is None
        or path is None
        or (not opens_list(related) and decides_by_object(related))
    ):
        return None
    rows = _visible_rows(related)
    hops = {} if rows is None else {relation.name: rows}
    prefix = f"{relation.name}{LOOKUP_SEP}"
    return replace(
        path,
        relation_path=f"{prefix}{path.relation_path}".removesuffix(LOOKUP_SEP),
        name=f"{prefix}{path.name}",
        hops=hops | {f"{prefix}{name}": rows for name, rows in path.hops.items()},
        is_many=relation.many_to_many or path.is_many,
    )


def _visible_field(access: AdminAccess, part: str) -> Any:
    """Return the field of that name, if the admin of its model shows it."""
    visible = model_fields(access)
    currencies = filter(None, map(currency_field, visible))
    for model_field in (*visible, *filter(is_open_field, currencies)):
        if part in (model_field.name, model_field.attname):
            return model_field
    key = access.options.pk
    return key if part and part in ("pk", "id", key.name, key.attname) else None


def _is_allowed(access: AdminAccess, lookup: str, value: Any) -> bool:
    lookup_allowed = access.model_admin.lookup_allowed
    if func_supports_parameter(lookup_allowed, "request"):
        return bool(lookup_allowed(lookup, str(value), request=access.request))
    return bool(lookup_allowed(lookup, str(value)))


def _visible_rows(access: AdminAccess) -> QuerySet[Any] | None:
    """Return the rows of the model that the user may see; None if these are all."""
    manager = access.model._default_manager
    methods = (type(access.model_admin).get_queryset, type(manager).get_queryset)
    is_all = all(method.__module__.startswith("django.") for method in methods)
    if is_all and not limits_list(access):
        return None
    try:
        return changelist_rows(access).order_by().values("pk")
    except ToolFailed:  # its pages may open all the same
        rows = access.model_admin.get_queryset(access.request)
        return rows.order_by().values("pk")  # type: ignore[no-any-return]


# --- filters ---


def apply_lookups(
    access: AdminAccess, rows: QuerySet[Any], filters: Mapping[str, Any]
) -> QuerySet[Any]:
    """
    Return `rows` filtered by all of `filters`.

    Keys are fields with a lookup as Django names it, or custom list filters of the
    ModelAdmin. Raise ModelRetry for what cannot be filtered by.
    """
    if len(filters) > MAX_FILTERS:
        raise ModelRetry(
            f"{len(filters)} filters are too many (at most {MAX_FILTERS})."
        )
    condition, is_many = Q(), False
    for key, value in filters.items():
        specs = (item for item in custom_filters(access) if item.parameter_name == key)
        if spec := next(specs, None):
            rows = _apply_custom(access, spec, rows, value)
            continue
        path = find_path(access, key, value)
        condition &= _condition(access, path, key, value)
        is_many = is_many or path.is_many
    if not is_many:
        return rows.filter(condition)
    # A row may match a condition several times, but is returned once.
    matching = access.model._default_manager.filter(condition)
    return rows.filter(pk__in=matching.order_by().values("pk"))


def custom_filters(access: AdminAccess) -> list[Any]:
    """Return the list filters that are not based on a field."""
    return [
        spec
        for spec in access.model_admin.get_list_filter(access.request)
        if getattr(spec, "parameter_name", None) and hasattr(spec, "lookups")
    ]


def _apply_custom(
    access: AdminAccess, spec: Any, rows: QuerySet[Any], value: Any
) -> QuerySet[Any]:
    key = spec.parameter_name
    list_filter = spec(
        access.request, {key: [str(value)]}, access.model, access.model_admin
    )
    choices = [str(choice) for choice, _label in list_filter.lookup_choices]
    if str(value) not in choices:
        raise _unknown_choice(key, choices)
    with wrong_values():
        filtered = list_filter.queryset(access.request, rows)
    return rows if filtered is None else filtered


def _condition(access: AdminAccess, path: Path, key: str, value: Any) -> Q:
    compared, name, lookups = split_transform(path)
    lookup = lookups[0] if lookups else "exact"
    if len(lookups) > 1 or lookup not in _lookups_of(compared):
        raise unknown_path(access, key)
    if value is None and lookup == "exact":
        lookup, value = "isnull", True
    condition = Q((f"{name}{LOOKUP_SEP}{lookup}", _value(compared, lookup, value, key)))
    for hop, rows in path.hops.items():
        condition &= Q((f"{hop}{LOOKUP_SEP}in", rows))
    return condition


def _lookups_of(compared: Any) -> frozenset[str]:
    if isinstance(compared, OPAQUE):
        return frozenset({"isnull"})
    if compared.is_relation:
        return EQUALITY
    if isinstance(compared, TEXTUAL):
        return EQUALITY | ORDER | TEXT
    return EQUALITY | ORDER if isinstance(compared, ORDERED) else EQUALITY


def _value(compared: Any, lookup: str, value: Any, key: str) -> Any:
    if lookup == "isnull":
        if isinstance(value, bool):
            return value
        raise ModelRetry(f"Filter {key!r} takes true or false.")
    if lookup not in ("in", "range"):
        return _single_value(compared, lookup, value, key)
    if not isinstance(value, list) or len(value) > MAX_VALUES:
        raise ModelRetry(f"Filter {key!r} takes a list of at most {MAX_VALUES} values.")
    if lookup == "range" and len(value) != 2:
        raise ModelRetry(f"Filter {key!r} takes two values, the first and the last.")
    return [_single_value(compared, lookup, item, key) for item in value]


def _single_value(compared: Any, lookup: str, value: Any, key: str) -> Any:
    """Return one value as the field holds it."""
    if value is None or isinstance(value, list | dict):
        raise ModelRetry(f"Filter {key!r} takes a string, a number, or true or false.")
    if isinstance(value, str) and (
        len(value) > VALUE_CHARS or join_surrogates(value) != value
    ):
        raise ModelRetry(
            f"The value of filter {key!r} is too long (at most {VALUE_CHARS} "
            "characters), or contains NUL or half a character."
        )
    if lookup in TEXT:
        return str(value)
    target = compared
    if compared.is_relation:
        own_key = compared.related_model._meta.pk
        target = getattr(compared, "target_field", None) or own_key
    with wrong_values():
        python_value = target.to_python(value)
        choices = [choice for choice, _label in compared.flatchoices]
        # An invalid choice would silently find nothing.
        is_choice = not choices or python_value in choices
        if lookup in ("exact", "in") and not is_choice:
            raise _unknown_choice(key, choices)
        if isinstance(compared, models.DateTimeField) and timezone.is_naive(
            python_value
        ):
            return timezone.make_aware(python_value)
        return python_value


def _unknown_choice(key: str, choices: list[Any]) -> ModelRetry:
    listed = ", ".join(map(repr, choices[:MOST_CHOICES]))
    return ModelRetry(f"Filter {key!r} takes one of: {listed}.")
