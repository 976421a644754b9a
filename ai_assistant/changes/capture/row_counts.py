"""
The database's own count of changed rows, to compare the recorder's with.

Triggers, database cascades and statements that bypass Django's cursors change rows
that no statement named. SQLite counts them for the connection, PostgreSQL for the
transaction and by table.
"""

from collections import Counter
from typing import Any

from django.db import connections

COUNTS = (
    "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables "
    "WHERE n_tup_ins + n_tup_upd + n_tup_del > 0"
)


class RowCounter:
    """Counts for one recording; made when it begins."""

    def __init__(self, outer: "RowCounter | None" = None) -> None:
        self._outer = outer  # of the recording around this one
        self._seen: Counter[tuple[str, str]] = Counter()  # alias, table -> rows
        self._start = {alias: _counts(connections[alias]) for alias in connections}

    def saw(self, alias: str, table: str, count: int) -> None:
        """Count the rows that an observed statement has changed."""
        self._seen[alias, table if _is_by_table(alias) else ""] += count
        if self._outer is not None:
            self._outer.saw(alias, table, count)

    def unseen(self) -> set[str]:
        """
        Return the tables of which rows changed unobserved ("" if unknown).

        Call it once: the recording around this one need not report them again.
        """
        unseen: set[str] = set()
        for alias, start in self._start.items():
            for table, count in _counts(connections[alias]).items():
                missed = count - start.get(table, 0) - self._seen[alias, table]
                if missed > 0:
                    unseen.add(table)
                    self.saw(alias, table, missed)
        return unseen


def sqlite_total_changes(connection: Any) -> int | None:
    """Return how many rows SQLite has changed so far; None for other databases."""
    if connection.vendor != "sqlite":
        return None
    return int(getattr(connection.connection, "total_changes", 0))


def _is_by_table(alias: str) -> bool:
    return connections[alias].vendor != "sqlite"


def _counts(connection: Any) -> dict[str, int]:
    total = sqlite_total_changes(connection)
    if total is not None:
        return {"": total}
    # Outside of a transaction the counts are those of another one.
    if connection.vendor != "postgresql" or not connection.in_atomic_block:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS)
        return {str(table): int(count) for table, count in cursor.fetchall()}
