"""
Insert the rows of every message, by SQL that is composed once.

Django composes that of a queryset anew each time, which takes longer than the
statement itself. Values are prepared by the fields; no signal is sent.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import AutoField, Field, Model

from ai_assistant.models.clock import SERVER_TIME, DatabaseTimeField

Columns = Mapping[str, tuple[str, Sequence[Any]]]  # SQL and its arguments, by name


def insert_row(row: Model, computed: Columns | None = None) -> None:
    """
    Insert `row`; the database computes some columns, which the object then lacks.

    What it sets by itself, the object has afterwards: its key, its time.
    """
    model, given = type(row), computed or {}
    names, fields = _columns(model, connection.vendor)
    marks: list[str] = []
    arguments: list[Any] = []
    for field, mark in fields:
        sql, values = given.get(field.attname, (mark, None))
        marks.append(sql)
        arguments += _value(row, field, mark) if values is None else values
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


def insert_rows(rows: Sequence[Model], *, or_ignore: bool = False) -> None:
    """
    Insert rows of one model, in one statement; the objects lack what is set then.

    `or_ignore`: those that a constraint refuses are there already.
    """
    if not rows:
        return
    model = type(rows[0])
    names, fields = _columns(model, connection.vendor)
    marks = f"({', '.join(mark for _, mark in fields)})"
    arguments = [
        value
        for row in rows
        for field, mark in fields
        for value in _value(row, field, mark)
    ]
    sql = f"INSERT INTO {model._meta.db_table} ({names}) VALUES "
    with connection.cursor() as cursor:
        conflict = " ON CONFLICT DO NOTHING" if or_ignore else ""
        cursor.execute(sql + ", ".join([marks] * len(rows)) + conflict, arguments)


def _value(row: Model, field: "Field[Any, Any]", mark: str) -> list[Any]:
    if mark != "%s":
        return []
    value = field.pre_save(row, True)  # noqa: FBT003 - as Django has it
    return [field.get_db_prep_save(value, connection=connection)]


@lru_cache
def _columns(
    model: type[Model], vendor: str
) -> tuple[str, list[tuple["Field[Any, Any]", str]]]:
    """Return the columns, and how each gets its value; a key counts by itself."""
    fields = [
        (field, SERVER_TIME if _is_of_server(field, vendor) else "%s")
        for field in model._meta.local_concrete_fields
        if not isinstance(field, AutoField)
    ]
    # Quoted: `index` is a word of SQL.
    return ", ".join(f'"{field.column}"' for field, _ in fields), fields


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
