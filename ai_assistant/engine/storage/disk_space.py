"""A check that the database has room for what is to be stored."""

import secrets
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection, transaction

from ai_assistant.engine.storage.units import is_disk_full, is_transient
from ai_assistant.models.call import ToolVersion

FILL_BYTES = 16_384  # more than a page has left
EVERY_S = 10.0  # a write is dear, and anybody may ask
BUSY_MS = 500  # for another writer of SQLite


class _Tried(threading.local):
    """The result of the last write. Per thread, so that no thread waits for another."""

    at: float = float("-inf")
    is_full: bool = False


_tried = _Tried()


def is_full() -> bool:
    """Return whether the disk is full, by a small write now and then."""
    if time.monotonic() - _tried.at >= EVERY_S:
        _tried.is_full = _try()
        _tried.at = time.monotonic()
    return _tried.is_full


def _try() -> bool:
    """Store a row of some pages, and let it go: it reaches the disk at the commit."""
    try:
        with _briefly(), transaction.atomic():
            row = ToolVersion.objects.create(
                hash=f"room {uuid.uuid4().hex}",
                name="room",
                effect="read",
                schema={"fill": secrets.token_hex(FILL_BYTES)},
            )
            row.delete()
    except DatabaseError as error:
        if is_disk_full(error):
            return True
        if not is_transient(error):
            raise
    return False


@contextmanager
def _briefly() -> Iterator[None]:
    """Wait no longer than a moment for another writer of SQLite."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        before = int(cursor.execute("PRAGMA busy_timeout").fetchone()[0])
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {before}")
