"""The other databases of the site, and what takes back what was written to them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections, router, transaction


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
    aliases = list(aliases)

    def take_back() -> None:
        for alias in (DEFAULT_DB_ALIAS, *aliases):
            transaction.set_rollback(True, using=alias)

    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(transaction.atomic(using=alias))
        yield take_back


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
