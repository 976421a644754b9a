"""The names of objects, from the site's own code, which may fail."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction

from ai_assistant.changes.values import meta
from ai_assistant.safety.policy.sensitive import is_sensitive_model

logger = logging.getLogger("ai_assistant")

LENGTH = 200


def texts_of(
    model: Any,
    alias: str,
    rows: Sequence[dict[str, Any]],
) -> list[str]:
    """Return `str()` of the rows with these values; of secret tables only a name."""
    name = str(meta(model).verbose_name)
    if not rows or is_sensitive_model(model):
        return [name] * len(rows)
    texts: list[str] = []
    with in_savepoint(alias):
        texts += [_text(model, alias, values) for values in rows]
    return texts or [name] * len(rows)


def _text(model: Any, alias: str, values: dict[str, Any]) -> str:
    try:
        instance = model.from_db(alias, list(values), list(values.values()))
        return str(instance)[:LENGTH]
    except Exception as error:  # the site's __str__
        if connections[alias].vendor == "postgresql" and _is_broken(alias):
            raise
        logger.debug("%s has no text: %s", meta(model).label, error)
        return str(meta(model).verbose_name)


@contextmanager
def in_savepoint(alias: str) -> Iterator[None]:
    """
    Run a block that may fail in the database without breaking the transaction.

    A failure is logged and ends the block.
    """
    connection = connections[alias]
    try:
        if connection.vendor == "sqlite" or not connection.in_atomic_block:
            yield  # an error there breaks nothing
        else:
            with transaction.atomic(using=alias):
                yield
    except Exception:
        logger.exception("rows cannot be read for the images of a change")


def _is_broken(alias: str) -> bool:
    """Return whether the server refuses everything until a rollback."""
    status = getattr(connections[alias].connection, "info", None)
    return getattr(getattr(status, "transaction_status", None), "name", "") == "INERROR"
