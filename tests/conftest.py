"""What all tests share."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.test.utils import setup_databases, teardown_databases
from hypothesis import HealthCheck
from hypothesis import settings as examples

# How long an example takes says how busy the machine is.
examples.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
examples.load_profile("tests")

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
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, aliases=["default"])
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


@pytest.fixture(autouse=True)
def _no_rules_kept() -> Iterator:
    """Rules are kept for seconds; the rows of a test are gone at its end."""
    from ai_assistant.safety.budgets import budgets
    from ai_assistant.safety.policy.policy import rule_rows

    rule_rows.forget()
    budgets.budget_rows.forget()
    yield
    rule_rows.forget()
    budgets.budget_rows.forget()
