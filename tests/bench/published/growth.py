"""What a message, a page and a list cost as conversations and tables grow."""

import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.bench.published import results
from tests.bench.published.load import MODEL_DELAY_S, Client, said
from tests.bench.published.subjects import OURS, demo
from tests.model_server import ModelServerProcess
from tests.servers.process import ROOT, python

SERVER = "uvicorn"
SIZES = (200, 2_000, 20_000)
OTHERS = 100_000
ASKED = said(20, 0, MODEL_DELAY_S)
COUNT = 25


def measure() -> None:
    """Measure on an empty table, then beside 100,000 messages."""
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as name, ModelServerProcess() as model:
        folder = Path(name)
        with demo(folder, model.base, server=SERVER) as site:
            empty = asyncio.run(_look(site.url, []))
        ids = seed(f"sqlite:///{folder}/db.sqlite3", SIZES, OTHERS)
        size_mb = (folder / "db.sqlite3").stat().st_size / 1e6
        with demo(folder, model.base, server=SERVER) as site:
            full = asyncio.run(_look(site.url, ids))
    loads.append(os.getloadavg()[0])
    figures = {
        "server": SERVER,
        "others": OTHERS,
        "database_mb": round(size_mb),
        "empty": empty,
        "full": full,
    }
    print(figures, flush=True)
    results.save("growth", figures, loads)


def seed(database: str, sizes: tuple[int, ...], others: int) -> list[str]:
    """Fill a database of the demo; return the ids of the conversations."""
    done = subprocess.run(
        python(
            *("-m", "tests.bench.published.seed"),
            ",".join(map(str, sizes)),
            str(others),
        ),
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "DATABASE_URL": database,
        },
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    ids: list[str] = json.loads(done.stdout.splitlines()[-1])
    return ids


async def _look(url: str, ids: list[str]) -> dict[str, Any]:
    async with Client(url, OURS) as client:
        for _ in range(10):
            await client.say(ASKED)

        async def first(conversation: str = "") -> float:
            return (await client.say(ASKED, conversation)).first_s

        async def opened(conversation: str) -> float:
            return await _get(client, f"/assistant/panel/?conversation={conversation}")

        asked, pages = await _in_turn(first, ids), await _in_turn(opened, ids)
        return {
            "new": {"first_token_ms": asked[""], "open_ms": pages[""]},
            "sizes": {
                str(size): {
                    "first_token_ms": asked[one],
                    "over_new_ms": round(asked[one] - asked[""], 1),
                    "open_ms": pages[one],
                }
                for size, one in zip(SIZES, ids, strict=False)
            },
            "list_ms": await _median(client, "/assistant/conversations/"),
            "search_ms": await _median(client, "/assistant/conversations/?q=lantern"),
            "closed_page_ms": await _median(client, "/admin/"),
        }


async def _in_turn(
    measure_one: Callable[[str], Awaitable[float]], ids: list[str]
) -> dict[str, float]:
    """Return the median of each conversation and of new ones, measured in turn."""
    times: dict[str, list[float]] = {one: [] for one in ("", *ids)}
    for _ in range(COUNT):
        for one, seen in times.items():
            seen.append(await measure_one(one) * 1000)
    return {one: round(statistics.median(seen), 1) for one, seen in times.items()}


async def _median(client: Client, path: str) -> float:
    times = [await _get(client, path) * 1000 for _ in range(COUNT)]
    return round(statistics.median(times), 1)


async def _get(client: Client, path: str) -> float:
    begin = time.perf_counter()
    headers = {"HX-Request": "true"} if path.startswith("/assistant") else {}
    async with client.http.get(f"{client.url}{path}", headers=headers) as page:
        await page.read()
        assert page.status == 200, (path, page.status)
    return time.perf_counter() - begin
