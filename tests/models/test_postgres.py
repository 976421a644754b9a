"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on

pytestmark = pytest.mark.broad


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_rows_and_clocks_are_the_same_there(postgres_server):
    names = ("upgrade", "clock")
    paths = [f"tests/models/test_{name}.py" for name in names]
    paths.append("tests/engine/storage/test_clocks.py")

    assert passed_on(postgres_server.new_database(), *paths) > 20
