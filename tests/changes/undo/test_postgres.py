"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on

pytestmark = pytest.mark.broad


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_undo_restores_the_rows_there_too(postgres_server):
    paths = ["tests/changes/undo/test_forms.py", "tests/changes/undo/test_edges.py"]
    paths.append("tests/engine/undo")

    assert passed_on(postgres_server.new_database(), *paths) > 100
