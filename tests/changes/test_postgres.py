"""The same tests on PostgreSQL, in a process that has it as its database."""

import os
import re
import subprocess

import pytest

from tests.servers.process import ROOT, python

FILES = ["forms", "images", "statements", "files", "store", "compare", "pieces"]


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_images_equal_the_rows_there_too(postgres_server):
    paths = [f"tests/changes/test_{name}.py" for name in FILES]
    ran = subprocess.run(
        python("-m", "pytest", "-q", "-p", "no:cacheprovider", *paths),
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": postgres_server.new_database()},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-4000:]
    assert int(re.search(r"(\d+) passed", ran.stdout).group(1)) > 200
