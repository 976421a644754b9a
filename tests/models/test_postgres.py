"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_earlier_releases_insert_their_rows_there_too(postgres_server):
    url = postgres_server.new_database()

    assert passed_on(url, "tests/models/test_upgrade.py") > 6
