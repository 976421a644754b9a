"""Fixtures that start real servers. Nothing starts before a test asks for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.servers.postgres import PostgresServer
from tests.servers.prepared import share_template
from tests.servers.redis import RedisServer


def pytest_configure() -> None:
    share_template()  # before the processes of a parallel run start


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServerProcess]:
    """The scripted model, in a process of its own."""
    with ModelServerProcess() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as server:
        yield server


@pytest.fixture
def demo_server(
    tmp_path: Path, model_server: ModelServerProcess
) -> Iterator[Callable[..., DemoServer]]:
    """Make servers, `demo_server(executor="worker")`; all parts end with the test."""
    with ExitStack() as stack:

        def make(**options: Any) -> DemoServer:
            folder = tmp_path / f"demo-{len(list(tmp_path.glob('demo-*')))}"
            folder.mkdir()
            options.setdefault("model_url", model_server.url)
            server = DemoServer(folder, **options)
            stack.push(server.__exit__)
            return server

        yield make


@pytest.fixture
def oracle() -> Callable[[DemoServer], Oracle]:
    """Return what looks into a server's database from outside."""
    return lambda server: Oracle(server.database_url, server.external_file)
