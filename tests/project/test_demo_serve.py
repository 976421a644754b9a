"""`make run` begins a demo database anew that an earlier version has made."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.broad, pytest.mark.servers]
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
from pathlib import Path
from project.settings import *

BASE_DIR = Path(__file__).parent
DATABASES["default"]["NAME"] = BASE_DIR / {name!r}
"""
OF_BEFORE = ("0001_initial", "0002_what_a_page_adds")
APPLIED = "2026-01-01 00:00:00"


@pytest.fixture
def start(tmp_path):
    """Start the demo in a folder of its own; return what it says until it serves."""

    def run(name="db.sqlite3", until="Open http", **more):
        (tmp_path / "demo_settings.py").write_text(SETTINGS.format(name=name))
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "demo_settings",
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
            "PYTHONUNBUFFERED": "1",
            "PORT": "0",
            **more,
        }
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo_serve"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        try:
            for line in process.stdout:
                said.append(line)
                if until in line:
                    break
        finally:
            process.kill()
            process.communicate()
        return "".join(said)

    return run


def made_before(file, applied=OF_BEFORE):
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE django_migrations (id, app, name, applied)")
        rows = [(n, "ai_assistant", name, APPLIED) for n, name in enumerate(applied)]
        database.executemany("INSERT INTO django_migrations VALUES (?, ?, ?, ?)", rows)
    return file.read_bytes()


def columns(file):
    with sqlite3.connect(file) as database:
        rows = database.execute("PRAGMA table_info(ai_assistant_run)").fetchall()
    return {row[1] for row in rows}


@pytest.mark.parametrize(
    "applied", [OF_BEFORE, OF_BEFORE[:1]], ids=["removed migration", "edited migration"]
)
def test_database_of_before_is_set_aside_once(start, tmp_path, applied):
    file = tmp_path / "db.sqlite3"
    before = made_before(file, applied)

    said = start()

    assert "db.sqlite3 was made by an earlier version" in said
    assert "kind" in columns(file)
    assert (tmp_path / "db.sqlite3.old").read_bytes() == before
    assert "earlier version" not in start()


def test_database_that_is_not_the_demos_stays(start, tmp_path):
    file = tmp_path / "site.sqlite3"
    before = made_before(file)

    said = start("site.sqlite3")

    assert f"CommandError: The database '{file}' was made by an earlier version" in said
    assert "Open http" not in said
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.sqlite3*")] == [file.name]


class TestServer:
    @pytest.mark.parametrize(
        ("server", "package"), [("uvicorn", "uvloop"), ("granian", "granian")]
    )
    def test_missing_package_is_named(self, start, tmp_path, server, package):
        hidden = f"import sys; sys.modules[{package!r}] = None\n"
        (tmp_path / "sitecustomize.py").write_text(hidden)

        said = start(SERVER=server)

        assert f"SERVER is {server!r}, but these packages are not installed" in said
        assert f"installed: {package}. Install them: pip" in said
