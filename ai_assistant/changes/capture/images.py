"""The image of a row: its columns as JSON, before and after a change."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections, models
from django.db.models.expressions import ExpressionWrapper

from ai_assistant.changes.capture.columns import (
    PLAIN,
    holds_plain,
    holds_secret,
    is_sealed,
    is_sealed_column,
    keyed_digest,
    plain_column_value,
    seal_column,
)
from ai_assistant.changes.capture.tables import by_table
from ai_assistant.changes.values import concrete, has_one_key, label, meta

Image = dict[str, Any]  # attname -> JSON
ReadRow = tuple[Any, Image, dict[str, Any]]  # key, image, values by attname

KEYS_PER_QUERY = 400  # keys in one query; SQLite's oldest limit is 999 values
KEYS_COMPILED = 20  # up to so many, the SQL of a query is kept
IS_NULL = "aia_is_null_"


def row_images(
    model: Any,
    pks: Iterable[Any],
    alias: str,
    *,
    fields: Sequence[Any] | None = None,
) -> Iterator[tuple[Any, Image]]:
    """
    Yield the keys and images of the rows that exist, of `fields` only.

    Without `fields`, of all, also those of parent tables. In a transaction the rows
    are locked, if the database supports it.
    """
    for pk, image, _ in read_keys(model, alias, pks, fields=fields):
        yield pk, image


def all_rows(model: Any, alias: str) -> models.QuerySet[Any]:
    """Return all rows of the table, whatever the site's managers hide."""
    return models.QuerySet(model=concrete(model), using=alias)


def in_batches(
    rows: models.QuerySet[Any], pks: Iterable[Any], name: str = "pk"
) -> Iterator[models.QuerySet[Any]]:
    """Yield the `rows` with these keys, in batches that fit one query."""
    keys = list(pks)
    for start in range(0, len(keys), KEYS_PER_QUERY):
        yield rows.filter((f"{name}__in", keys[start : start + KEYS_PER_QUERY]))


def read_values(
    queryset: models.QuerySet[Any],
    *,
    fields: Sequence[Any] | None = None,
    limit: int | None = None,
) -> Iterator[ReadRow]:
    """Yield the rows of a queryset, with `fields` only, of at most `limit` rows."""
    columns = _with_column(fields or meta(queryset.model).concrete_fields)
    rows = _values(queryset, columns)
    return _read(rows if limit is None else rows[:limit], columns)


def read_keys(
    model: Any,
    alias: str,
    pks: Iterable[Any],
    *,
    fields: Sequence[Any] | None = None,
) -> Iterator[ReadRow]:
    """Yield the rows with these keys that exist, with `fields` only."""
    columns, keys = _with_column(fields or meta(model).concrete_fields), list(pks)
    for start in range(0, len(keys), KEYS_PER_QUERY):
        some = keys[start : start + KEYS_PER_QUERY]
        compiled = _compiled_for(concrete(model), alias, some, columns)
        if compiled is not None:
            yield from _read(compiled.rows(some, alias), columns)
        else:
            found = all_rows(model, alias).filter(pk__in=some)
            yield from _read(_values(found, columns), columns)


def _with_column(fields: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(field for field in fields if getattr(field, "column", None))


def _read(
    rows: Iterable[dict[str, Any]], columns: tuple[Any, ...]
) -> Iterator[ReadRow]:
    encoders = [
        (field, field.attname, is_sealed_column(field), holds_plain(field))
        for field in columns
    ]
    for row in rows:
        image = _image(row, encoders)
        yield row["pk"], image, {field.attname: row[field.attname] for field in columns}


def _values(
    queryset: models.QuerySet[Any], columns: tuple[Any, ...]
) -> models.QuerySet[Any, dict[str, Any]]:
    nulls = {
        IS_NULL + field.attname: ExpressionWrapper(
            models.Q((f"{field.name}__isnull", True)),
            output_field=models.BooleanField(),
        )
        for field in columns
        if isinstance(field, models.JSONField) and field.null
    }
    names = [field.attname for field in columns]
    return _locked(queryset).values(*names, "pk", **nulls)


def _image(row: dict[str, Any], encoders: list[tuple[Any, str, bool, bool]]) -> Image:
    image = {}
    for field, attname, sealed, is_plain in encoders:
        value = row[attname]
        if is_plain and not sealed and type(value) in PLAIN:
            image[attname] = value
            continue
        value = plain_column_value(field, value)
        # Both NULL and the JSON value null are read as None.
        is_json_null = (
            value is None
            and isinstance(field, models.JSONField)
            and not row.get(IS_NULL + attname, False)
        )
        if is_json_null:
            value = {"$json": None}
        is_secret = sealed or holds_secret(field, value)
        image[attname] = (
            seal_column(value) if is_secret and value is not None else value
        )
    return image


@dataclass(frozen=True, slots=True)
class _CompiledQuery:
    """The query for a certain number of keys, with its SQL: to build it takes long."""

    query: Any
    sql: str
    expressions: list[Any]
    names: list[str]

    def rows(self, keys: Sequence[Any], alias: str) -> Iterator[dict[str, Any]]:
        """Yield the rows with these keys, as `QuerySet.values` does."""
        params = _prepared(self.query.model, alias, keys)
        with connections[alias].cursor() as cursor:
            cursor.execute(self.sql, params)
            found = cursor.fetchall()
        compiler = self.query.get_compiler(alias)
        converters = compiler.get_converters(self.expressions)
        for row in compiler.apply_converters(found, converters):
            yield dict(zip(self.names, row, strict=True))


def _compiled_for(
    model: Any, alias: str, keys: Sequence[Any], columns: tuple[Any, ...]
) -> _CompiledQuery | None:
    """Return the query for so many keys; None if it has to be built for them."""
    if len(keys) > KEYS_COMPILED or None in keys or not has_one_key(model):
        return None
    connection = connections[alias]
    backend = connection.vendor, _locks(connection)
    return _compiled(model, alias, columns, len(keys), backend)


@lru_cache(1000)
def _compiled(
    model: Any, alias: str, columns: tuple[Any, ...], count: int, _backend: Any
) -> _CompiledQuery | None:
    return compiled_by_key(_values(all_rows(model, alias), columns), count)


def compiled_by_key(
    rows: models.QuerySet[Any, dict[str, Any]], count: int
) -> _CompiledQuery | None:
    """
    Return the query for `count` of `rows`, which are values.

    None if the keys do not become parameters of it one by one, as they are.
    """
    samples = range(1, count + 1)
    try:
        query: Any = rows.filter(pk__in=samples).query
        expected = _prepared(rows.model, rows.db, samples)
    except (TypeError, ValueError, ValidationError):
        return None  # a key is something else than a number, a text or a UUID
    compiler = query.get_compiler(rows.db)
    sql, params = compiler.as_sql()
    if list(params) != expected:
        return None
    expressions = [expression for expression, _sql, _alias in compiler.select]
    return _CompiledQuery(query, sql, expressions, list(query.selected))


def _prepared(model: Any, alias: str, keys: Iterable[Any]) -> list[Any]:
    """Return the keys as the database takes them."""
    field, connection = meta(model).pk, connections[alias]
    return [
        field.get_db_prep_value(field.get_prep_value(key), connection, prepared=True)
        for key in keys
    ]


def _locked(queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
    if _locks(connections[queryset.db]):
        return queryset.order_by("pk").select_for_update()
    return queryset.order_by("pk")


def _locks(connection: Any) -> bool:
    """Return whether the rows that are read are locked."""
    return bool(
        connection.in_atomic_block and connection.features.has_select_for_update
    )


def image_digest(image: Image) -> str:
    """Return the digest of an image; sealed values count by what is in them."""
    clear = {
        name: value["mac"] if is_sealed(value) else value
        for name, value in image.items()
    }
    text = json.dumps(clear, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def same_value(first: Any, second: Any) -> bool:
    """Return whether two values of a column are equal, sealed or not."""
    if isinstance(first, dict) and is_sealed(first) and is_sealed(second):
        return bool(first["mac"] == second["mac"])
    return type(first) is type(second) and bool(first == second)


def is_blank(*values: Any) -> bool:
    """Return whether all values are NULL or empty: one and the same to a person."""
    return all(value in (None, "") for value in values)


def object_id(model: Any, pk: Any) -> str:
    """Return the key of a row as text; of a secret key, as of a token, a digest."""
    if has_sealed_key(model):
        return "sealed-" + keyed_digest(str(pk).encode())[:32]
    return str(pk)


def has_sealed_key(model: Any) -> bool:
    """Return whether the key itself is a secret, as of a token."""
    return has_one_key(model) and is_sealed_column(meta(concrete(model)).pk)


def can_be_found(model: Any) -> bool:
    """Return whether a row is found again by the text of its key."""
    return has_one_key(model) and not has_sealed_key(model)


def row_key(model: Any, pk: Any) -> str:
    """Return "app.model:pk", of the table behind a proxy."""
    return f"{label(model)}:{object_id(model, pk)}"


def versions(objects: Iterable[models.Model]) -> dict[str, str]:
    """
    Return the digests of the rows of these instances, by row_key.

    Rows that no longer exist, or whose key is secret or composite, are left out.
    """
    return {
        row_key(model, pk): image_digest(image)
        for (model, alias), instances in by_table(objects).items()
        if can_be_found(model)
        for pk, image in row_images(model, [obj.pk for obj in instances], alias)
    }
