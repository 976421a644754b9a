"""A query for rows by their keys whose SQL is kept: to build it takes most of its time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections, models

from ai_assistant.changes.values import meta


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """The query for a certain number of keys of one table."""

    query: Any
    sql: str
    expressions: list[Any]
    names: list[str]

    def rows(self, keys: Sequence[Any], alias: str) -> Iterator[dict[str, Any]]:
        """Yield the rows with these keys, as `QuerySet.values` does."""
        params = _prepared(self.query.model, alias, keys)
        with connections[alias].cursor() as cursor:
            cursor.execute(self.sql, params)
            found = cursor.fetchall()
        compiler = self.query.get_compiler(alias)
        converters = compiler.get_converters(self.expressions)
        for row in compiler.apply_converters(found, converters):
            yield dict(zip(self.names, row, strict=True))


def compiled_by_key(
    rows: models.QuerySet[Any, dict[str, Any]], count: int
) -> CompiledQuery | None:
    """
    Return the query for `count` of `rows`, which are values.

    None if the keys do not become parameters of it one by one, as they are.
    """
    samples = range(1, count + 1)
    try:
        query: Any = rows.filter(pk__in=samples).query
        expected = _prepared(rows.model, rows.db, samples)
    except (TypeError, ValueError, ValidationError):
        return None  # a key is something else than a number, a text or a UUID
    compiler = query.get_compiler(rows.db)
    sql, params = compiler.as_sql()
    if list(params) != expected:
        return None
    expressions = [expression for expression, _sql, _alias in compiler.select]
    return CompiledQuery(query, sql, expressions, list(query.selected))


def _prepared(model: Any, alias: str, keys: Iterable[Any]) -> list[Any]:
    """Return the keys as the database takes them."""
    field, connection = meta(model).pk, connections[alias]
    return [
        field.get_db_prep_value(field.get_prep_value(key), connection, prepared=True)
        for key in keys
    ]
