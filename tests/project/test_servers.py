"""The demo serves the same with each of its servers, and stops cleanly."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from project.environment import SERVERS
from tests.servers.client import Person
from tests.servers.ports import free_port
from tests.servers.process import Process

pytestmark = [pytest.mark.broad, pytest.mark.servers]
ROOT = Path(__file__).resolve().parents[2]
STOPPED_S = 60.0


@pytest.fixture
def serve(tmp_path):
    """Serve the demo in a database of its own, with one of its servers."""
    started = []

    def start(server: str) -> tuple[Process, str]:
        port = free_port()
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3",
            "DJANGO_DEBUG": "0",
            "PYTHONUNBUFFERED": "1",
            "PORT": str(port),
            "SERVER": server,
        }
        process = Process(
            [sys.executable, "manage.py", "demo_serve"],
            log=tmp_path / "server.log",
            env=environment,
            ready=lambda: answers(port),
        )
        started.append(process)
        process.start()
        return process, f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def members(group: int) -> list[str]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "-g", str(group)],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.split()


def stopped_within(process: Process, seconds: float) -> bool:
    """Press Ctrl-C, as a terminal does for the whole group; wait for all of it."""
    os.killpg(process.pid, signal.SIGINT)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not process.is_alive and not members(process.pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("server", SERVERS)
def test_message_streams_to_an_open_page_and_the_server_stops(serve, server):
    process, url = serve(server)

    with Person(url=url).sign_in() as person, person.listen() as tab:
        assert person.send("Hello").status_code == 204
        tab.wait_for("aia-body", timeout_s=60)
        tab.wait_for('"state": "idle"', timeout_s=60)
        assert not tab.closed.is_set()
        assert stopped_within(process, STOPPED_S), process.tail()
        assert tab.closed.wait(5)

    assert "no issues" in process.output()
    assert "Traceback" not in process.output()
