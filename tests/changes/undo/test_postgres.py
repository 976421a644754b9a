"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on

pytestmark = pytest.mark.broad


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_undo_restores_the_rows_there_too(postgres_server):
    names = ("forms", "edges", "tables", "columns")
    paths = [f"tests/changes/undo/test_{name}.py" for name in names]
    designer = "tests/project/questionnaires/assistant/designer"
    paths += ["tests/engine/undo", f"{designer}/test_snapshot.py"]

    assert passed_on(postgres_server.new_database(), *paths) > 100
