"""
Insert and read the rows of every message, by SQL that is composed once.

Django composes that of a queryset anew each time, which takes longer than the
statement itself. Values are prepared and converted by the fields, and rows are made as
ever; no signal is sent.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import connection, connections, router
from django.db.models import (
    AutoField,
    BooleanField,
    CharField,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    OneToOneField,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    QuerySet,
    TextField,
    UUIDField,
)
from django.db.models.manager import BaseManager

from ai_assistant.models.clock import SERVER_TIME, DatabaseTimeField

M = TypeVar("M", bound=Model)
Convert = Callable[[Any, Any, Any], Any]
Columns = Mapping[str, tuple[str, Sequence[Any]]]  # SQL and its arguments, by name
# What such a field hands to the database as it is. Most values of most rows are that:
# to ask the field takes longer than all the rest of an insert.
AS_IT_IS: Mapping[type, type] = {
    CharField: str,
    TextField: str,
    BooleanField: bool,
    UUIDField: UUID,
}
# The same on SQLite; other drivers are told the size.
NUMBERS = (IntegerField, PositiveIntegerField, PositiveSmallIntegerField)
NONE = type(None)


class Column(NamedTuple):
    """A column of a model, and how it gets its value."""

    field: "Field[Any, Any]"
    mark: str  # in the statement
    plain: tuple[type, ...]  # values of these types are written as they are
    as_hex: bool  # but a UUID as its digits


def insert_row(row: Model, computed: Columns | None = None) -> None:
    """
    Insert `row`; the database computes some columns, which the object then lacks.

    What it sets by itself, the object has afterwards: its key, its time.
    """
    model, given = type(row), computed or {}
    names, columns = _columns(model, connection.vendor)
    marks: list[str] = []
    arguments: list[Any] = []
    for column in columns:
        sql, values = given.get(column.field.attname, (column.mark, None))
        marks.append(sql)
        if values is not None:
            arguments += values
        elif sql == "%s":
            arguments.append(_value(row, column))
    told = _told(model, connection.vendor)
    sql = f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({', '.join(marks)})"
    returning = ", ".join(str(field.column) for field in told)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and told:
            cursor.execute(f"{sql} RETURNING {returning}", arguments)
            found = cursor.fetchone()
        else:
            cursor.execute(sql, arguments)
            found = [cursor.lastrowid] * len(told)  # the key: it has no other
    for field, value in zip(told, found, strict=True):
        setattr(row, field.attname, value)
    row._state.adding, row._state.db = False, connection.alias


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert rows of one model, in one statement; the objects lack what is set then."""
    if not rows:
        return
    model = type(rows[0])
    names, columns = _columns(model, connection.vendor)
    marks = f"({', '.join(column.mark for column in columns)})"
    own = [column for column in columns if column.mark == "%s"]
    arguments = [_value(row, column) for row in rows for column in own]
    sql = f"INSERT INTO {model._meta.db_table} ({names}) VALUES "
    with connection.cursor() as cursor:
        cursor.execute(sql + ", ".join([marks] * len(rows)), arguments)


def _value(row: Model, column: Column) -> Any:
    field, plain = column.field, column.plain
    if plain:
        value = getattr(row, field.attname)
        if type(value) in plain:
            return value.hex if column.as_hex and value is not None else value
    value = field.pre_save(row, True)  # noqa: FBT003 - as Django has it
    return field.get_db_prep_save(value, connection=connection)


@lru_cache
def _columns(model: type[Model], vendor: str) -> tuple[str, list[Column]]:
    """Return the columns, and how each gets its value; a key counts by itself."""
    columns = [
        _column(field, vendor)
        for field in model._meta.local_concrete_fields
        if not isinstance(field, AutoField)
    ]
    # Quoted: `index` is a word of SQL.
    return ", ".join(f'"{column.field.column}"' for column in columns), columns


def _column(field: "Field[Any, Any]", vendor: str) -> Column:
    mark = SERVER_TIME if _is_of_server(field, vendor) else "%s"
    kind = _stored_as(field)
    plain = AS_IT_IS.get(kind)
    if kind in NUMBERS and vendor == "sqlite":
        plain = int
    is_hex = plain is UUID and not connection.features.has_native_uuid_field
    return Column(field, mark, (plain, NONE) if plain else (), is_hex)


def _stored_as(field: Any) -> type:
    """Return the class of a field, or of the key to which it refers."""
    while type(field) in (ForeignKey, OneToOneField):
        field = field.target_field
    return IntegerField if isinstance(field, AutoField) else type(field)


@lru_cache
def _told(model: type[Model], vendor: str) -> "list[Field[Any, Any]]":
    """Return the columns of which the database knows the value, and the object not."""
    return [
        field
        for field in model._meta.local_concrete_fields
        if isinstance(field, AutoField) or _is_of_server(field, vendor)
    ]


def _is_of_server(field: "Field[Any, Any]", vendor: str) -> bool:
    if vendor != "postgresql" or not isinstance(field, DatabaseTimeField):
        return False
    return bool(field.auto_now or field.auto_now_add)


# --- reading ---


def read_row(
    model: type[M], where: str, arguments: Sequence[Any], only: tuple[str, ...] = ()
) -> M | None:
    """
    Return the row of ours for which `where` holds, as SQL; None if there is none.

    If fields are named in `only`, the others are read when they are needed.
    """
    columns = _names(model, connection.alias, only)
    sql = f"SELECT {columns} FROM {model._meta.db_table} WHERE {where}"
    return _row(model, connection, sql, arguments, only)


def has_any(model: type[Model], where: str, arguments: Sequence[Any]) -> bool:
    """Return whether there is a row of ours for which `where` holds, as SQL."""
    with connection.cursor() as cursor:
        table = model._meta.db_table
        cursor.execute(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1", arguments)
        return cursor.fetchone() is not None


def changed_row(
    model: type[M], to: str, where: str, arguments: Sequence[Any]
) -> M | None:
    """Change the row of ours for which `where` holds, before and after; return it."""
    sql = f"UPDATE {model._meta.db_table} SET {to} WHERE {where}"
    if connection.features.can_return_columns_from_insert:
        columns = _names(model, connection.alias)
        return _row(model, connection, f"{sql} RETURNING {columns}", arguments)
    with connection.cursor() as cursor:  # an old SQLite
        cursor.execute(sql, arguments)
    return read_row(model, where, arguments[to.count("%s") :])


def row_by_key(model: type[M], key: object) -> M | None:
    """Return the row of any model by its key, as its default manager finds it."""
    if not is_plain(model):
        return model._default_manager.filter(pk=key).first()
    using = connections[router.db_for_read(model)]
    columns = _names(model, using.alias)
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


def _row(
    model: type[M],
    using: Any,
    sql: str,
    arguments: Sequence[Any],
    only: tuple[str, ...] = (),
) -> M | None:
    with using.cursor() as cursor:
        cursor.execute(sql, arguments)
        found = cursor.fetchone()
    if found is None:
        return None
    names, converted = _converters(model, using.alias, only)
    values = list(found)
    for index, column, converters in converted:
        for convert in converters:
            values[index] = convert(values[index], column, using)
    return model.from_db(using.alias, names, values)


@lru_cache
def _names(model: type[Model], alias: str, only: tuple[str, ...] = ()) -> str:
    """Return the names of the columns, quoted: `index` is a word of SQL."""
    quoted = connections[alias].ops.quote_name
    return ", ".join(quoted(str(field.column)) for field in _fields(model, only))


def _fields(model: type[Model], only: tuple[str, ...]) -> "list[Field[Any, Any]]":
    """Return the fields of a model that have a column; the key is always among them."""
    own = model._meta.concrete_fields
    return [one for one in own if not only or one.primary_key or one.name in only]


@lru_cache
def _converters(
    model: type[Model], alias: str, only: tuple[str, ...] = ()
) -> tuple[list[str], list[tuple[int, Any, list[Convert]]]]:
    """Return the names of the columns, and how values of them become Python's."""
    using = connections[alias]
    fields = _fields(model, only)
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
