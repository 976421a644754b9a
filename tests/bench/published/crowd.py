"""Many at once in one process: 100 streams, and 500 tabs that only look on."""

import asyncio
import json
import os
import statistics
import tempfile
import time
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

from tests.bench.chat import Chat
from tests.bench.published import process_tree, results
from tests.bench.published.load import ENDED, TEXT, Client, said
from tests.bench.published.subjects import OURS, Site, demo
from tests.model_server import ModelServerProcess
from tests.model_server.chunks import tokens
from tests.model_server.scripts import sentence

SERVERS = ("daphne", "uvicorn", "granian")
STREAMS, TOKENS, RATE = 100, 100, 20
TABS, WARM_TABS, CONVERSATIONS = 500, 150, 10
SETTLE_S = 3.0
TEXT_SAID = sentence("stream", TOKENS)
ENDS = [*accumulate(map(len, tokens(TEXT_SAID)))]  # of each token, in characters


def measure_streams() -> None:
    """100 streams of 20 tokens a second: are all whole, how late is their text?"""
    loads, found = [os.getloadavg()[0]], {}
    for server in SERVERS:
        with (
            tempfile.TemporaryDirectory() as name,
            ModelServerProcess() as model,
            demo(Path(name), model.base, server=server) as site,
        ):
            found[server] = asyncio.run(_streams(site, model))
        print(server, found[server], flush=True)
        loads.append(os.getloadavg()[0])
    figures = {"streams": STREAMS, "tokens": TOKENS, "rate": RATE, "servers": found}
    results.save("streams", figures, loads)


async def _streams(site: Site, model: ModelServerProcess) -> dict[str, float]:
    async with Client(site.url, OURS) as client:
        await asyncio.gather(*(client.ask(5, 0, 0) for _ in range(10)))
        before = process_tree.cpu_ms(site.pid)
        begin = time.monotonic()
        heard = await asyncio.gather(*(_listen(client, n) for n in range(STREAMS)))
        took = time.monotonic() - begin
        cpu = process_tree.cpu_ms(site.pid) - before
    log = await asyncio.to_thread(model.log)
    begun = {row["tag"]: row["first_byte"] for row in log}
    lags = [
        at - (begun[f"s{n}"] + token / RATE)
        for n, arrivals in enumerate(heard)
        for token, at in enumerate(arrivals)
    ]
    return {
        "whole": sum(len(arrivals) == TOKENS for arrivals in heard),
        "lag_p50_ms": round(statistics.median(lags) * 1000, 1),
        "lag_p95_ms": round(statistics.quantiles(lags, n=20)[-1] * 1000, 1),
        "lag_worst_ms": round(max(lags) * 1000, 1),
        "cpu_share": round(cpu / took / 1000, 2),
        "took_s": round(took, 1),
    }


async def _listen(client: Client, number: int) -> list[float]:
    """Return when each token arrived; raise if the run or its text is not whole."""
    arrivals: list[float] = []
    text, last, got = said(TOKENS, RATE, 0.1, tag=f"s{number}"), b"", ""
    async with client.post(text) as response:
        assert response.status == 200, await response.text()
        async for line in response.content:
            if any(kind in line for kind in TEXT):
                got += json.loads(line[5:])["delta"]
                whole = bisect_right(ENDS, len(got))
                arrivals += [time.time()] * (whole - len(arrivals))
            last = line if line.startswith(b"data:") else last
    assert ENDED in last, last
    assert got == TEXT_SAID, f"{len(got)} of {len(TEXT_SAID)} characters"
    return arrivals


def measure_tabs() -> None:
    """500 tabs that are attached to a conversation in which nothing happens."""
    loads, found = [os.getloadavg()[0]], {}
    for server in SERVERS:
        with (
            tempfile.TemporaryDirectory() as name,
            ModelServerProcess() as model,
            demo(Path(name), model.base, server=server) as site,
        ):
            found[server] = asyncio.run(_tabs(site))
        print(server, found[server], flush=True)
        loads.append(os.getloadavg()[0])
    results.save("tabs", {"tabs": TABS, "servers": found}, loads)


async def _tabs(site: Site) -> dict[str, Any]:
    async with Chat(site.url) as chat:
        conversations = []
        for _ in range(CONVERSATIONS):
            await chat.new_conversation()
            await chat.ask(said(20, 0, 0))
            conversations.append(chat.conversation)
        # They stay: they take what the start has left free of the heap.
        warm = await _open(chat, WARM_TABS, conversations)
        await asyncio.sleep(SETTLE_S)
        before = process_tree.rss_mb(site.pid)
        tabs = await _open(chat, TABS, conversations)
        await asyncio.sleep(SETTLE_S)
        held = process_tree.rss_mb(site.pid) - before
        cpu = process_tree.cpu_ms(site.pid)
        await asyncio.sleep(10)
        idle = (process_tree.cpu_ms(site.pid) - cpu) / 10
        for tab in (*warm, *tabs):
            await tab.close()
    return {
        "added_mb": round(held, 1),
        "kb_of_a_tab": round(held * 1024 / TABS, 1),
        "idle_cpu_ms_a_second": round(idle, 1),
    }


async def _open(chat: Chat, count: int, conversations: list[str]) -> list[Any]:
    """Open sockets that say hello, each to one of the conversations."""
    tabs = []
    for number in range(count):
        tab = await chat.connect()
        hello = {
            "type": "hello",
            "conversation": conversations[number % len(conversations)],
        }
        await tab.send(json.dumps({**hello, "run": "", "after": 0}))
        tabs.append(tab)
    return tabs
