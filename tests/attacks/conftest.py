"""People at real doors, and a database that tells what was done."""

import pytest
from django.contrib.auth.models import Permission

from tests.attacks.dump import OUTSIDE
from tests.attacks.obeying import site  # noqa: F401 - a fixture of this package
from tests.attacks.person import Person
from tests.engine.conftest import (  # noqa: F401 - fixtures of this package too
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
from tests.tables import clear_tables
from tests.testapp.assistant import EXTERNAL_FILE


@pytest.fixture
def _django_db_helper(django_db_setup, django_db_blocker):
    """Commit for real, and clear the tables after the test."""
    with django_db_blocker.unblock():
        yield
        clear_tables()


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
