"""One after the other: what is counted and then added to must not race."""

from zlib import crc32

from django.db import connection

SPACE = 0x414941  # of our locks, beside those of the site


def in_single_file(name: str) -> None:
    """
    Wait until no other transaction is between this line and its end.

    Call it in a transaction. On SQLite a transaction that writes is alone anyway:
    write before you count.
    """
    if connection.vendor != "postgresql":
        return
    key = crc32(name.encode()) & 0x7FFFFFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [SPACE, key])
