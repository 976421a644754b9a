"""
Insert the rows of every message, by SQL that is composed once.

Django composes that of a queryset anew each time, which takes longer than the
statement itself. Values are prepared by the fields; no signal is sent.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
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
    TextField,
    UUIDField,
)

from ai_assistant.models.clock import SERVER_TIME, DatabaseTimeField

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
