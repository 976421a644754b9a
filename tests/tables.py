"""Empty the tables of tests that commit for real."""

from django.apps import apps
from django.db import connection, transaction

CLEARED = (
    *("ai_assistant", "conformance", "auth", "admin", "sessions"),
    *("testapp", "library", "warehouse", "gallery"),
)
KEPT = ("auth_permission",)  # made by migrate, once


def clear_tables() -> None:
    """Delete all rows but the permissions, whose making takes half a second."""
    tables = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in CLEARED and model._meta.managed
    }
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA defer_foreign_keys = ON")
            for table in sorted(tables - {*KEPT}):
                cursor.execute(f'DELETE FROM "{table}"')  # noqa: S608
        else:
            cursor.execute(f"TRUNCATE {', '.join(sorted(tables - {*KEPT}))} CASCADE")
