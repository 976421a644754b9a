"""What a closed panel costs a page: time and queries."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import aiohttp

from tests.bench.chat import Chat
from tests.bench.report import emit, median
from tests.servers.app import DemoServer


async def page_times(urls: dict[str, str], count: int) -> dict[str, list[float]]:
    """Return seconds of a page from each server, asked in turn."""
    times: dict[str, list[float]] = {name: [] for name in urls}
    cookies = {}
    for name, url in urls.items():
        async with Chat(url) as chat:
            found = chat.http.cookie_jar.filter_cookies(url)  # type: ignore[arg-type]
            cookies[name] = {key: item.value for key, item in found.items()}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        for turn in range(count + 10):
            for name, url in urls.items():
                said = "; ".join(f"{k}={v}" for k, v in cookies[name].items())
                begin = time.perf_counter()
                async with http.get(f"{url}/admin/", headers={"Cookie": said}) as page:
                    await page.read()
                    assert page.status == 200
                if turn >= 10:
                    times[name].append(time.perf_counter() - begin)
    return times


def measure(base: str, folder: Path) -> None:
    """Print what the panel adds to a page on which it is closed."""
    servers = {}
    for name, off in (("with", ""), ("without", "1")):
        where = folder / f"page-{name}"
        where.mkdir()
        env = {"TESTS_NO_PANEL": off}
        server = DemoServer(where, model_url=base, env=env, lease_s=10)
        servers[name] = server
    with servers["with"], servers["without"]:
        urls = {name: server.url for name, server in servers.items()}
        times = asyncio.run(page_times(urls, 150))
        added = (median(times["with"]) - median(times["without"])) * 1000
        note = f"page without: {median(times['without']) * 1000:.1f} ms"
        emit("closed_panel_added_time", added, "ms", n=150, note=note)
    queries(folder, servers["with"])


def queries(_folder: Path, server: DemoServer) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.count_queries"],
        env=server.env,
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    added = found["with"] - found["without"]
    note = f"page without: {found['without']}"
    emit("closed_panel_added_queries", added, "queries", n=1, note=note)
