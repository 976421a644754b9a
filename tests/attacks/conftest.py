"""People at real doors, and a database that tells what was done."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import connection, transaction

from tests.attacks.dump import OUTSIDE
from tests.attacks.person import Person
from tests.engine.conftest import (  # noqa: F401 - fixtures of this package too
    KEPT,
    function_model,
    given_out,
    offer,
    options,
    oracle,
    play,
    script,
    staff,
    submission,
    user,
)
from tests.testapp.assistant import EXTERNAL_FILE

CLEARED = (
    *("ai_assistant", "admin", "auth", "sessions"),
    *("testapp", "library", "warehouse", "gallery"),
)


@pytest.fixture
def _django_db_helper(django_db_setup, django_db_blocker):
    """Commit for real, and clear the tables after the test."""
    with django_db_blocker.unblock():
        yield
        _clear()


def _clear():
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


@pytest.fixture(autouse=True)
def _by_hand(options):  # noqa: F811
    """Nothing is executed but by the test, and nothing is allowed beforehand."""
    options(EXECUTOR="worker", POLICY={})


@pytest.fixture(autouse=True)
def outside(monkeypatch, tmp_path):
    """The file of `write_external`: what has left the site."""
    path = tmp_path / "outside.txt"
    path.touch()
    monkeypatch.setenv(EXTERNAL_FILE, str(path))
    monkeypatch.setattr(OUTSIDE, "path", path)
    return path


@pytest.fixture
def ada(user):  # noqa: F811
    """A superuser at her browser."""
    return Person(user)


@pytest.fixture
def nora(staff):  # noqa: F811
    """A member of staff who may use the assistant, and change effects."""
    staff.user_permissions.add(
        *Permission.objects.filter(content_type__app_label__in=("testapp", "warehouse"))
    )
    return Person(staff)
