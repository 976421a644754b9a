"""
Read the rows of every message, by SQL that is composed once.

Django composes that of a queryset anew each time, which takes longer than the
statement itself. Values are converted by the fields, and the rows are made as ever.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection, connections, router
from django.db.models import Model, QuerySet
from django.db.models.manager import BaseManager

M = TypeVar("M", bound=Model)
Convert = Callable[[Any, Any, Any], Any]


def read_row(model: type[M], where: str, arguments: Sequence[Any]) -> M | None:
    """Return the row of ours for which `where` holds, as SQL; None if there is none."""
    columns = _columns(model, connection.alias)
    sql = f"SELECT {columns} FROM {model._meta.db_table} WHERE {where}"
    return _row(model, connection, sql, arguments)


def changed_row(
    model: type[M], to: str, where: str, arguments: Sequence[Any]
) -> M | None:
    """Change the row of ours for which `where` holds; return it as it is then."""
    columns = _columns(model, connection.alias)
    sql = f"UPDATE {model._meta.db_table} SET {to} WHERE {where} RETURNING {columns}"
    return _row(model, connection, sql, arguments)


def row_by_key(model: type[M], key: object) -> M | None:
    """Return the row of any model by its key, as its default manager finds it."""
    if not is_plain(model):
        return model._default_manager.filter(pk=key).first()
    using = connections[router.db_for_read(model)]
    columns = _columns(model, using.alias)
    return _row(model, using, *_by_key(model, columns, key, using))


def has_row(model: type[Model], key: object) -> bool:
    """Return whether a row of any model is there, for its default manager."""
    if not is_plain(model):
        return model._default_manager.filter(pk=key).exists()
    using = connections[router.db_for_read(model)]
    with using.cursor() as cursor:
        cursor.execute(*_by_key(model, "1", key, using))
        return cursor.fetchone() is not None


def _by_key(
    model: type[Model], columns: str, key: object, using: Any
) -> tuple[str, list[Any]]:
    pk, quoted = model._meta.pk, using.ops.quote_name
    table, own = quoted(model._meta.db_table), quoted(str(pk.column))
    sql = f"SELECT {columns} FROM {table} WHERE {own} = %s"
    return sql, [pk.get_db_prep_value(key, using)]


def _row(model: type[M], using: Any, sql: str, arguments: Sequence[Any]) -> M | None:
    with using.cursor() as cursor:
        cursor.execute(sql, arguments)
        found = cursor.fetchone()
    if found is None:
        return None
    names, converted = _converters(model, using.alias)
    values = list(found)
    for index, column, converters in converted:
        for convert in converters:
            values[index] = convert(values[index], column, using)
    return model.from_db(using.alias, names, values)


@lru_cache
def _columns(model: type[Model], alias: str) -> str:
    """Return the names of all columns, quoted: `index` is a word of SQL."""
    quoted = connections[alias].ops.quote_name
    return ", ".join(quoted(str(field.column)) for field in model._meta.concrete_fields)


@lru_cache
def _converters(
    model: type[Model], alias: str
) -> tuple[list[str], list[tuple[int, Any, list[Convert]]]]:
    """Return the names of the columns, and how values of them become Python's."""
    using = connections[alias]
    fields = model._meta.concrete_fields
    found = []
    for index, field in enumerate(fields):
        column = field.get_col(model._meta.db_table)
        own = [
            *using.ops.get_db_converters(column),
            *column.get_db_converters(using),
        ]
        if own:
            found.append((index, column, own))
    return [field.attname for field in fields], found


@lru_cache
def is_plain(model: type[Model]) -> bool:
    """Return whether its default manager finds all rows of its one table, as they are."""
    manager: Any = model._default_manager
    return (
        type(manager).get_queryset is BaseManager.get_queryset
        and manager._queryset_class is QuerySet  # noqa: SLF001
        and model._meta.concrete_fields == model._meta.local_concrete_fields
        and model._meta.pk.column is not None
    )
