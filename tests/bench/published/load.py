"""The figures of one subject: how it streams, alone and beside others."""

import asyncio
import re
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
TEXT = (b'"TEXT_MESSAGE_CONTENT"', b'"TEXT_MESSAGE_CHUNK"')
ENDED = b'"RUN_FINISHED"'
MODEL_DELAY_S = 0.1
TIMEOUT = aiohttp.ClientTimeout(total=180)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the request to the first text and to the end."""

    first_s: float
    total_s: float


# Tokens, how many a second (0: at once), and the delay of the model before them.
Ask = Callable[[int, float, float], Awaitable[Times]]
Gauge = Callable[[], float]


def said(tokens: int, rate: float, delay_s: float, tag: str = "") -> str:
    """Return the text that asks the scripted model for this."""
    name = f"stream#{tag}" if tag else "stream"
    return f"[[script:{name} tokens={tokens} rate={rate:g} delay={delay_s:g}]]"


class Client:
    """A signed-in person who asks over AG-UI, of any site that speaks it."""

    def __init__(self, url: str, path: str) -> None:
        self.url, self.path = url, path
        self.http: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        jar = aiohttp.CookieJar(unsafe=True)
        connector = aiohttp.TCPConnector(limit=0)
        self.http = aiohttp.ClientSession(
            cookie_jar=jar, connector=connector, timeout=TIMEOUT
        )
        address = f"{self.url}/admin/login/"
        async with self.http.get(address) as page:
            found = TOKEN.search(await page.text())
        assert found, f"{address} has no form"
        form = {
            "username": "admin",
            "password": "admin",
            "csrfmiddlewaretoken": found[1],
            "next": "/admin/",
        }
        async with self.http.post(address, data=form) as answer:
            assert answer.status == 200, answer.status
        cookies = self.http.cookie_jar.filter_cookies(self.url)  # type: ignore[arg-type]
        self.token = cookies["csrftoken"].value
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.http.close()

    def post(self, text: str, thread: str = "") -> Any:
        """Return the request of a run, to be entered."""
        message = {"id": str(uuid.uuid4()), "role": "user", "content": text}
        body = {
            "threadId": thread or str(uuid.uuid4()),
            "runId": str(uuid.uuid4()),
            "protocolVersion": "1.0",
            "messages": [message],
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
        }
        headers = {
            "X-CSRFToken": self.token,
            "Referer": self.url,
            "Accept": "text/event-stream",
        }
        return self.http.post(f"{self.url}{self.path}", json=body, headers=headers)

    async def ask(self, tokens: int, rate: float, delay_s: float) -> Times:
        """Ask in a new conversation; read to the end."""
        return await self.say(said(tokens, rate, delay_s))

    async def say(self, text: str, thread: str = "") -> Times:
        """Send `text` and read the stream to its end."""
        begin, first, last = time.perf_counter(), 0.0, b""
        async with self.post(text, thread) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                if not first and any(kind in line for kind in TEXT):
                    first = time.perf_counter() - begin
                last = line if line.startswith(b"data:") else last
        assert ENDED in last, last
        return Times(first, time.perf_counter() - begin)


async def figures(ask: Ask, cpu_ms: Gauge, rss_mb: Gauge) -> dict[str, float]:
    """Return all figures of a subject, in milliseconds and megabytes."""
    for _ in range(8):
        await ask(3, 0, 0)
    found = {
        "first_token_ms": 1000 * await _first(ask, 20, MODEL_DELAY_S, 25),
        "cpu_ms_of_20_tokens": await _cpu_of_an_answer(ask, cpu_ms, 40),
        "flood_first_text_ms": 1000 * await _first(ask, 1000, 0, 7),
        "tokens_a_second": await _rate(ask),
        "cpu_us_of_a_paced_token": await _cpu_of_a_token(ask, cpu_ms),
        **await _twenty(ask),
    }
    for _ in range(125):
        await ask(5, 0, 0)
    return {name: round(v, 1) for name, v in found.items()} | {"rss_mb": rss_mb()}


async def _first(ask: Ask, tokens: int, delay_s: float, count: int) -> float:
    times = [await ask(tokens, 0, delay_s) for _ in range(count)]
    return statistics.median(one.first_s for one in times)


async def _cpu_of_an_answer(ask: Ask, cpu_ms: Gauge, count: int) -> float:
    before = cpu_ms()
    for _ in range(count):
        await ask(20, 0, 0)
    return (cpu_ms() - before) / count


async def _rate(ask: Ask) -> float:
    times = [await ask(2000, 0, 0) for _ in range(5)]
    return 2000 / statistics.median(one.total_s for one in times)


async def _cpu_of_a_token(ask: Ask, cpu_ms: Gauge) -> float:
    before = cpu_ms()
    await asyncio.gather(*(ask(300, 100, 0) for _ in range(5)))
    return (cpu_ms() - before) * 1000 / 1500


async def _twenty(ask: Ask) -> dict[str, float]:
    medians, slowest = [], []
    for _ in range(3):
        times = await asyncio.gather(*(ask(50, 50, 0) for _ in range(20)))
        medians.append(statistics.median(one.first_s for one in times))
        slowest.append(max(one.first_s for one in times))
    return {
        "twenty_at_once_p50_ms": 1000 * statistics.median(medians),
        "twenty_at_once_slowest_ms": 1000 * statistics.median(slowest),
    }
