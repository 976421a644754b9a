"""Ten minutes of people who come, ask, read and leave: what does the process keep?"""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.chat import Chat
from tests.bench.published import process_tree, results
from tests.bench.published.load import said
from tests.bench.published.subjects import Site, demo
from tests.model_server import ModelServerProcess

SERVERS = ("daphne", "uvicorn")
SOAK_S, WARM_S = 600.0, 180.0
EVERY_S = 5.0
PEOPLE = 3
STAYS = 5  # questions of a person until another one comes
ASKED = said(60, 60, 0.1)
Look = dict[str, float]


def measure(seconds: float = SOAK_S) -> None:
    """Let each server serve for ten minutes after its warm-up."""
    loads, found = [os.getloadavg()[0]], {}
    for server in SERVERS:
        with (
            tempfile.TemporaryDirectory() as name,
            ModelServerProcess() as model,
            demo(Path(name), model.base, server=server) as site,
        ):
            found[server] = asyncio.run(_soak(site, model, seconds))
        print(server, {k: v for k, v in found[server].items() if k != "looks"})
        loads.append(os.getloadavg()[0])
    figures = {"seconds": seconds, "warm_s": WARM_S, "servers": found}
    results.save("soak", figures, loads)


async def _soak(
    site: Site, model: ModelServerProcess, seconds: float
) -> dict[str, Any]:
    begin = time.monotonic()
    end = begin + WARM_S + seconds
    answers = [0]
    people = [asyncio.create_task(_people(site, end, answers)) for _ in range(PEOPLE)]
    looks: list[Look] = []
    while time.monotonic() < end:
        await asyncio.sleep(EVERY_S)
        looks.append({"s": round(time.monotonic() - begin), **_held(site.pid)})
        await asyncio.to_thread(model.clear)  # it keeps what it was asked
    await asyncio.gather(*people)
    warm = [look for look in looks if WARM_S - 60 <= look["s"] <= WARM_S]
    last = looks[-len(warm) :]
    return {
        "answers": answers[0],
        "grown": {
            name: round(_median(last, name) / _median(warm, name) - 1, 3)
            for name in ("rss_mb", "threads", "descriptors")
        },
        "looks": looks,
    }


def _median(looks: list[Look], name: str) -> float:
    return statistics.median(look[name] for look in looks)


async def _people(site: Site, end: float, answers: list[int]) -> None:
    """One after the other: sign in, open a page and a tab, ask, go to another page."""
    while time.monotonic() < end:
        async with Chat(site.url) as chat:
            for _ in range(STAYS):
                async with chat.http.get(f"{site.url}/admin/") as page:
                    await page.text()
                answer = await chat.ask(ASKED)
                assert answer.state == "idle", answer.state
                answers[0] += 1
                await chat.new_conversation()


def _held(pid: int) -> Look:
    return {
        "rss_mb": round(process_tree.rss_mb(pid), 1),
        "threads": process_tree.threads(pid),
        "descriptors": process_tree.descriptors(pid),
    }
