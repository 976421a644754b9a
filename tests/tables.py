"""The tables of tests: made once a test run, emptied where tests commit for real."""

import fcntl
import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from django.apps import apps
from django.db import connection, transaction

from tests.servers.prepared import share_template

# Made by migrate, once: making all permissions takes half a second.
KEPT = ("auth_permission", "django_content_type")


def clear_tables() -> None:
    """Delete all rows but the permissions."""
    tables = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    }
    cleared = sorted(tables - {*KEPT})
    deletes = "".join(f'DELETE FROM "{table}";' for table in cleared)  # noqa: S608
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        connection.connection.executescript(
            f"BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON; {deletes} COMMIT;"
        )
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(deletes)  # most are empty: faster than to truncate them all


def copy_tables(path: Path, make: Callable[[], None]) -> None:
    """
    Let `make` make the SQLite database at `path`, from a copy if there is one.

    All processes of a test run that have the same tables share the copy.
    """
    folder = share_template()
    template = folder / f"tests-{_digest()}.sqlite3"
    with template.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            make()
            half = template.with_suffix(".half")
            with closing(sqlite3.connect(half)) as copied:
                connection.connection.backup(copied)
            half.rename(template)
            return
    shutil.copyfile(template, path)
    make()


def _digest() -> str:
    """Name the tables and their columns: other settings have others."""
    columns = [
        (model._meta.db_table, [field.column for field in model._meta.local_fields])
        for model in apps.get_models(include_auto_created=True)
    ]
    return hashlib.sha256(repr(columns).encode()).hexdigest()[:16]
