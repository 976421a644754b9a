"""A web server of each tenant, over one database; and what is in their schemas."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.hosts.packages.sites.tenants.site import HERE, HOSTS
from tests.servers.client import Person
from tests.servers.ports import free_port
from tests.servers.process import Process, python

WAIT_S = 60.0
DATABASE = os.environ["HOSTS_DATABASE"]


class TenantServer:
    """The process of one tenant, as docs/packages.md has it."""

    def __init__(self, tenant: str, model_base: str, folder: Path) -> None:
        self.tenant = tenant
        self.port = free_port()
        self.process = Process(
            python(
                *("-m", "daphne", "--verbosity", "0", "--bind", "127.0.0.1"),
                *("--port", str(self.port), f"{HERE}.asgi:application"),
            ),
            log=folder / f"{tenant}.log",
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.hosts.packages.settings",
                "TENANT": tenant,
                "HOSTS_MODEL": model_base,
            },
            ready=self._answers,
        )

    @property
    def url(self) -> str:
        return f"http://{HOSTS[self.tenant]}:{self.port}"

    def person(self) -> Person:
        """Return the admin of the tenant, who has signed in."""
        return Person(url=self.url).sign_in()

    def _answers(self) -> bool:
        try:
            answer = httpx.get(f"{self.url}/admin/login/", trust_env=False, timeout=30)
        except httpx.HTTPError:
            return False
        return answer.status_code == 200


def rows(statement: str, tenant: str) -> list[tuple[Any, ...]]:
    """Return the rows of a SELECT in the schema of a tenant alone."""
    with _opened(tenant) as opened:
        return opened.execute(statement).fetchall()  # type: ignore[arg-type]


def do(statement: str, tenant: str) -> None:
    """Execute a statement in a schema."""
    with _opened(tenant) as opened:
        opened.execute(statement)  # type: ignore[arg-type]


def _opened(schema: str) -> "psycopg.Connection[tuple[Any, ...]]":
    path = f"-c search_path={schema}"
    return psycopg.connect(DATABASE, autocommit=True, options=path)


def run_of(tenant: str, run: str) -> tuple[Any, ...]:
    """Return the state and the owner of a run, as its schema has them."""
    found = rows("SELECT state, owner, epoch, id::text FROM ai_assistant_run", tenant)
    return next(one for one in found if one[-1] == run)


def wait_for(tenant: str, run: str, state: str) -> None:
    """Wait until a run is in a state."""
    wait_until(lambda: run_of(tenant, run)[0] == state)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
