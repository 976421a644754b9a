"""The keys of inserted rows, from RETURNING, which the site's code reads as well."""

from collections.abc import Iterator
from typing import Any

from ai_assistant.changes.meta import meta
from ai_assistant.changes.sqltext import Insert


class Replay:
    """A driver's cursor, whose rows were fetched already and are given once more."""

    def __init__(self, cursor: Any, rows: list[Any]) -> None:  # noqa: ANN401
        self._cursor, self._rows = cursor, rows

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._cursor, name)

    def __iter__(self) -> Iterator[Any]:
        while self._rows:
            yield self._rows.pop(0)

    def execute(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        self._rows = []
        return self._cursor.execute(*args, **kwargs)

    def fetchone(self) -> Any:  # noqa: ANN401
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int = 1) -> list[Any]:
        some, self._rows = self._rows[:size], self._rows[size:]
        return some

    def fetchall(self) -> list[Any]:
        return self.fetchmany(len(self._rows))


def can_return(connection: Any) -> bool:  # noqa: ANN401 - Django's wrapper
    """Tell whether the database says which rows it has inserted."""
    features = connection.features
    return bool(
        features.can_return_columns_from_insert
        and features.can_return_rows_from_bulk_insert
    )


def with_key(sql: str, plain: Insert, model: Any, connection: Any) -> str:  # noqa: ANN401
    """Return the statement so that it gives back the primary key."""
    column = meta(model).pk.column
    if column in plain.returning:
        return sql
    quote = connection.ops.quote_name
    key = f"{quote(plain.table)}.{quote(column)}"
    return f"{sql}, {key}" if plain.returning else f"{sql} RETURNING {key}"


def read_ahead(cursor: Any) -> None:  # noqa: ANN401 - Django's wrapper
    """Read what a statement returns, and leave it to be read again."""
    cursor.cursor = Replay(cursor.cursor, list(cursor.fetchall()))


def taken_keys(
    cursor: Any,  # noqa: ANN401 - Django's wrapper
    plain: Insert,
    model: Any,  # noqa: ANN401
    connection: Any,  # noqa: ANN401
) -> list[Any]:
    """Return the keys of the inserted rows, and leave the rows to be read again."""
    rows = list(cursor.fetchall())
    key = meta(model).pk
    place = -1
    if plain.returning:
        if key.column in plain.returning:
            place = plain.returning.index(key.column)
        width = len(plain.returning)
        cursor.cursor = Replay(cursor.cursor, [row[:width] for row in rows])
    column = key.get_col(plain.table)
    converters = [
        *connection.ops.get_db_converters(column),
        *column.get_db_converters(connection),
    ]
    return [_converted(row[place], converters, column, connection) for row in rows]


def _converted(value: Any, converters: list[Any], column: Any, connection: Any) -> Any:  # noqa: ANN401
    for convert in converters:
        value = convert(value, column, connection)
    return value
