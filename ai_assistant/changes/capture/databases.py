"""The databases of the site, and what takes back what was written to them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NoReturn

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, Error, connections, router, transaction


def every_other() -> list[str]:
    """Return the aliases of all other databases."""
    return _apart(connections)


def written_ones() -> list[str]:
    """Return the aliases of the other databases that routers write any model to."""
    if len(list(connections)) == 1:
        return []
    return _apart(router.db_for_write(model) for model in apps.get_models())


@contextmanager
def taken_back_with(aliases: Iterable[str]) -> Iterator[Callable[[], None]]:
    """
    Open a transaction in each of these databases, besides the one of the run.

    Yield what takes all of them back, also that of the run, which has to be open.
    """
    with opened(aliases) as there:

        def take_back() -> None:
            for alias in (DEFAULT_DB_ALIAS, *there):
                transaction.set_rollback(True, using=alias)

        yield take_back


@contextmanager
def opened(aliases: Iterable[str], *, reads: bool = False) -> Iterator[list[str]]:
    """
    Open a transaction in each of these databases; yield the aliases of those.

    One besides `default` that cannot be reached stays closed meanwhile, even if it comes
    back: nothing is written to it without a transaction. One that `reads` holds no write
    lock of SQLite, before it writes.
    """
    there = []
    with ExitStack() as stack:
        for alias in aliases:
            connection = connections[alias]
            try:
                connection.ensure_connection()
            except Error as error:
                if alias == DEFAULT_DB_ALIAS:
                    raise
                stack.enter_context(_closed(connection, error))
                continue
            with _without_lock(connection) if reads else nullcontext():
                stack.enter_context(transaction.atomic(using=alias))
            there.append(alias)
        yield there


@contextmanager
def _closed(connection: Any, error: Error) -> Iterator[None]:
    """Refuse each new attempt to connect as the first one was."""

    def refuse() -> NoReturn:
        raise error

    connect = connection.connect
    connection.connect = refuse
    try:
        yield
    finally:
        connection.connect = connect


@contextmanager
def _without_lock(connection: Any) -> Iterator[None]:
    """Let a transaction that begins here hold no write lock, before it writes."""
    mode = getattr(connection, "transaction_mode", None)  # of SQLite
    if mode is not None:
        connection.transaction_mode = None
    try:
        yield
    finally:
        if mode is not None:
            connection.transaction_mode = mode


def _apart(aliases: Iterable[str]) -> list[str]:
    """Return each once, without a second way to a file that is open for writing."""
    taken = {_file(DEFAULT_DB_ALIAS)} - {""}
    found = []
    for alias in dict.fromkeys(aliases):
        if alias != DEFAULT_DB_ALIAS and _file(alias) not in taken:
            taken |= {_file(alias)} - {""}
            found.append(alias)
    return found


def _file(alias: str) -> str:
    """Return the file of an SQLite database; empty for all others."""
    connection = connections[alias]
    return (
        str(connection.settings_dict["NAME"]) if connection.vendor == "sqlite" else ""
    )
