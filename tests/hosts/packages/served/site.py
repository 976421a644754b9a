"""The server of the site, with the rows of its cases and one person."""

import http.client
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.servers.ports import free_port
from tests.servers.process import Process, python

HEALTH = "/assistant/health/"
# The assistant's own tables, what a browser leaves, and what only reads with an index.
LEFT_OUT = re.compile(r"ai_assistant_|django_session|django_admin_log|sqlite_|\w+_fts")

Row = tuple[str, ...]  # the table, then its values


@dataclass(frozen=True, slots=True)
class Served:
    """`session` is the key of one of the person, if a password is not enough."""

    url: str
    database: Path
    log: Path
    session: str

    def faults(self) -> list[str]:
        """Return what the server has said of errors, an error a line."""
        return re.findall(r"^\w+(?:Error|Exception): .*$", self.log.read_text(), re.M)

    def rows(self) -> set[Row]:
        """Return all rows of the site."""
        with closing(sqlite3.connect(self.database, timeout=30)) as connection:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type='table'"
            )
            tables = [name for (name,) in found if not LEFT_OUT.match(name)]
            return {
                (table, *map(str, row))
                for table in tables
                for row in connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            }


@contextmanager
def serve(database: Path, model: str) -> Iterator[Served]:
    """Serve the site with tables that are made already, and a model at an address."""
    port = free_port()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.hosts.packages.served.settings",
        "HOSTS_DATABASE": str(database),
        "HOSTS_MODEL": model,
    }
    command = python("-m", "tests.hosts.packages.served.run", str(port))
    log = database.with_suffix(".log")
    with Process(command, log=log, env=environment, ready=lambda: _is_up(port)) as one:
        key = re.search(r"^session: (\w+)$", one.output(), re.M)
        url = f"http://127.0.0.1:{port}"
        yield Served(url, database, log, key[1] if key else "")


def _is_up(port: int) -> bool:
    with suppress(OSError, ValueError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        with closing(connection):
            connection.request("GET", HEALTH)
            return "status" in json.load(connection.getresponse())
    return False
