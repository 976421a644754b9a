"""The server as a process of its own: it takes no time from what is measured."""

import json
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]


class ModelServerProcess:
    """Like `ModelServer`, in another process and controlled over HTTP."""

    def __init__(self, *, port: int = 0) -> None:
        self.port = port
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    def script(self, name: str, steps: list[Any]) -> None:
        self._ask("POST", "/script", {"name": name, "steps": steps})

    def release(self, name: str) -> None:
        """Let one reply pass the hold `name`."""
        self._ask("POST", "/release", {"name": name})

    def log(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._ask("GET", "/log")
        return rows

    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests."""
        return [row["request"] for row in self._ask("GET", "/log?requests=1")]

    def clear(self) -> None:
        self._ask("DELETE", "/log")

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.model_server", "--port", str(self.port)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._process.stdout is None:
            raise RuntimeError("The model server has no output to read its port from.")
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=10)

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            return json.load(connection.getresponse())
        finally:
            connection.close()
