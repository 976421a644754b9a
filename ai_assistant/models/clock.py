"""The database's clock: the one that all processes of a site share."""

from django.db import connection

NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())",
}


def now_sql() -> str:
    """Return the database's clock as SQL, in seconds since 1970."""
    return NOW[connection.vendor]


def database_now() -> float:
    """Return the database's clock, in seconds since 1970."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {now_sql()}")
        return float(cursor.fetchone()[0])
