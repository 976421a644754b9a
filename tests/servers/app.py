"""The demo as a site runs it: a web server, workers, one database."""

import contextlib
import http.client
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tests.servers.forge import Forged
from tests.servers.ports import free_port
from tests.servers.prepared import prepare
from tests.servers.process import Process, python

HEALTH = "/assistant/health/"


class DemoServer:
    """
    The demo's web server on a free port, and what belongs to it.

    `folder` takes the SQLite file, the file of external effects and the output.
    The first start makes the tables and the users admin, editor and viewer, each
    with the name as password. `forged`: its processes start without their imports,
    in 0.2 s; see `forge.py`. `wsgi`: a server without websockets and without an
    event loop that stays. `root_path` is the path that a proxy puts before it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        model_url: str,
        database_url: str = "",
        redis_url: str = "",
        executor: Literal["web", "worker"] = "web",
        lease_s: float = 2.0,
        provider: Literal["direct", "litellm"] = "direct",
        env: Mapping[str, str] | None = None,
        forged: bool = False,
        wsgi: bool = False,
        root_path: str = "",
    ) -> None:
        self.folder = folder
        self.forged = forged
        self.wsgi = wsgi
        self.root_path = root_path
        self.port = free_port()
        self.database_url = database_url or f"sqlite:///{folder / 'db.sqlite3'}"
        self.external_file = folder / "external.txt"
        base = model_url.rstrip("/").removesuffix("/v1")
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.live_settings",
            "DJANGO_DEBUG": "0",
            "ASSISTANT_MODEL": "openai/scripted",
            "ASSISTANT_API_BASE": f"{base}/v1",
            "ASSISTANT_API_KEY": "sk-test",
            "ASSISTANT_EXECUTOR": executor,
            "ASSISTANT_LEASE_S": str(lease_s),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": redis_url,
            "ASSISTANT_PROVIDER": provider,
            "TESTAPP_EXTERNAL_FILE": str(self.external_file),
            "PYTHONUNBUFFERED": "1",
            **(env or {}),
        }
        self._parts: list[Process] = []
        self.web = self._part("web", *(self._wsgi() if wsgi else self._asgi()))
        self.web.ready = self._is_healthy

    def _asgi(self) -> tuple[str, ...]:
        address = ("--bind", "127.0.0.1", "--port", str(self.port))
        return (
            "-m",
            "daphne",
            "--verbosity",
            "0",
            *address,
            *(("--root-path", self.root_path) if self.root_path else ()),
            "project.asgi:application",
        )

    def _wsgi(self) -> tuple[str, ...]:
        # Without "daphne" among the apps this is Django's own server, which is WSGI.
        address = f"127.0.0.1:{self.port}"
        return ("manage.py", "runserver", "--noreload", "--insecure", address)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *, wait: bool = True) -> Self:
        """Start the web server; the first time, make its database before."""
        prepare(self.database_url, self.env)
        self.web.start(wait=wait)
        return self

    def wait_ready(self) -> None:
        self.web.wait_ready()

    def stop(self) -> None:
        """End the web server as a deployment does, with SIGTERM."""
        self.web.terminate()

    def kill(self) -> None:
        self.web.kill()

    def pause(self) -> None:
        self.web.pause()

    def resume(self) -> None:
        self.web.resume()

    def restart(self) -> None:
        """Stop and start on the same port."""
        self.stop()
        self.start()

    def worker(self) -> Process:
        """Return a `runworker` process, not yet started."""
        prepare(self.database_url, self.env)
        return self._part("worker", "manage.py", "runworker")

    def celery(self) -> Process:
        """Return a Celery worker, not yet started."""
        prepare(self.database_url, self.env)
        worker = self._part(
            "celery",
            *("-m", "celery", "--app", "project", "worker"),
            *("--concurrency", "2", "--loglevel", "INFO"),
            *("--without-gossip", "--without-mingle"),
        )
        said = len(worker.output())
        worker.ready = lambda: " ready." in worker.output()[said:]
        return worker

    def let(self, name: str) -> None:
        """Let the tool that is held at `name` go on."""
        (self.folder / name).touch()

    def health(self) -> dict[str, Any]:
        """Return what the health address says; empty if nobody answers."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            with contextlib.closing(connection):
                connection.request("GET", HEALTH)
                answer: dict[str, Any] = json.load(connection.getresponse())
                return answer
        except (OSError, ValueError, http.client.HTTPException):
            return {}

    def output(self) -> str:
        """Return what all processes have said."""
        return "\n".join(part.output() for part in self._parts)

    def _is_healthy(self) -> bool:
        # A layer that loses everything fails health, and a process that executes
        # nothing; the server is there all the same.
        fails = self.env.get("TESTS_LAYER") == "deaf" or self.wsgi
        return self.health().get("status") in (
            ("ok", "warming", "failed") if fails else ("ok", "warming")
        )

    def _part(self, name: str, *arguments: str) -> Process:
        log = self.folder / f"{name}-{len(self._parts)}.log"
        if self.forged:
            part: Process = Forged([*arguments], env=self.env, log=log)
        else:
            part = Process(python(*arguments), log=log, env=self.env)
        self._parts.append(part)
        return part

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for part in self._parts:
            part.kill()
