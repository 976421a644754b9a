"""AG-UI over server-sent events: the first token, idle streams, a client that leaves."""

import asyncio
import time
import uuid
from pathlib import Path
from typing import Any

import aiohttp

from tests.bench.chat import Chat
from tests.bench.report import emit, median
from tests.bench.streams import ROUNDS, SHORT, bare
from tests.servers.app import DemoServer

LONG = "[[script:stream delay=0.1 tokens=400 rate=20]]"
IDLE = 100
LEFT = 10


class Client:
    """One AG-UI client with the session of a signed-in person."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.url = f"{chat.url}/assistant/agui/"

    def post(self, text: str, thread: str) -> Any:
        """Return the request of a run, to be entered."""
        message = {"id": str(uuid.uuid4()), "role": "user", "content": text}
        body = {
            "threadId": thread,
            "runId": str(uuid.uuid4()),
            "protocolVersion": "1.0",
            "messages": [message],
        }
        headers = {"X-CSRFToken": self._chat.token}
        return self._chat.http.post(self.url, json=body, headers=headers)

    async def first_s(self, text: str) -> float:
        """Return the seconds until the first text; read the stream to its end."""
        begin, first = time.perf_counter(), 0.0
        async with self.post(text, str(uuid.uuid4())) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                if b'"TEXT_MESSAGE_CONTENT"' in line:
                    first = first or time.perf_counter() - begin
        return first


def measure(base: str, folder: Path) -> None:
    """Print the figures of the AG-UI door."""
    for part in range(ROUNDS):
        reference = bare(base, "http", SHORT, 20)["first_s"]
        where = folder / f"sse-first-{part}"
        where.mkdir()
        with DemoServer(where, model_url=base, lease_s=10) as server:
            times = asyncio.run(_first_tokens(server.url, 40))
        over = (median(times) - reference) * 1000
        note = f"round {part + 1}; at most 25; bare http {reference * 1000:.1f} ms"
        emit("sse_first_token_over_http", over, "ms", n=40, note=note)
    where = folder / "sse-idle"
    where.mkdir()
    with DemoServer(where, model_url=base, lease_s=10) as server:
        asyncio.run(_idle(server))
        asyncio.run(_left(server.url, base))


async def _first_tokens(url: str, count: int) -> list[float]:
    async with Chat(url) as chat:
        await chat.socket.close()
        client = Client(chat)
        for _ in range(5):
            await client.first_s(SHORT)
        return [await client.first_s(SHORT) for _ in range(count)]


async def _idle(server: DemoServer) -> None:
    """Attach to one run that goes on for long, as often as IDLE."""
    async with Chat(server.url) as chat:
        client, thread = Client(chat), str(uuid.uuid4())
        await client.first_s(SHORT)
        async with client.post(LONG, thread) as run:
            await run.content.readuntil(b"TEXT_MESSAGE_CONTENT")
            before = _memory_kb(server)
            streams = [await _attach(chat, thread) for _ in range(IDLE)]
            for stream in streams:
                await stream.content.readuntil(b"TEXT_MESSAGE_CONTENT")
            after = _memory_kb(server)
            for stream in streams:
                stream.close()
    emit(
        f"sse_{IDLE}_attached_streams",
        (after - before) / 1024,
        "MB",
        n=IDLE,
        note="at most 30",
    )


async def _attach(chat: Chat, thread: str) -> aiohttp.ClientResponse:
    body = {"threadId": thread, "runId": str(uuid.uuid4()), "messages": []}
    headers = {"X-CSRFToken": chat.token}
    url = f"{chat.url}/assistant/agui/"
    response = await chat.http.post(url, json=body, headers=headers)
    assert response.status == 200, await response.text()
    return response


async def _left(url: str, base: str) -> None:
    """Leave runs in the middle; ask the model server when its stream was closed."""
    times = []
    async with Chat(url) as chat:
        await chat.socket.close()
        client = Client(chat)
        for _ in range(LEFT):
            async with client.post(LONG, str(uuid.uuid4())) as run:
                await run.content.readuntil(b"TEXT_MESSAGE_CONTENT")
                left_at = time.time()
                run.close()
            times.append(await _closed_at(chat.http, base) - left_at)
    note = f"worst {max(times):.2f} s; at most 1"
    emit("sse_abort_closes_provider", median(times), "s", n=LEFT, note=note)


async def _closed_at(http: aiohttp.ClientSession, base: str) -> float:
    """Return when the model server saw its newest stream end."""
    while True:
        async with http.get(f"{base.removesuffix('/v1')}/log") as response:
            newest = (await response.json())[-1]
        if newest["ended"]:
            assert newest["outcome"] == "closed", newest
            return float(newest["ended"])
        await asyncio.sleep(0.02)


def _memory_kb(server: DemoServer) -> int:
    """Return the resident memory of the server's process."""
    status = Path(f"/proc/{server.web.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])
