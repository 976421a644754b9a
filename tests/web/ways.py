"""One short answer in this process, by either way, with all that it costs counted."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from ai_assistant import conf
from ai_assistant.engine.execution import executor as module
from ai_assistant.engine.execution.executor import Executor, executor
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import Run
from ai_assistant.routing import assistant_application
from tests.web.test_routing import cookies_of, part, scope

TOKEN = b"a" * 32
END_S = 30


@dataclass
class Costs:
    """The statements of all threads, the commits, and the changes of thread."""

    statements: list[str] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)  # the last statement of each
    hops: list[str] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, int]:
        return {
            "statements": len(self.statements),
            "commits": len(self.commits),
            "hops": len(self.hops),
        }


@contextmanager
def counted() -> Iterator[Costs]:
    """Count what is done meanwhile, in every thread."""
    costs = Costs()
    execute, executemany = CursorWrapper._execute, CursorWrapper._executemany
    commit, to_thread = (
        BaseDatabaseWrapper.commit,
        asyncio.BaseEventLoop.run_in_executor,
    )

    def one(cursor: Any, sql: str, *arguments: Any) -> Any:
        if sql.startswith("PRAGMA"):  # of a connection that is new
            return execute(cursor, sql, *arguments)
        costs.statements.append(sql)
        writes = sql.lstrip().startswith(("INSERT", "UPDATE", "DELETE"))
        if writes and not cursor.db.in_atomic_block:
            costs.commits.append(sql)
        return execute(cursor, sql, *arguments)

    def many(cursor: Any, sql: str, *arguments: Any) -> Any:
        costs.statements.append(sql)
        return executemany(cursor, sql, *arguments)

    def committed(connection: Any) -> None:
        costs.commits.append(costs.statements[-1])
        commit(connection)

    def hop(loop: Any, pool: Any, work: Any, *arguments: Any) -> Any:
        named = [getattr(one, "__name__", "") for one in (work, *arguments[:1])]
        costs.hops.append(" ".join(named))
        return to_thread(loop, pool, work, *arguments)

    with (
        patch.object(CursorWrapper, "_execute", one),
        patch.object(CursorWrapper, "_executemany", many),
        patch.object(BaseDatabaseWrapper, "commit", committed),
        patch.object(asyncio.BaseEventLoop, "run_in_executor", hop),
        # A busy machine may take longer than rows of configuration are kept.
        patch.object(conf, "POLICY_TTL_S", 600.0),
    ):
        yield costs


class Site:
    """The site as an ASGI server has it; its executor watches over nothing."""

    def __init__(self, user: Any) -> None:
        self.user = user
        self.application = assistant_application(get_asgi_application())
        self.cookies = b""

    @contextmanager
    def running(self) -> Iterator[None]:
        async def watch(_executor: Executor) -> None:
            await asyncio.Event().wait()

        with (
            patch.object(module, "_executors", {}),  # one of this event loop
            patch.object(Executor, "_watch_all", watch),
            patch.object(Executor, "_heartbeat", lambda _executor: None),
        ):
            yield

    async def sign_in(self) -> None:
        self.cookies = await in_db(cookies_of, self.user) + b"; csrftoken=" + TOKEN

    async def post(self, path: str, body: bytes, **headers: bytes) -> bytes:
        """Return the whole response, as far as a stream goes."""
        given = [(name.encode().replace(b"_", b"-"), headers[name]) for name in headers]
        named = [(b"cookie", self.cookies), (b"x-csrftoken", TOKEN), *given]
        asked = scope(path, body, headers=named)
        asked["headers"] = list(
            {name: (name, said) for name, said in asked["headers"]}.values()
        )
        client = ApplicationCommunicator(self.application, asked)
        await client.send_input(part(body))
        started = await client.receive_output(END_S)
        assert started["status"] in (200, 204), started
        pieces = []
        while True:
            sent = await client.receive_output(END_S)
            pieces.append(sent.get("body", b""))
            if not sent.get("more_body"):
                break
        await client.wait(END_S)
        return b"".join(pieces)

    async def by_agui(self, text: str = "Hello") -> bytes:
        message = {"id": str(uuid4()), "role": "user", "content": text}
        said = {
            "threadId": str(uuid4()),
            "runId": str(uuid4()),
            "protocolVersion": "1.0",
            "messages": [message],
        }
        body = json.dumps(said).encode()
        return await self.post(
            "/assistant/agui/", body, content_type=b"application/json"
        )

    async def by_panel(self) -> None:
        body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}"
        await self.post("/assistant/send/", body.encode(), hx_request=b"true")

    async def ended(self) -> None:
        """Wait until no run is under way; ask no database for it."""
        while executor()._tasks:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)


def succeeded() -> int:
    return Run.objects.filter(state="succeeded").count()
