"""The first rows of an inline and their number: of one object, or of many at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest

from ai_assistant.safety.policy.admin_pages import sql_of
from ai_assistant.tools.data.errors import wrong_values

MOST_INLINE_ROWS = 50  # of one inline, and of a nested one in one row

Told = dict[str, Any]  # as the model reads it


@dataclass(kw_only=True, slots=True)
class InlineRows:
    """The rows of an inline that belong to one object."""

    owner: Model
    inline: Any
    formset: Any  # its class
    queryset: Any  # as the page finds them; code of the site may have made a list
    told_in: Told = field(default_factory=dict)  # what is told of the owner
    total: int = 0
    rows: list[Model] = field(default_factory=list)  # the first of them
    told_rows: list[tuple[Model, Told]] = field(default_factory=list)  # of open models

    def read(self, most: int = MOST_INLINE_ROWS) -> None:
        """Read the first rows, and how many there are."""
        with wrong_values():
            if not isinstance(self.queryset, QuerySet):
                self.queryset = list(self.queryset)
                self.total = len(self.queryset)
            else:
                self.total = self.queryset.count()
            self.rows = list(self.queryset[: min(most, MOST_INLINE_ROWS)])
        self.link()

    def link(self) -> None:
        """Let the rows know their object, as the formset does: a text may need it."""
        if key := getattr(self.formset, "fk", None):
            for row in self.rows:
                setattr(row, key.name, self.owner)


def read_rows(request: HttpRequest, every: Sequence[InlineRows], room: int) -> None:
    """
    Read the rows of an inline for many objects, `room` of them at most.

    All at once, unless the site narrows them for an object.
    """
    if not every:
        return
    link, own = _Link.of(every[0]), every[0].inline.get_queryset(request)
    if link is not None and all(link.is_plain(own, one) for one in every):
        link.read(own, every, room)
        return
    for one in every:
        one.read(room)
        room -= len(one.rows)


@dataclass(frozen=True, slots=True)
class _Link:
    """How rows name the object to which they belong, to read those of many at once."""

    key: Any  # the field
    target: str  # what of the object it holds
    fixed: dict[str, Any]  # further conditions

    @classmethod
    def of(cls, one: InlineRows) -> "_Link | None":
        formset = one.formset
        if (key := getattr(formset, "fk", None)) is not None:
            return cls(key, key.target_field.attname, {})
        if (key := getattr(formset, "ct_fk_field", None)) is None:
            return None
        kind = ContentType.objects.get_for_model(
            one.owner, for_concrete_model=formset.for_concrete_model
        )
        return cls(key, "pk", {formset.ct_field.name: kind})

    def is_plain(self, own: QuerySet[Any], one: InlineRows) -> bool:
        """Return whether a formset finds just the rows that name its object."""
        if not isinstance(one.queryset, QuerySet):
            return False
        value = getattr(one.owner, self.target)
        usual = _ordered(own.filter(**self.fixed, **{self.key.name: value}))
        return sql_of(one.queryset) == sql_of(usual)

    def read(self, own: QuerySet[Any], every: Sequence[InlineRows], room: int) -> None:
        """Read the rows by one query; what is left of a list that is cut by its own."""
        totals = self._totals(self._of(own, every))
        whole: list[InlineRows] = []
        for one in every:
            one.total = totals.get(self._name(one), 0)
            most = min(one.total, MOST_INLINE_ROWS, room)
            room -= most
            if most < one.total:
                one.rows = list(one.queryset[:most])
            elif most:
                whole.append(one)
        rows = self._by_name(_ordered(self._of(own, whole))) if whole else {}
        for one in whole:
            one.rows = rows.get(self._name(one), [])
        for one in every:
            one.link()

    def _name(self, one: InlineRows) -> str:
        return str(getattr(one.owner, self.target))

    def _of(self, own: QuerySet[Any], every: Sequence[InlineRows]) -> QuerySet[Any]:
        values = [getattr(one.owner, self.target) for one in every]
        return own.filter(**self.fixed, **{f"{self.key.name}__in": values})

    def _by_name(self, rows: QuerySet[Any]) -> dict[str, list[Model]]:
        by_name: dict[str, list[Model]] = {}
        for row in rows:
            name = str(getattr(row, self.key.attname))
            by_name.setdefault(name, []).append(row)
        return by_name

    def _totals(self, rows: QuerySet[Any]) -> dict[str, int]:
        """Return how many rows each object has, whatever the site has joined to them."""
        plain = rows.model._base_manager.using(rows.db)
        counted = plain.filter(pk__in=rows.order_by().values("pk")).order_by()
        pairs = counted.values_list(self.key.attname).annotate(Count("pk"))
        return {str(value): total for value, total in pairs}


def _ordered(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return `rows` in the order in which a formset shows them."""
    return rows if rows.ordered else rows.order_by(rows.model._meta.pk.name)
