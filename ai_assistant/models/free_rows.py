"""Rows that no other transaction holds: what must not wait takes those."""

from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)


def free(rows: "QuerySet[M]") -> "QuerySet[M]":
    """
    Return those of `rows` that no other transaction holds; reading them locks them.

    Use it in a transaction. SQLite locks no rows: there they are all of them.
    """
    if not connection.features.has_select_for_update_skip_locked:
        return rows
    taken = rows.order_by().select_for_update(skip_locked=True, of=("self",))
    return rows.model._default_manager.filter(pk__in=taken.values("pk"))  # noqa: SLF001
