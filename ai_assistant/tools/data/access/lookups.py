"""The filters of a call: which lookups there are, and what values they take."""

from collections.abc import Mapping
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from ai_assistant.exceptions import ModelRetry
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.paths import Path, find_path, unknown_path
from ai_assistant.tools.data.errors import wrong_values

MAX_FILTERS = 10
MAX_VALUES = 100  # of one `in`
VALUE_CHARS = 1000
MOST_CHOICES = 20

SAME = frozenset({"exact", "in", "isnull"})
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
WORDS = (models.CharField, models.TextField, models.FileField)
# Nobody asks for a value of these, and not every database could tell.
OPAQUE = (models.BinaryField, models.JSONField)
NUMBERS = {
    "year": models.IntegerField(),
    "month": models.IntegerField(),
    "day": models.IntegerField(),
}


def apply_lookups(
    door: AdminAccess, rows: QuerySet[Any], filters: Mapping[str, Any]
) -> QuerySet[Any]:
    """
    Return those of `rows` that all filters hold of.

    Keys are fields with a lookup as Django names it, or custom list filters of the
    ModelAdmin. Raise ModelRetry for what cannot be filtered by.
    """
    if len(filters) > MAX_FILTERS:
        raise ModelRetry(
            f"{len(filters)} filters are too many (at most {MAX_FILTERS})."
        )
    wanted, is_many = Q(), False
    for key, value in filters.items():
        own = _own_filter(door, key)
        if own is not None:
            rows = _apply_own(door, own, rows, value)
            continue
        path = find_path(door, key, value)
        wanted &= _condition(door, path, key, value)
        is_many = is_many or path.is_many
    if not is_many:
        return rows.filter(wanted)
    # One row may meet a condition several times; it is to be there once.
    matching = door.model._default_manager.filter(wanted)
    return rows.filter(pk__in=matching.order_by().values("pk"))


def split_transform(path: Path) -> tuple[Any, str, tuple[str, ...]]:
    """
    Return what a path compares: its field, its name, and what is left of it.

    A part of a date is a field of its own: the year is a number.
    """
    own, rest = path.field, path.rest
    if rest and isinstance(own, models.DateField):
        first = rest[0]
        if first in NUMBERS:
            return NUMBERS[first], f"{path.name}{LOOKUP_SEP}{first}", rest[1:]
        if first == "date" and isinstance(own, models.DateTimeField):
            return models.DateField(), f"{path.name}{LOOKUP_SEP}date", rest[1:]
    return own, path.name, rest


def lookups_of(own: Any) -> frozenset[str]:
    """Return the lookups that a field of this kind takes."""
    if isinstance(own, OPAQUE):
        return frozenset({"isnull"})
    if own.is_relation:
        return SAME
    if isinstance(own, WORDS):
        return SAME | ORDER | TEXT
    return SAME | ORDER if isinstance(own, ORDERED) else SAME


def _condition(door: AdminAccess, path: Path, key: str, value: Any) -> Q:
    own, name, rest = split_transform(path)
    lookup = rest[0] if rest else "exact"
    if len(rest) > 1 or lookup not in lookups_of(own):
        raise unknown_path(door, key)
    if value is None and lookup == "exact":
        lookup, value = "isnull", True
    said = _value(own, lookup, value, key)
    wanted = Q((f"{name}{LOOKUP_SEP}{lookup}", said))
    for hop, seen in path.hops.items():
        wanted &= Q((f"{hop}{LOOKUP_SEP}in", seen))
    return wanted


def _value(own: Any, lookup: str, value: Any, key: str) -> Any:
    if lookup == "isnull":
        if isinstance(value, bool):
            return value
        raise ModelRetry(f"Filter {key!r} takes true or false.")
    if lookup not in ("in", "range"):
        return _one(own, lookup, value, key)
    if not isinstance(value, list) or len(value) > MAX_VALUES:
        raise ModelRetry(f"Filter {key!r} takes a list of at most {MAX_VALUES} values.")
    if lookup == "range" and len(value) != 2:
        raise ModelRetry(f"Filter {key!r} takes two values, the first and the last.")
    return [_one(own, lookup, one, key) for one in value]


def _one(own: Any, lookup: str, value: Any, key: str) -> Any:
    """Return one value as the field holds it."""
    if value is None or isinstance(value, list | dict):
        raise ModelRetry(f"Filter {key!r} takes a text, a number, or true or false.")
    if isinstance(value, str) and (
        len(value) > VALUE_CHARS or join_surrogates(value) != value
    ):
        raise ModelRetry(
            f"The value of filter {key!r} is too long (at most {VALUE_CHARS} "
            "characters), or holds NUL or half a character."
        )
    if lookup in TEXT:
        return str(value)
    with wrong_values():
        made = _target(own).to_python(value)
        _check_choice(own, lookup, made, key)
        return _aware(made) if isinstance(own, models.DateTimeField) else made


def _target(own: Any) -> Any:
    if not own.is_relation:
        return own
    target = getattr(own, "target_field", None)
    return own.related_model._meta.pk if target is None else target


def _check_choice(own: Any, lookup: str, made: Any, key: str) -> None:
    """Say what there is to choose: a wrong choice finds nothing, and nobody knows why."""
    known = [choice for choice, _label in own.flatchoices]
    if not known or lookup not in ("exact", "in") or made in known:
        return
    told = ", ".join(repr(choice) for choice in known[:MOST_CHOICES])
    raise ModelRetry(f"Filter {key!r} takes one of: {told}.")


def _aware(value: Any) -> Any:
    return timezone.make_aware(value) if timezone.is_naive(value) else value


def _own_filter(door: AdminAccess, key: str) -> Any:
    """Return the custom filter of the list that has this name, or None."""
    for spec in door.model_admin.get_list_filter(door.request):
        if getattr(spec, "parameter_name", None) == key and hasattr(spec, "lookups"):
            return spec
    return None


def _apply_own(
    door: AdminAccess,
    spec: Any,
    rows: QuerySet[Any],
    value: Any,
) -> QuerySet[Any]:
    key = spec.parameter_name
    given = {key: [str(value)]}
    own = spec(door.request, given, door.model, door.model_admin)
    choices = [str(choice) for choice, _label in own.lookup_choices]
    if str(value) not in choices:
        told = ", ".join(map(repr, choices[:MOST_CHOICES]))
        raise ModelRetry(f"Filter {key!r} takes one of: {told}.")
    with wrong_values():
        found = own.queryset(door.request, rows)
    return rows if found is None else found
