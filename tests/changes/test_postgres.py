"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on

pytestmark = pytest.mark.broad

FILES = ["forms", "images", "statements", "files", "store", "compare", "pieces"]


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_images_equal_the_rows_there_too(postgres_server):
    paths = [f"tests/changes/test_{name}.py" for name in FILES]

    assert passed_on(postgres_server.new_database(), *paths) > 200
