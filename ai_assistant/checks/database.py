"""The database that holds the runs."""

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.db import DEFAULT_DB_ALIAS, connection, router

from ai_assistant import conf
from ai_assistant.models.clock import NOW
from ai_assistant.models.run import Run

IMMEDIATE = "'OPTIONS': {'transaction_mode': 'IMMEDIATE'}"


def check_database() -> list[CheckMessage]:
    """Return what makes writes fail. Opens no connection."""
    if connection.vendor not in NOW:
        return [
            Error(
                f"The database 'default' is {connection.vendor!r}, on which the "
                "assistant does not run.",
                hint="Use SQLite or PostgreSQL.",
                id="ai_assistant.E060",
            )
        ]
    return [*_alias(), *_sqlite(), *_atomic_requests()]


def _alias() -> Iterator[CheckMessage]:
    alias = router.db_for_write(Run)
    if alias != DEFAULT_DB_ALIAS:
        yield Error(
            f"DATABASE_ROUTERS send the assistant's tables to {alias!r}.",
            hint="Leave the app 'ai_assistant' in the database 'default'.",
            id="ai_assistant.E063",
        )


def _mode() -> str | None:
    """Return the transaction mode that SQLite will have, None for another database."""
    if connection.vendor != "sqlite":
        return None
    own = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode")
    default = "IMMEDIATE" if conf.get("SQLITE_IMMEDIATE") else "DEFERRED"
    return str(own or default).upper()


def _sqlite() -> Iterator[CheckMessage]:
    mode = _mode()
    if mode in (None, "IMMEDIATE", "EXCLUSIVE"):
        return
    yield Warning(
        f"SQLite begins transactions in the mode {mode}: while runs are active, saves "
        'that read before they write fail with "database is locked".',
        hint=(
            "Set AI_ASSISTANT['SQLITE_IMMEDIATE'] to True, or give the database "
            f"{IMMEDIATE}. The price: atomic blocks that only read take the write lock "
            "too."
        ),
        id="ai_assistant.W061",
    )


def _atomic_requests() -> Iterator[CheckMessage]:
    if connection.settings_dict.get("ATOMIC_REQUESTS") and _mode() == "IMMEDIATE":
        yield Warning(
            "ATOMIC_REQUESTS is on for an SQLite database in the mode IMMEDIATE: every "
            "request holds the write lock from its beginning to its end.",
            hint=(
                "Turn ATOMIC_REQUESTS off and use transaction.atomic() where it is "
                "needed, or use PostgreSQL."
            ),
            id="ai_assistant.W062",
        )
