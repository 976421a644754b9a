"""From a name like `customer__city__icontains` to fields that the user may see."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils.inspect import func_supports_parameter

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.fields import model_fields
from ai_assistant.tools.data.access.model_admin import AdminAccess, related_door
from ai_assistant.tools.data.access.shown import (
    asks_each,
    changelist_rows,
    limits_list,
    opens_list,
)

MAX_DEPTH = 4  # fields in one path
PATH_CHARS = 500
SHOWN_CHARS = 100
MOST_TOLD = 40  # fields, in the sentence that tells of a wrong one


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """
    A field, reached over relations, and what is said after it.

    `hops` holds, by the relations on the way, the rows that the user may see there,
    where these are not all.
    """

    door: AdminAccess  # to the model that has the field
    way: str = ""  # to that model, as Django takes it
    name: str  # of the fields only, as Django takes it
    field: Any
    rest: tuple[str, ...] = ()  # transform and lookup
    hops: dict[str, QuerySet[Any]] = field(default_factory=dict)
    is_many: bool = False  # a row may meet several of them
    is_key: bool = False  # the id of the row or of the related one, and no object

    @property
    def is_limited(self) -> bool:
        """Whether there are rows on the way that the user does not see."""
        return bool(self.hops)


def find_path(door: AdminAccess, text: str, value: Any = "") -> Path:
    """
    Return the path of that name.

    Each field has to be one that the user sees in the admin of its own model, and
    that this admin lets itself be filtered by. Raise ModelRetry, in the same words
    whether there is no such field or it may not be seen.
    """
    parts = text.split(LOOKUP_SEP) if len(text) <= PATH_CHARS else []
    found = _follow(door, parts, value) if parts else None
    if found is None:
        raise unknown_path(door, text)
    return found


def unknown_path(door: AdminAccess, text: str) -> ModelRetry:
    """Return the error of a name that is no field, or none that may be used so."""
    names = [own.name for own in model_fields(door)][:MOST_TOLD]
    return ModelRetry(
        f"{join_surrogates(text[:SHOWN_CHARS])!r} cannot be used with {door.label!r}. Its fields "
        f"are: {', '.join(dict.fromkeys(['id', *names]))}. Over a relation: "
        "field__field, if the user may see that model too."
    )


def _follow(
    door: AdminAccess,
    parts: list[str],
    value: Any,
    depth: int = 1,
) -> Path | None:
    """Return where `parts` lead, or None if that is nowhere."""
    part, rest = parts[0], parts[1:]
    own = _own_field(door, part) if depth <= MAX_DEPTH else None
    if own is None:
        return None
    is_key = own.name != part or (part == door.options.pk.name and not own.is_relation)
    ends = is_key or not rest or not own.is_relation
    allowed = LOOKUP_SEP.join(parts) if ends else part
    if not _is_allowed(door, allowed, value):
        return None
    name = "pk" if part == "pk" else own.name
    many = bool(own.many_to_many)
    if ends:
        return Path(
            door=door,
            name=name,
            field=own,
            rest=tuple(rest),
            is_many=many,
            is_key=is_key,
        )
    here = Path(door=door, name=name, field=own, rest=tuple(rest), is_many=many)
    if rest[0] in _key_names(own):
        return replace(here, rest=tuple(rest[1:]), is_key=True)
    return _beyond(door, own, rest, value, depth) or here


def _beyond(
    door: AdminAccess,
    relation: Any,
    parts: list[str],
    value: Any,
    depth: int,
) -> Path | None:
    """Return the path through `relation`, or None if nothing there may be seen."""
    there = related_door(door, relation.related_model)
    found = _follow(there, parts, value, depth + 1) if there else None
    if there is None or found is None or _is_shut(there):
        return None
    seen = _seen(there)
    hops = {} if seen is None else {relation.name: seen}
    prefix = f"{relation.name}{LOOKUP_SEP}"
    return replace(
        found,
        way=f"{prefix}{found.way}".removesuffix(LOOKUP_SEP),
        name=f"{prefix}{found.name}",
        hops=hops | {f"{prefix}{name}": rows for name, rows in found.hops.items()},
        is_many=relation.many_to_many or found.is_many,
    )


def _own_field(door: AdminAccess, part: str) -> Any:
    """Return the field of that name, if the admin of its model shows it."""
    key = door.options.pk
    shown = model_fields(door)
    for own in shown:
        if part in (own.name, own.attname):
            return own
    return key if part in ("pk", "id", key.name, key.attname) and part else None


def _key_names(relation: Any) -> set[str]:
    """Return the names by which the related object's id is meant."""
    target = getattr(relation, "target_field", None)
    if target is None:
        target = relation.related_model._meta.pk
    names = {target.name, target.attname}
    return names | {"pk"} if target.primary_key else names


def _is_allowed(door: AdminAccess, lookup: str, value: Any) -> bool:
    ask = door.model_admin.lookup_allowed
    if func_supports_parameter(ask, "request"):
        return bool(ask(lookup, str(value), request=door.request))
    return bool(ask(lookup, str(value)))


def _is_shut(door: AdminAccess) -> bool:
    """Tell whether the list does not open, and of each page nobody knows."""
    return not opens_list(door) and asks_each(door)


def _seen(door: AdminAccess) -> QuerySet[Any] | None:
    """Return the rows of the model that the user may see; None if these are all."""
    manager = door.model._default_manager
    says = (type(door.model_admin).get_queryset, type(manager).get_queryset)
    is_all = all(method.__module__.startswith("django.") for method in says)
    if is_all and not limits_list(door):
        return None
    try:
        return changelist_rows(door).order_by().values("pk")
    except ToolFailed:  # its pages may open all the same
        rows = door.model_admin.get_queryset(door.request)
        return rows.order_by().values("pk")  # type: ignore[no-any-return]
