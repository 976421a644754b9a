"""Rows that a test needs and nobody would wait for: a conversation of many runs."""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.servers.oracle import Oracle

Row = dict[str, Any]


def add_runs(oracle: Oracle, conversation: str, count: int) -> None:
    """Put so many copies of the last run of a conversation behind it (SQLite)."""
    path = oracle.url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        connection.row_factory = sqlite3.Row
        key = UUID(conversation).hex
        last = _rows(connection, "run", "conversation_id", key, "created_at")[-1]
        messages = _rows(connection, "message", "run_id", last["id"], "position")
        position = messages[-1]["position"]
        for number in range(count):
            run = _behind(last, number)
            _insert(connection, "run", run)
            for message in messages:
                position += 1
                copy = {"id": uuid4().hex, "run_id": run["id"], "position": position}
                parts = f'[{{"type": "text", "text": "copy {number}"}}]'
                copy |= {"key": "", "client_id": "", "parts": parts}
                _insert(connection, "message", {**message, **copy})
            last = run


def read_all(oracle: Oracle) -> None:
    """Let no conversation of before be news, whatever still ends in it (SQLite)."""
    path = oracle.url.removeprefix("sqlite:///")
    far = "2999-01-01 00:00:00"
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        connection.execute("UPDATE ai_assistant_conversation SET read_at = ?", (far,))


def _behind(last: Row, number: int) -> Row:
    later = datetime.fromisoformat(last["created_at"]) + timedelta(milliseconds=1)
    return {
        **last,
        "id": uuid4().hex,
        "after_id": last["id"],
        "idempotency_key": f"copy-{number}-{uuid4().hex}",
        "created_at": later.isoformat(sep=" "),
    }


def _rows(
    connection: sqlite3.Connection, table: str, field: str, value: object, order: str
) -> list[Row]:
    found = connection.execute(
        f"SELECT * FROM ai_assistant_{table} WHERE {field} = ? ORDER BY {order}",  # noqa: S608
        (value,),
    )
    return [dict(row) for row in found]


def _insert(connection: sqlite3.Connection, table: str, row: Row) -> None:
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    connection.execute(
        f"INSERT INTO ai_assistant_{table} ({names}) VALUES ({marks})",  # noqa: S608
        tuple(row.values()),
    )
