"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_earlier_releases_insert_their_rows_there_too(postgres_server):
    url = postgres_server.new_database()

    files = [
        f"tests/models/test_{name}.py" for name in ("upgrade", "changes_that_stay")
    ]
    assert passed_on(url, *files) > 7
