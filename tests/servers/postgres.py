"""A PostgreSQL of our own, from the programs that Debian installs."""

import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
import pytest

from tests.servers.ports import free_port
from tests.servers.process import ROOT, Process, python

PLACES = "/usr/lib/postgresql/*/bin"
# Data of tests may be lost with the machine, never with a process.
FAST = ("fsync=off", "full_page_writes=off")


class PostgresServer:
    """Its data lie in a folder that goes with it. Refuses to run as root."""

    def __init__(self) -> None:
        self.programs = _programs()
        self.port = free_port()
        self.user = "postgres" if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="aia-postgres-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        settings = (
            *FAST,
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
            "max_connections=200",
            "shared_buffers=64MB",
        )
        options = [part for setting in settings for part in ("-c", setting)]
        self.process = Process(
            [str(self.programs / "postgres"), "-D", str(self.data), *options],
            log=self.folder.with_suffix(".log"),
            user=self.user,
            ready=self._answers,
        )

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, name: str) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{name}"

    def new_database(self, template: str = "template1") -> str:
        """Make a database, as a copy of `template`, and return its URL."""
        name = f"aia_{uuid.uuid4().hex[:12]}"
        with self._connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def start(self) -> Self:
        if not self.data.exists():
            self._initialise()
        self.process.start()
        return self

    def kill(self) -> None:
        self.process.kill()

    def restart(self) -> None:
        """Kill it and start it on the same data."""
        self.process.kill()
        self.process.start()

    def _initialise(self) -> None:
        subprocess.run(
            [
                str(self.programs / "initdb"),
                *("-D", str(self.data), "-U", "postgres", "-A", "trust"),
                *("-E", "UTF8", "--no-locale", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            cwd=self.folder,
            user=self.user,
        )

    def _answers(self) -> bool:
        try:
            with self._connect():
                return True
        except psycopg.OperationalError:
            return False

    def _connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=2)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.process.log.unlink(missing_ok=True)


def passed_on(database_url: str, *paths: str) -> int:
    """Run tests in a process that has another database; return how many passed."""
    env = {**os.environ, "DATABASE_URL": database_url}
    env.pop("TESTS_SHARE", None)  # what is named runs whole
    ran = subprocess.run(
        python("-m", "pytest", "-q", "-p", "no:cacheprovider", *paths),
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
    assert "of PostgreSQL only" not in ran.stdout  # it has that database, then
    return int(re.findall(r"(\d+) passed", ran.stdout)[-1])


def _programs() -> Path:
    found = sorted(Path("/").glob(PLACES.removeprefix("/")))
    if found:
        return found[-1]
    program = shutil.which("postgres")
    if program is None:
        pytest.skip("PostgreSQL is not installed")
    return Path(program).resolve().parent
