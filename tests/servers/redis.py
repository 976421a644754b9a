import shutil
import socket
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.servers.ports import free_port
from tests.servers.process import Process


class RedisServer:
    """A Redis on a free port that keeps nothing: a restart brings an empty one."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed")
        self.port = free_port()
        self.process = Process(
            [
                program,
                *("--port", str(self.port), "--bind", "127.0.0.1"),
                *("--save", "", "--appendonly", "no", "--dir", str(folder)),
            ],
            log=folder / "redis.log",
            ready=self._answers,
        )

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> Self:
        self.process.start()
        return self

    def kill(self) -> None:
        self.process.kill()

    def restart(self) -> None:
        """Kill it and start an empty one on the same port."""
        self.process.kill()
        self.process.start()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
