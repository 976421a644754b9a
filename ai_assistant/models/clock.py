"""The database's clock, and rows that no other transaction has locked."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import connection, models
from django.db.models import QuerySet, functions
from django.utils.formats import date_format
from django.utils.timezone import is_aware, localtime

SEEN_S = 60.0
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


def now() -> datetime:
    """Return the database's clock as a value of a DateTimeField. Asks the database."""
    if connection.vendor == "sqlite":
        connection.ensure_connection()  # like any query, not for an event loop
        return _host_now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
        return moment


SERVER_TIME = "STATEMENT_TIMESTAMP()"  # what Now is on PostgreSQL


def time_sql() -> tuple[str, list[Any]]:
    """Return the database's clock as SQL for a DateTimeField, and its arguments."""
    if connection.vendor == "postgresql":
        return SERVER_TIME, []
    return "%s", [connection.ops.adapt_datetimefield_value(_host_now())]


def time_text(value: object) -> str:
    """Return a time for the name of a row; of one that is not stored yet, a dash."""
    if not isinstance(value, datetime):
        return "\N{EN DASH}"
    at = localtime(value) if is_aware(value) else value
    return str(date_format(at, "SHORT_DATETIME_FORMAT"))


def nearly_now() -> datetime:
    """
    Return the database's clock, by a look at it of at most a minute ago.

    For pages without queries: it is as exact as the two clocks stay in step.
    """
    if time.monotonic() - _seen.at > SEEN_S:
        before = _host_now()
        _seen.ahead = now() - before
        _seen.at = time.monotonic()
    return _host_now() + _seen.ahead


class _Seen:
    """An observed offset of the database's clock from this process's, and when."""

    at = float("-inf")
    ahead = timedelta()


_seen = _Seen()


class Now(functions.Now):
    """The database's clock in a query."""

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> Any:
        """Pass the moment as a parameter: SQLite's own has only milliseconds."""
        moment = models.Value(_host_now(), output_field=models.DateTimeField())
        return compiler.compile(moment.resolve_expression(compiler.query))


class DatabaseTimeField(models.DateTimeField):  # type: ignore[type-arg]
    """
    A DateTimeField whose `auto_now` and `auto_now_add` are the database's clock.

    Its column is that of a plain one, and migrations know it as that.
    """

    @property
    def db_returning(self) -> bool:
        """Whether an INSERT returns the value. On SQLite it is known before."""
        return connection.vendor == "postgresql" and self._is_set(add=True)

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: FBT001
        """Return what is written."""
        if not self._is_set(add=add):
            return getattr(model_instance, self.attname)
        if connection.vendor != "sqlite":
            return Now()
        setattr(model_instance, self.attname, _host_now())
        return getattr(model_instance, self.attname)

    def deconstruct(self) -> Any:
        """Return it as Django's own field."""
        name, _path, arguments, options = super().deconstruct()
        return name, "django.db.models.DateTimeField", arguments, options

    def _is_set(self, *, add: bool) -> bool:
        return self.auto_now or (self.auto_now_add and add)


def _host_now() -> datetime:
    return datetime.now(UTC) if settings.USE_TZ else datetime.now()  # noqa: DTZ005


Q = TypeVar("Q", bound=QuerySet[Any])


def free(rows: Q) -> Q:
    """
    Return the rows that no other transaction has locked; reading them locks them.

    Use it in a transaction. SQLite has no row locks: there it returns all rows.
    """
    if not connection.features.has_select_for_update_skip_locked:
        return rows
    lockable = rows.order_by().select_for_update(skip_locked=True, of=("self",))
    free_rows = rows.model._default_manager.filter(pk__in=lockable.values("pk"))
    return cast("Q", free_rows)
