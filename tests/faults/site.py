"""A whole site under test: its processes, its database, its model, its users."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.client import Person
from tests.servers.oracle import Oracle
from tests.servers.postgres import PostgresServer
from tests.servers.process import Process
from tests.servers.redis import RedisServer


@dataclass(frozen=True, kw_only=True)
class Layout:
    """
    Which processes a site is made of.

    In memory: the web server executes, and a worker beside it takes over. With
    Redis: two workers execute, and Celery carries out the long tools. The deaf
    layer loses every message.
    """

    database: Literal["sqlite", "postgres"]
    layer: Literal["memory", "redis", "deaf"]
    executor: Literal["web", "worker"]

    @property
    def workers(self) -> int:
        return 2 if self.layer == "redis" else 1


LAYOUTS = {
    "sqlite-memory": Layout(database="sqlite", layer="memory", executor="web"),
    "sqlite-redis": Layout(database="sqlite", layer="redis", executor="worker"),
    "postgres-memory": Layout(database="postgres", layer="memory", executor="web"),
    "postgres-redis": Layout(database="postgres", layer="redis", executor="worker"),
}
DEAF = {
    "deaf-web": Layout(database="sqlite", layer="deaf", executor="web"),
    "deaf-worker": Layout(database="sqlite", layer="deaf", executor="worker"),
}
# Runs are interrupted here more often than anywhere: none is to be given up. Nor is a
# write whose process was frozen in its middle, which would be undone and told as failed.
PATIENT = {
    "TESTS_CONSTANTS": '{"RUN_ATTEMPTS": 1000}',
    "TESTS_SETTINGS": '{"TIMEOUTS": {"WRITE_S": 30}}',
}


@dataclass(kw_only=True)
class Site:
    """Everything of one layout, running."""

    server: DemoServer
    oracle: Oracle
    model: ModelServerProcess
    redis: RedisServer | None = None
    workers: list[Process] = field(default_factory=list)
    celery: Process | None = None
    people: list[Person] = field(default_factory=list)
    _signed_in: dict[str, Person] = field(default_factory=dict)

    @property
    def executors(self) -> list[Process]:
        """The processes that execute runs."""
        if self.server.env["ASSISTANT_EXECUTOR"] == "worker":
            return self.workers
        return [self.server.web, *self.workers]

    @property
    def parts(self) -> list[Process]:
        celery = [self.celery] if self.celery is not None else []
        return [self.server.web, *self.workers, *celery]

    def up(self) -> None:
        """Start what is down, and wait until all of it is ready."""
        if self.redis is not None and not self.redis.process.is_alive:
            self.redis.start()
        for part in self.parts:
            part.resume()
        down = [part for part in self.parts if not part.is_alive]
        for part in down:
            part.start(wait=False)
        for part in down:
            part.wait_ready()

    def back(self) -> None:
        """Start the web server and, where that executes nothing, one executor."""
        self.server.web.start()
        if not self.executors[0].is_alive:
            self.executors[0].start()

    def person(self, name: str = "admin") -> Person:
        """Return a signed-in user with a new conversation."""
        person = Person(url=self.server.url, name=name)
        self.people.append(person)
        known = self._signed_in.get(name)
        if known is None:
            person.sign_in()
            self._signed_in[name] = person
        else:
            for cookie in known.http.cookies.jar:
                person.http.cookies.jar.set_cookie(cookie)
        return person

    def fresh_person(self, name: str) -> Person:
        """Return a user with a session that nobody else has."""
        person = Person(url=self.server.url, name=name).sign_in()
        self.people.append(person)
        return person

    def script(self, name: str, *replies: list[dict[str, Any]]) -> None:
        self.model.script(name, [*replies])

    def holders(self) -> list[Process]:
        """Return the processes that work on a run or a call now."""
        rows = self.oracle.rows(
            "SELECT owner FROM ai_assistant_run WHERE state = 'running' UNION "
            "SELECT b.owner FROM ai_assistant_backgroundcall b "
            "JOIN ai_assistant_toolcall c ON c.id = b.call_id "
            "WHERE c.status = 'executing'"
        )
        pids = {f"{row['owner']}||||".split("|")[3] for row in rows}
        return [part for part in self.parts if pids & _pids(part)]

    def holder(self, run: str) -> Process:
        """Return the process that executes `run`."""
        pid = self.oracle.run(run)["owner"].split("|")[3]
        (found,) = (part for part in self.parts if pid in _pids(part))
        return found


@contextmanager
def running(
    layout: Layout,
    folder: Path,
    *,
    model: ModelServerProcess,
    postgres: PostgresServer | None = None,
) -> Iterator[Site]:
    """Run a site of `layout` in `folder`."""
    with ExitStack() as stack:
        redis = None
        if layout.layer == "redis":
            redis = stack.enter_context(RedisServer(folder))
        server = DemoServer(
            folder,
            model_url=model.url,
            database_url=postgres.new_database() if postgres else "",
            redis_url=redis.url if redis else "",
            executor=layout.executor,
            forged=True,
            lease_s=1.5,
            env={**PATIENT, "TESTS_LAYER": layout.layer},
        )
        stack.push(server.__exit__)
        site = Site(
            server=server,
            oracle=Oracle(server.database_url, server.external_file),
            model=model,
            redis=redis,
        )
        server.start()
        site.workers = [server.worker() for _ in range(layout.workers)]
        site.celery = server.celery() if redis else None
        site.up()
        try:
            yield site
        finally:
            for person in site.people:
                person.close()


def _pids(part: Process) -> set[str]:
    """Return the process and its children: in Celery, those do the work."""
    if not part.is_alive:
        return set()
    pid = part.pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return {str(pid), *children}
