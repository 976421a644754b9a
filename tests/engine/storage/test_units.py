"""A unit is one transaction, repeated whole while the database is busy."""

import sqlite3

import pytest
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    transaction,
)

from ai_assistant.engine.storage import units
from ai_assistant.engine.storage.units import is_transient, unit, unit_once
from ai_assistant.exceptions import LostLease
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
NO_RUN = "00000000-0000-0000-0000-000000000000"


class Cause(Exception):
    def __init__(self, **fields):
        super().__init__()
        self.__dict__.update(fields)


def error(kind=OperationalError, **fields):
    raised = kind("x")
    raised.__cause__ = Cause(**fields) if fields else None
    return raised


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(units.time, "sleep", lambda _s: None)


def failing(times, raised):
    """Return work that writes a row, and fails so many times after that."""
    tries = []

    def work():
        tries.append(1)
        Effect.objects.create(key=f"try-{len(tries)}", run=NO_RUN)
        if len(tries) <= times:
            raise raised
        return len(tries)

    return work, tries


class TestIsTransient:
    @pytest.mark.parametrize(
        ("raised", "expected"),
        [
            (error(sqlite_errorname="SQLITE_BUSY"), True),
            (error(sqlite_errorname="SQLITE_BUSY_SNAPSHOT"), True),
            (error(sqlite_errorname="SQLITE_LOCKED"), True),
            (error(sqlite_errorname="SQLITE_FULL"), False),
            (error(sqlite_errorname="SQLITE_ERROR"), False),
            (error(sqlstate="40001"), True),
            (error(sqlstate="40P01"), True),
            (error(sqlstate="55P03"), True),
            (error(sqlstate="08006"), True),
            (error(sqlstate="57P01"), True),
            (error(sqlstate="42P01"), False),
            (error(sqlstate=None), True),
            (error(), True),
            (error(InterfaceError), True),
            (error(IntegrityError), False),
            (error(DatabaseError), False),
            (ValueError(), False),
        ],
    )
    def test_is_transient_judges(self, raised, expected):
        assert is_transient(raised) is expected

    def test_real_errors_of_sqlite(self):
        connection = sqlite3.connect(":memory:")
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.execute("SELECT * FROM nothing")
        connection.close()
        raised = OperationalError("no such table")
        raised.__cause__ = caught.value

        assert not is_transient(raised)


@pytest.mark.parametrize("make", [unit, unit_once])
class TestUnit:
    def test_unit_is_one_transaction(self, make):
        work, _ = failing(9, KeyError())

        with pytest.raises(KeyError):
            make(work)()

        assert Effect.objects.count() == 0

    def test_unit_is_repeated_whole(self, make):
        work, tries = failing(3, error(sqlstate="40001"))

        assert make(work)() == 4
        assert [effect.key for effect in Effect.objects.all()] == ["try-4"]

    def test_but_not_forever(self, make):
        work, tries = failing(9, error(sqlstate="40001"))

        with pytest.raises(OperationalError):
            make(work)()

        assert len(tries) == 4

    def test_other_errors_are_not_repeated(self, make):
        work, tries = failing(9, error(sqlite_errorname="SQLITE_FULL"))

        with pytest.raises(OperationalError):
            make(work)()

        assert len(tries) == 1

    def test_a_hook_after_the_commit_undoes_nothing(self, make, caplog):
        tries = []

        def hook():
            raise OperationalError("mail server")

        def work():
            tries.append(1)
            transaction.on_commit(hook)
            Effect.objects.create(key="a", run=NO_RUN)
            return "done"

        assert make(work)() == "done"
        assert (len(tries), Effect.objects.count()) == (1, 1)
        assert "a hook of the site failed" in caplog.text


class Away:
    """Loses the connection at COMMIT, so often."""

    def __init__(self, monkeypatch, times, *, committed):
        from django.db.backends.base.base import BaseDatabaseWrapper

        self.left = times
        commit = BaseDatabaseWrapper.commit

        def lost(connection):
            self.left -= 1
            if self.left < 0 or committed:
                commit(connection)
            if self.left >= 0:
                raise OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(BaseDatabaseWrapper, "commit", lost)


class TestConnectionLostAtCommit:
    def test_unit_is_repeated(self, monkeypatch):
        work, tries = failing(0, None)
        Away(monkeypatch, 1, committed=False)

        assert unit(work)() == 2

    @pytest.mark.parametrize("committed", [False, True])
    def test_unit_once_is_not(self, monkeypatch, committed):
        work, tries = failing(0, None)
        Away(monkeypatch, 1, committed=committed)

        with pytest.raises(LostLease):
            unit_once(work)()

        assert len(tries) == 1
        assert Effect.objects.count() == (1 if committed else 0)
