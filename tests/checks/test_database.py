import pytest
from django.core.checks import Tags, run_checks
from django.db import connection, connections

from ai_assistant.checks import check_assistant


class Elsewhere:
    """A router that sends everything to a database of its own."""

    def db_for_write(self, model, **hints):
        return "other"


@pytest.fixture
def database(monkeypatch):
    """Change the settings of the open connection."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setitem(connection.settings_dict, name, value)

    return change


@pytest.mark.django_db
def test_own_tables_are_without_warnings():
    found = run_checks(tags=[Tags.models], databases=["default"])

    assert [one for one in found if one.obj._meta.app_label == "ai_assistant"] == []


class TestVendor:
    def test_unsupported_database_is_an_error(self, monkeypatch, only):
        monkeypatch.setattr(connections["default"], "vendor", "oracle")

        assert only() == (
            "ai_assistant.E060",
            "The database 'default' is 'oracle', on which the assistant does not run. "
            "| Use SQLite or PostgreSQL.",
        )

    def test_elsewhere(self, settings, only):
        settings.DATABASE_ROUTERS = [f"{__name__}.Elsewhere"]

        assert only() == (
            "ai_assistant.E063",
            "DATABASE_ROUTERS send the assistant's tables to 'other'. | Keep the app "
            "'ai_assistant' in the database 'default'.",
        )


class OfTenants:
    """A connection with schemas; `own_schema` is that of the process, if it has one."""

    def __init__(self, alias, own_schema=""):
        self.alias = alias
        if own_schema:
            self.own_schema = own_schema

    def set_tenant(self, tenant):
        """Do as django-tenants does."""


class TestTenants:
    @pytest.fixture
    def found(self, monkeypatch):
        """Return the ids for these databases, beside the real one."""

        def check(*own):
            real = [] if any(one.alias == "default" for one in own) else [connection]
            monkeypatch.setattr(connections, "all", lambda **_: [*real, *own])
            return [message.id for message in check_assistant()]

        return check

    def test_process_of_no_tenant(self, found):
        assert found(OfTenants("default")) == ["ai_assistant.E064"]

    def test_process_of_one(self, found):
        assert found(OfTenants("default", "acme")) == []
        assert found(OfTenants("default", "acme"), OfTenants("copy", "acme")) == []

    @pytest.mark.parametrize(
        "databases",
        [
            [OfTenants("other", "acme")],  # while the assistant's tables are shared
            [OfTenants("default", "acme"), OfTenants("other")],
            [OfTenants("default", "acme"), OfTenants("other", "beta")],
        ],
    )
    def test_databases_that_do_not_agree(self, found, databases):
        assert found(*databases) == ["ai_assistant.E064"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="about SQLite")
class TestSQLite:
    HINT = (
        "Set AI_ASSISTANT['SQLITE_IMMEDIATE'] to True, or give the database 'OPTIONS': "
        "{'transaction_mode': 'IMMEDIATE'}. The price: atomic blocks that only read "
        "take the write lock too."
    )

    @pytest.mark.parametrize("own", [{}, {"transaction_mode": "deferred"}])
    def test_sqlite_not_immediate(self, assistant, database, only, own):
        assistant(SQLITE_IMMEDIATE=bool(own))
        database(OPTIONS=own)

        assert only() == (
            "ai_assistant.W061",
            "SQLite begins transactions in the mode DEFERRED: while runs are active, "
            'saves that read before they write fail with "database is locked". | '
            + self.HINT,
        )

    def test_mode_of_the_sites_own(self, assistant, database):
        assistant(SQLITE_IMMEDIATE=False)
        database(OPTIONS={"transaction_mode": "EXCLUSIVE"})

        assert check_assistant() == []

    def test_atomic_requests(self, database, only):
        database(ATOMIC_REQUESTS=True)

        assert only() == (
            "ai_assistant.W062",
            "ATOMIC_REQUESTS is on for an SQLite database in the mode IMMEDIATE: every "
            "request holds the write lock from its beginning to its end. | Turn "
            "ATOMIC_REQUESTS off and use transaction.atomic() where it is needed, or "
            "use PostgreSQL.",
        )
