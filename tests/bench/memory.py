"""
What a process holds after many runs: memory, threads and descriptors stay flat.

On SQLite the first 400 runs or so fill the page caches, 2 MB for each connection.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.bench.chat import Chat
from tests.bench.report import emit
from tests.servers.app import DemoServer
from tests.servers.prepared import prepare

Look = dict[str, int]  # at one moment
RUNS, EVERY = 1000, 100
CALL = {"op": "tool_call", "name": "echo", "arguments": {"text": "again"}}
TEXT = {"op": "text", "text": "word " * 60}
SCRIPT = [[TEXT, CALL], [TEXT, CALL], [TEXT]]
ASKED = "[[script:memory]]"
TABS = 2
STAYS = 5  # runs of a tab until another person opens one


def measure(base: str, folder: Path) -> None:
    """Print what 1,000 runs of 3 steps leave in their process."""
    body = json.dumps({"name": "memory", "steps": SCRIPT}).encode()
    address = f"{base.removesuffix('/v1')}/script"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(
        urllib.request.Request(address, data=body, headers=headers, method="POST")
    ).close()
    for provider in ("direct", "litellm"):
        _tell(provider, _executed(base, folder / f"memory-{provider}", provider))
    where = folder / "memory-served"
    where.mkdir()
    env = {"ASSISTANT_UNLIMITED": "1"}
    with DemoServer(where, model_url=base, lease_s=10, env=env) as server:
        _tell("served", asyncio.run(_served(server)))


def _executed(base: str, where: Path, provider: str) -> list[Look]:
    """Execute the runs in a process that serves nobody."""
    where.mkdir()
    server = DemoServer(where, model_url=base, provider=provider, lease_s=10)  # type: ignore[arg-type]
    prepare(server.database_url, server.env)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.count_memory", str(RUNS), str(EVERY)],
        env={**server.env, "ASSISTANT_UNLIMITED": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    *looks, states = (json.loads(line) for line in done.stdout.splitlines())
    assert states == {"states": {"succeeded": RUNS}}, states
    return looks


async def _served(server: DemoServer) -> list[Look]:
    """Let people open pages and tabs, ask, and leave."""

    async def people(count: int) -> None:
        for _ in range(count // STAYS):
            async with Chat(server.url) as chat:
                for _ in range(STAYS):
                    async with chat.http.get(f"{server.url}/admin/") as page:
                        await page.text()
                    answer = await chat.ask(ASKED)
                    assert answer.state == "idle", answer.state
                    await chat.new_conversation()

    looks = []
    for runs in range(EVERY, RUNS + 1, EVERY):
        await asyncio.gather(*(people(EVERY // TABS) for _ in range(TABS)))
        looks.append({"runs": runs, **_held(server.web.pid)})
    return looks


def _held(pid: int) -> Look:
    status = Path(f"/proc/{pid}/status").read_text()
    rss, threads = (
        int(re.search(rf"{name}:\s+(\d+)", status)[1])  # type: ignore[index]
        for name in ("VmRSS", "Threads")
    )
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - links
    return {"rss_kb": rss, "threads": threads, "descriptors": descriptors}


def _tell(name: str, looks: list[Look]) -> None:
    """Print how much the second half has added, and every look."""
    half, last = looks[len(looks) // 2 - 1], looks[-1]
    grown = (last["rss_kb"] - half["rss_kb"]) / (last["runs"] - half["runs"])
    curve = " ".join(f"{look['rss_kb'] / 1024:.1f}" for look in looks)
    note = f"of the second half; MB at each {EVERY} runs: {curve}"
    emit(f"memory_of_a_run_{name}", grown, "kB", n=RUNS, note=note)
    for key in last.keys() - {"runs", "rss_kb", "objects"}:
        note = " ".join(str(look[key]) for look in looks)
        emit(f"{key}_added_{name}", last[key] - half[key], key, n=RUNS, note=note)
