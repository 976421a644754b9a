"""Find out whether rows have changed since they were shown."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import router
from django.db.models import ManyToManyField, Q

from ai_assistant.changes.capture.images import image_digest, row_images, row_key
from ai_assistant.changes.values import label, meta, model_of_label
from ai_assistant.models.change import RowChange
from ai_assistant.types import UserKey


def stale_rows(versions: Mapping[str, str]) -> list[str]:
    """
    Return the keys of rows that differ from `versions`, or no longer exist.

    In a transaction the rows are locked where the database can, so that they stay.
    """
    pks_by_label: dict[str, list[str]] = {}
    for key in versions:
        label, _, pk = key.partition(":")
        pks_by_label.setdefault(label, []).append(pk)
    current: dict[str, str] = {}
    for label, pks in pks_by_label.items():
        model = model_of_label(label)
        if model is not None:
            for pk, image in row_images(model, pks, router.db_for_write(model)):
                current[row_key(model, pk)] = image_digest(image)
    return [key for key, digest in versions.items() if current.get(key) != digest]


MOST = 1000  # changes of one form that are read


class Part(NamedTuple):
    """A table whose rows belong to an object, and the column that names it."""

    table: str
    column: str
    # Of a generic one: the column of the content type, and the id of the object's.
    kind: tuple[str, int] | None = None

    def names(self, image: Mapping[str, Any], key: str) -> bool:
        """Return whether a row is of the object of this key."""
        is_of_kind = self.kind is None or image.get(self.kind[0]) == self.kind[1]
        return is_of_kind and str(image.get(self.column)) == key


def generic_parts(model: Any, others: Iterable[Any] = ()) -> Iterator[Part]:
    """
    Yield the tables whose rows name an object with its content type.

    Those of its generic relations and of tags, and `others` that its page shows.
    """
    options = meta(model)
    tables = [
        *(
            one.related_model
            for one in options.private_fields
            if isinstance(one, GenericRelation)
        ),
        *(
            one.remote_field.through
            for one in options.many_to_many
            if not isinstance(one, ManyToManyField)  # that of django-taggit is none
        ),
        *others,
    ]
    for table in dict.fromkeys(tables):
        for field in meta(table).private_fields:
            if isinstance(field, GenericForeignKey):
                kinds = ContentType.objects
                kind = kinds.get_for_model(model, field.for_concrete_model)
                yield Part(
                    label(table), field.fk_field, (f"{field.ct_field}_id", kind.pk)
                )


def rows_since(
    moment: datetime,
    *,
    ids_by_table: Mapping[str, Collection[str]],
    key: str = "",
    parts: Iterable[Part] = (),
) -> list[RowChange]:
    """
    Return the recorded changes after `moment`, oldest first; one query.

    Those of the rows in `ids_by_table`, and in `parts` those that name the object of
    this `key`. A table is named "app.model". If there are too many, only the newest are
    returned.
    """
    condition = Q(pk__in=())
    for table, ids in ids_by_table.items():
        condition |= Q(model=table, object_id__in=list(ids))
    changes = RowChange.objects.filter(
        condition | _rows_naming(key, parts), change_set__created_at__gte=moment
    )
    rows = changes.select_related("change_set__user").defer("change_set__snapshots")
    newest = rows.order_by("-change_set__created_at", "-order")[:MOST]
    return list(reversed(newest))


def who_changed_object(
    model: Any, key: str, parts: Iterable[Part], *, moment: datetime
) -> set[UserKey | None]:
    """
    Return for which users a run has changed an object after `moment`; one query.

    `parts` are the tables whose rows belong to it, with the column that names it. A
    user who is gone is None.
    """
    condition = Q(model__in=tables_of(model), object_id=key)
    return _users_of(condition | _rows_naming(key, parts), moment)


def who_changed_model(
    model: Any, parts: Iterable[Part], *, moment: datetime
) -> set[UserKey | None]:
    """Return for which users a run has changed such objects after `moment`."""
    tables = [*tables_of(model), *(part.table for part in parts)]
    return _users_of(Q(model__in=tables), moment)


def _users_of(condition: Q, moment: datetime) -> set[UserKey | None]:
    rows = RowChange.objects.filter(condition, change_set__created_at__gt=moment)
    return set(rows.values_list("change_set__user_id", flat=True).distinct())


def tables_of(model: Any) -> list[str]:
    """Return the tables of an object: that of the model, and those of its parents."""
    return [label(table_model) for table_model in (model, *meta(model).all_parents)]


def _rows_naming(key: str, parts: Iterable[Part]) -> Q:
    """Return the condition of rows that name the object, before or after the change."""
    keys: list[object] = [key]
    if key.isdecimal() and str(int(key)) == key:
        keys.append(int(key))  # as JSON has it
    tables: dict[tuple[str, tuple[str, int] | None], list[str]] = {}
    for part in parts:
        tables.setdefault((part.column, part.kind), []).append(part.table)
    condition = Q(pk__in=())
    for (column, kind), models in tables.items():
        named = Q(pk__in=())
        for image in ("before", "after"):
            of_kind = {f"{image}__{kind[0]}": kind[1]} if kind else {}
            named |= Q(**{f"{image}__{column}__in": keys}, **of_kind)
        condition |= Q(named, model__in=models)
    return condition
