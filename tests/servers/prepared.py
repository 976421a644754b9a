"""A database with tables and users, made once a test run and copied after that."""

import atexit
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.servers.process import ROOT, python

FOLDER = "TESTS_TEMPLATES"  # of the environment: where the template of SQLite is
_templates: dict[str, str] = {}  # server -> database
_done: set[str] = set()


def share_template() -> Path:
    """Return the folder of the template, which all processes of a test run share."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="aia-template-")
        atexit.register(shutil.rmtree, os.environ[FOLDER], ignore_errors=True)
    return Path(os.environ[FOLDER])


def prepare(database_url: str, env: Mapping[str, str]) -> None:
    """Make tables and users in the database of `database_url`, unless it has them."""
    if database_url in _done:
        return
    _done.add(database_url)
    if database_url.startswith("sqlite"):
        _sqlite(Path(database_url.removeprefix("sqlite:///")), env)
    else:
        _postgres(database_url, env)


def _sqlite(path: Path, env: Mapping[str, str]) -> None:
    if path.exists():
        return
    folder = share_template()
    template = folder / "db.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            half = folder / "half.sqlite3"
            _make(f"sqlite:///{half}", env)
            half.rename(template)
    shutil.copyfile(template, path)


def _postgres(url: str, env: Mapping[str, str]) -> None:
    parts = urlsplit(url)
    name = parts.path.removeprefix("/")
    template = _templates.get(parts.netloc)
    admin = parts._replace(path="/postgres").geturl()
    with psycopg.connect(admin, autocommit=True) as connection:
        if template is not None:
            connection.execute(f'DROP DATABASE "{name}"')
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
            return
        _make(url, env)
        copy = f"{name}_template"
        connection.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{name}"')
        _templates[parts.netloc] = copy


def _make(url: str, env: Mapping[str, str]) -> None:
    made = subprocess.run(
        python("-m", "tests.servers.make_database"),
        cwd=ROOT,
        env={**env, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise RuntimeError(f"The database cannot be made.\n{made.stderr}")
