"""What the first messages of a fresh server wait for."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import aiohttp

from tests.bench.chat import Chat
from tests.bench.report import emit, median
from tests.bench.streams import SHORT
from tests.servers.app import DemoServer

PROBE_S = 0.02


async def stalls(url: str, seconds: float) -> list[float]:
    """Ask for a page that needs nothing but the loop; return the waits."""
    waits = []
    end = time.perf_counter() + seconds
    async with aiohttp.ClientSession() as http:
        while time.perf_counter() < end:
            begin = time.perf_counter()
            async with http.get(f"{url}/static/ai_assistant/nothing.js"):
                waits.append(time.perf_counter() - begin)
            await asyncio.sleep(PROBE_S)
    return waits


async def later(url: str) -> tuple[float, float, list[float]]:
    async with Chat(url) as chat:
        waits = await stalls(url, 15)
        first = (await chat.ask(SHORT)).first_s
        warm = []
        for _ in range(20):
            await chat.new_conversation()
            warm.append((await chat.ask(SHORT)).first_s)
        return first, median(warm), waits


async def at_once(url: str) -> float:
    async with Chat(url) as chat:
        return (await chat.ask(SHORT)).first_s


def measure(base: str, folder: Path) -> None:
    """Print the delay of a message 15 s after, and of one right after, the start."""
    where = folder / "startup-later"
    where.mkdir()
    with DemoServer(where, model_url=base, provider="litellm", lease_s=10) as server:
        first, warm, waits = asyncio.run(later(server.url))
    over = (first - warm) * 1000
    emit("first_message_after_15_s_over_warm", over, "ms", n=1)
    emit("longest_stall_of_the_loop", max(waits) * 1000, "ms", n=len(waits))
    where = folder / "startup-now"
    where.mkdir()
    with DemoServer(where, model_url=base, provider="litellm", lease_s=10) as server:
        emit("first_message_at_once", asyncio.run(at_once(server.url)), "s", n=1)
    code = (
        "import sys; from django.core.management import execute_from_command_line;"
        "execute_from_command_line(['manage.py', 'check']);"
        "print('litellm' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=server.env,
        check=True,
        capture_output=True,
        text=True,
    )
    imported = done.stdout.splitlines()[-1] == "True"
    emit("check_imports_litellm", int(imported), "0 or 1", n=1)
