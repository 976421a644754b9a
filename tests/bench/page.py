"""What a closed panel costs a page: time, queries, script, layout shift."""

import asyncio
import gzip
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import rjsmin
from playwright.sync_api import Browser, sync_playwright

from tests.bench.chat import Chat
from tests.bench.report import emit, median
from tests.servers.app import DemoServer

STATIC = Path("ai_assistant/static/ai_assistant")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SHIFT = """() => new Promise(done => { let sum = 0;
  new PerformanceObserver(list => { for (const e of list.getEntries())
    if (!e.hadRecentInput) sum += e.value; }).observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 600); })"""


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


def layout_shift(browser: Browser, url: str, layout: str) -> float:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{url}/admin/login/")
    page.fill("#id_username", "admin")
    page.fill("#id_password", "admin")
    page.click("[type=submit]")
    page.wait_for_url("**/admin/")
    if layout:
        context.add_cookies([{"name": "aia_ui", "value": layout, "url": url}])
    shifts = []
    for _ in range(5):
        page.goto(f"{url}/admin/auth/user/")
        shifts.append(float(page.evaluate(SHIFT)))
    context.close()
    return median(shifts)


def measure(base: str, folder: Path) -> None:
    """Print what the panel adds to a page on which it is closed."""
    servers = {}
    for name, off in (("with", ""), ("without", "1")):
        where = folder / f"page-{name}"
        where.mkdir()
        env = {"TESTS_NO_PANEL": off}
        server = DemoServer(
            where, model_url=base, provider="plain", env=env, lease_s=10
        )
        servers[name] = server
    with servers["with"], servers["without"]:
        urls = {name: server.url for name, server in servers.items()}
        times = asyncio.run(page_times(urls, 150))
        added = (median(times["with"]) - median(times["without"])) * 1000
        note = f"page without: {median(times['without']) * 1000:.1f} ms"
        emit("closed_panel_added_time", added, "ms", n=150, note=note)
        executable = shutil.which("chromium")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            own = layout_shift(browser, urls["without"], "")
            for name, layout in (("closed", ""), ("open", "o=1&m=dock&w=400")):
                shift = layout_shift(browser, urls["with"], layout)
                note = f"the page's own: {own:.4f}"
                emit(f"layout_shift_{name}", shift, "CLS", n=5, note=note)
            browser.close()
    queries(folder, servers["with"])
    scripts = {
        "closed": {STATIC / "boot.js"},
        "open": loaded_with(STATIC / "panel.js"),
        "all": set(STATIC.glob("*.js")),
    }
    for name, paths in scripts.items():
        sizes = [packed(path) for path in paths]
        emit(f"script_{name}", sum(sizes), "bytes, minified and gzip", n=len(sizes))
    css = sum(packed(path, js=False) for path in STATIC.glob("*.css"))
    emit("css", css, "bytes, gzip", n=1)


def loaded_with(path: Path) -> set[Path]:
    """Return `path` and the scripts that it imports at once."""
    names = re.findall(r'^import\b[^;]*?"\./(.+?)";', path.read_text(), re.M)
    return {path}.union(*(loaded_with(STATIC / name) for name in names))


def packed(path: Path, *, js: bool = True) -> int:
    source = path.read_text()
    source = rjsmin.jsmin(source) if js else re.sub(r"\s+", " ", source)
    return len(gzip.compress(source.encode()))


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
