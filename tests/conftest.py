"""What all tests share."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.test import TransactionTestCase
from django.test.utils import setup_databases, teardown_databases
from hypothesis import HealthCheck
from hypothesis import settings as examples

from tests.tables import clear_tables, copy_tables

# How long an example takes says how busy the machine is.
examples.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
examples.load_profile("tests")

# Tests that commit for real: the flush of Django makes all permissions anew.
TransactionTestCase._fixture_teardown = lambda _case: clear_tables()

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell ignores Ctrl-C for what it runs in the background, and so would each
    # server that a test starts and stops with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.servers.fixtures", "tests.figures", "tests.levels"]


@receiver(connection_created)
def hurry(*, connection, **_):
    """The rows of tests may be lost with the machine, never with a process."""
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA synchronous = OFF")


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator:
    """
    The test database, whichever tests are run.

    pytest-django makes it for tests with its mark only; those of threads and of
    sockets have a fixture of their own.
    """
    name = connection.settings_dict["TEST"]["NAME"]  # of a site of packages, none
    path = Path(str(name))
    made: list[Any] = []

    def make() -> None:
        made[:] = setup_databases(
            verbosity=0,
            interactive=False,
            aliases=["default"],
            keepdb=path.is_file(),
        )

    with django_db_blocker.unblock():
        if connection.vendor == "sqlite" and name:
            path.unlink(missing_ok=True)  # of a process that was killed
            copy_tables(path, make)
        else:
            make()
    yield
    with django_db_blocker.unblock():
        _end_other_sessions()
        teardown_databases(made, verbosity=0)


def _end_other_sessions() -> None:
    """Let go of the connections that threads of the engine still have."""
    if connection.vendor == "postgresql":
        connection.cursor().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(autouse=True, scope="session")
def _rules_kept_for_long() -> None:
    """No rows are read again in the middle of a test because the machine is busy."""
    from ai_assistant import conf
    from ai_assistant.engine import queries

    conf.POLICY_TTL_S = queries.STARTS_TTL_S = 600.0


@pytest.fixture(autouse=True)
def _no_rules_kept() -> Iterator:
    """Rules are kept for seconds; the rows of a test are gone at its end."""
    from ai_assistant.configuration import rows as configured
    from ai_assistant.engine.queries import code_starts
    from ai_assistant.safety.budgets import budgets
    from ai_assistant.safety.policy.policy import rule_rows

    kept = (rule_rows, budgets.budget_rows, configured, code_starts)
    for rows in kept:
        rows.forget()
    yield
    for rows in kept:
        rows.forget()
