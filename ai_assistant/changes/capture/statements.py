"""Every statement of a recording, on its way to the database."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ai_assistant.changes.capture import sql_text
from ai_assistant.changes.capture.images import all_rows
from ai_assistant.changes.capture.row_counts import sqlite_total_changes
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.capture.sql_text import Insert
from ai_assistant.changes.trees import PLACES, are_places, is_tree
from ai_assistant.changes.values import has_one_key, meta, model_of_table

if TYPE_CHECKING:
    from ai_assistant.changes.capture.recorder import Recorder


class ReplayCursor:
    """A driver's cursor that returns its fetched rows again."""

    def __init__(self, cursor: Any, rows: list[Any]) -> None:
        self._cursor, self._rows = cursor, rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def __iter__(self) -> Iterator[Any]:
        while self._rows:
            yield self._rows.pop(0)

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        self._rows = []
        return self._cursor.execute(*args, **kwargs)

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int = 1) -> list[Any]:
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def fetchall(self) -> list[Any]:
        return self.fetchmany(len(self._rows))


def with_key(sql: str, insert: Insert, model: Any, connection: Any) -> str:
    """Return the statement, extended to return the primary key."""
    column = meta(model).pk.column
    if column in insert.returning:
        return sql
    quote = connection.ops.quote_name
    key = f"{quote(insert.table)}.{quote(column)}"
    return f"{sql}, {key}" if insert.returning else f"{sql} RETURNING {key}"


def taken_keys(
    cursor: Any,
    insert: Insert,
    model: Any,
    connection: Any,
) -> list[Any]:
    """Return the keys of the inserted rows, and leave the rows to be read again."""
    rows = list(cursor.fetchall())
    key = meta(model).pk
    place = -1
    if insert.returning:
        if key.column in insert.returning:
            place = insert.returning.index(key.column)
        width = len(insert.returning)
        cursor.cursor = ReplayCursor(cursor.cursor, [row[:width] for row in rows])
    column = key.get_col(insert.table)
    converters = [
        *connection.ops.get_db_converters(column),
        *column.get_db_converters(connection),
    ]
    return [_converted(row[place], converters, column, connection) for row in rows]


def _converted(value: Any, converters: list[Any], column: Any, connection: Any) -> Any:
    for convert in converters:
        value = convert(value, column, connection)
    return value


logger = logging.getLogger("ai_assistant")

# Tables that every write may write to along the way. Rows that go from them are
# images or gaps like any others.
ALONG_APPS = frozenset({"ai_assistant", "sessions"})  # whose rows have no images
ALONG_MODELS = frozenset({"admin.logentry", "contenttypes.contenttype"})

Execute = Callable[[str, Any, bool, dict[str, Any]], Any]


@dataclass(slots=True)
class WatchedStatement:
    """One statement that may write."""

    sql: Any
    kind: str
    table: str = ""
    model: Any = None
    imaged: int | None = None  # rows with an image; None: not known which rows
    plain_insert: sql_text.Insert | None = None
    returns: bool = False  # an UPDATE or DELETE that gives rows back
    is_along: bool = False
    problem: str = ""  # the kind of the gap, if not that of the SQL


class StatementWatcher:
    """An execute wrapper of one connection, for one recording."""

    def __init__(self, recorder: "Recorder", is_open: Callable[[], bool]) -> None:
        self._recorder = recorder
        self._is_open = is_open

    def __call__(
        self,
        execute: Execute,
        sql: Any,
        params: Any,
        many: bool,  # noqa: FBT001 - Django's signature
        context: dict[str, Any],
    ) -> Any:
        if not self._is_open():  # a recording within this one sees it
            return execute(sql, params, many, context)
        kind = sql_text.statement_kind(sql) if isinstance(sql, str) else "other"
        if kind == "read":
            return execute(sql, params, many, context)
        watched = WatchedStatement(sql, kind)
        self._guarded(watched, lambda: self._before(watched, params, many, context))
        start = sqlite_total_changes(context["connection"])
        result = execute(watched.sql, params, many, context)
        self._guarded(watched, lambda: self._after(watched, start, context))
        return result

    def _guarded(self, watched: WatchedStatement, work: Callable[[], None]) -> None:
        """Run the recorder's work so that its errors do not reach the site's code."""
        try:
            work()
        except Exception:
            logger.exception("no image can be taken of %s", watched.table or "a row")
            watched.imaged = None
            self._recorder.gap(watched.table, "fault")

    def _before(
        self,
        watched: WatchedStatement,
        params: Any,
        many: bool,  # noqa: FBT001
        context: dict[str, Any],
    ) -> None:
        if not isinstance(watched.sql, str):
            return
        watched.table = sql_text.table_of(watched.sql)
        watched.model = model_of_table(watched.table)
        if watched.model is None:
            return
        watched.is_along = _is_along(watched)
        if watched.is_along and watched.kind == "update":
            watched.returns = " RETURNING " in watched.sql  # the numbers of a run
        if many or not has_one_key(watched.model):
            return
        if watched.kind == "insert":
            self._before_insert(watched, params, context["connection"])
        elif watched.kind in ("update", "delete") and not watched.is_along:
            self._before_change(watched, params, context["connection"])

    def _before_insert(
        self, watched: WatchedStatement, params: Any, connection: Any
    ) -> None:
        insert = sql_text.insert(watched.sql, params)
        # Not every database returns the keys of the rows it has inserted.
        returns_single = connection.features.can_return_columns_from_insert
        returns_bulk = connection.features.can_return_rows_from_bulk_insert
        if insert is None or not (returns_single and returns_bulk):
            return
        watched.plain_insert = insert
        watched.sql = with_key(watched.sql, insert, watched.model, connection)

    def _before_change(
        self, watched: WatchedStatement, params: Any, connection: Any
    ) -> None:
        statement = sql_text.parse_plain_statement(watched.sql, params)
        model = watched.model
        columns = sql_text.assigned_columns(watched.sql) if is_tree(model) else ()
        if statement is None and are_places(model, columns):
            watched.problem = PLACES
        if statement is None or meta(model).app_label in ALONG_APPS:
            return
        if meta(model).pk.column in statement.assigned:
            watched.problem = "key"  # the row cannot be found again
            return
        recorder, alias = self._recorder, connection.alias
        is_going = watched.kind == "delete"
        rows = self._rows(statement, model, connection, is_going=is_going)
        if not all(recorder.knows(model, alias, row.pk) for row in rows):
            return  # there are too many
        watched.imaged, watched.returns = len(rows), statement.returns
        if not is_going:
            recorder.files.before_update(rows, statement.assigned)

    def _rows(
        self,
        statement: sql_text.PlainStatement,
        model: Any,
        connection: Any,
        *,
        is_going: bool,
    ) -> list[RowImage]:
        """Return the rows that the statement is about to change, with their images."""
        recorder, alias = self._recorder, connection.alias
        key = _one_row(statement, model, connection)
        if key is not None and recorder.knows(model, alias, key):
            return [recorder.begin(model, alias, key, None)]
        if key is not None:
            return recorder.meet(model, alias, [key], is_going=is_going)
        affected = all_rows(model, alias)
        if statement.where:
            where, values = [statement.where], list(statement.params)
            affected = affected.extra(where=where, params=values)  # noqa: S610 - the site's own
        return recorder.meet_rows(affected, is_going=is_going)

    def _after(
        self, watched: WatchedStatement, start: int | None, context: dict[str, Any]
    ) -> None:
        connection, recorder = context["connection"], self._recorder
        # SQLite counts the rows when all that it returns was read.
        keys = _returned(watched, context)
        end = sqlite_total_changes(connection)
        if start is None or end is None:
            changed = int(context["cursor"].rowcount)  # -1: not known
        else:
            changed = max(end - start, 0)
        recorder.row_counter.saw(connection.alias, watched.table, max(changed, 0))
        if watched.is_along:
            return
        for pk in keys:
            recorder.begin(watched.model, connection.alias, pk, None)
        if watched.imaged is not None:
            if changed > watched.imaged:
                recorder.gap(watched.table, "unseen")
        elif changed != 0 or watched.kind == "other":
            recorder.gap(watched.table, watched.problem or watched.kind)


def _returned(watched: WatchedStatement, context: dict[str, Any]) -> list[Any]:
    """Return the keys of inserted rows."""
    cursor, insert = context["cursor"], watched.plain_insert
    if insert is None:
        if watched.returns:
            cursor.cursor = ReplayCursor(cursor.cursor, list(cursor.fetchall()))
        return []
    keys = taken_keys(cursor, insert, watched.model, context["connection"])
    watched.imaged = len(keys)
    return keys


def _one_row(statement: sql_text.PlainStatement, model: Any, connection: Any) -> Any:
    """Return the key, if the condition is just `"table"."key" = %s`, else None."""
    quote, key = connection.ops.quote_name, meta(model).pk
    if statement.where != f"{quote(statement.table)}.{quote(key.column)} = %s":
        return None
    return key.to_python(statement.params[0])


def _is_along(watched: WatchedStatement) -> bool:
    options = meta(watched.model)
    if options.app_label == "sessions":
        return True
    return watched.kind in ("insert", "update") and (
        options.app_label in ALONG_APPS or options.label_lower in ALONG_MODELS
    )
