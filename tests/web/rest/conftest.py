import pytest
from django.core.cache import cache

from tests.web.conftest import browser, committed_db, people, quiet  # noqa: F401
from tests.web.rest.program import EVERY, Program


@pytest.fixture(autouse=True)
def _nothing_counted():
    cache.clear()


@pytest.fixture
def program(people, quiet):  # noqa: F811
    """Return a program of a user, `program("ada")`; nothing executes its runs."""

    def make(name="ada", scopes=EVERY) -> Program:
        return Program(people[name], scopes)

    return make
