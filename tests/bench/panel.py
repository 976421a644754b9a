"""The open panel in a slow browser: sizes, a long answer, a long conversation."""

import json
import statistics
import subprocess
import sys
from os import getloadavg
from pathlib import Path

from playwright.sync_api import Browser

from tests.bench.answer import Watched, watched_answer
from tests.bench.markdown import numbered_markdown
from tests.bench.report import emit, median
from tests.bench.shift import measure_shift
from tests.bench.sizes import later_sheets, packed, script_sets, style_sheets
from tests.bench.throttled import heap_bytes, load, resident_bytes, throttled
from tests.browser.chromium import chromium
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

TOKENS = 8000
RATES = (80, 400)  # tokens a second, of a slow and of a fast model
MESSAGES = 500
LOADS = 20
WARM_LOADS = 5
STOPS = 5
OPENINGS = 5
OUTLINES = 20
LARGEST = """SELECT section_id, count(*) AS size FROM questionnaires_question
  GROUP BY section_id ORDER BY size DESC"""
OUTLINE = """async (times) => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  return Array.from({ length: times }, () => {
    const begin = performance.now();
    outline();
    return performance.now() - begin;
  });
}"""
# Milliseconds from a click to what it leads to, and to the paint of it.
UNTIL = """([button, root, name, wanted]) => new Promise((done) => {
  const target = document.querySelector(root);
  const begin = performance.now();
  const seen = {};
  const look = () => {
    if (wanted && target.dataset[name] !== wanted) return;
    watcher.disconnect();
    seen.drawn = performance.now() - begin;
    seen.value = target.dataset[name];
    requestAnimationFrame(() => setTimeout(() => {
      seen.painted = performance.now() - begin;
      done(seen);
    }));
  };
  const watcher = new MutationObserver(look);
  watcher.observe(target, { attributeFilter: [`data-${name}`] });
  document.querySelector(button).click();
})"""


def measure(_base: str, folder: Path) -> None:
    """Print the figures; the targets stand in the notes."""
    measure_sizes()
    with ModelServerProcess() as model, chromium(whole=True) as browser:
        servers = {
            name: _server(folder / f"panel-{name}", model, off)
            for name, off in (("with", ""), ("without", "1"))
        }
        with servers["with"] as server, servers["without"] as without:
            measure_answers(browser, server, model)
            measure_long_conversation(browser, server)
            measure_stop(browser, server, model)
            measure_memory(browser, server)
            measure_outline(browser, server)
            urls = {"with": server.url, "without": without.url}
            measure_shift(browser, urls, load())


def _server(where: Path, model: ModelServerProcess, off: str) -> DemoServer:
    where.mkdir()
    env = {"TESTS_NO_PANEL": off}
    return DemoServer(where, model_url=model.url, env=env, lease_s=10)


def measure_sizes() -> None:
    """Print the bytes of scripts and styles; tests/web/test_static.py holds the limits."""
    notes = {"closed": "at most 800", "open": "at most 12000", "lazy": "each when used"}
    for name, paths in script_sets().items():
        size = sum(map(packed, paths))
        note = notes[name]
        emit(f"script_{name}", size, "bytes, minified, gzip", n=len(paths), note=note)
    for name, sheets, most in (
        ("css", style_sheets(), 9728),
        ("css_later", later_sheets(), 2850),
    ):
        size, note = sum(map(packed, sheets)), f"at most {most}"
        emit(name, size, "bytes, minified, gzip", n=len(sheets), note=note)


def measure_answers(
    browser: Browser, server: DemoServer, model: ModelServerProcess
) -> None:
    """Print what a long answer costs at each rate."""
    said = numbered_markdown(TOKENS)
    for rate in RATES:
        with throttled(browser, server.url) as panel:
            _emit_answer(watched_answer(panel, model, said, rate), rate)


def _emit_answer(seen: Watched, rate: int) -> None:
    name, note = f"answer_{rate}", f"{rate} tokens a second; {load()}"
    tasks, lags, keys = seen.tasks, sorted(seen.lags), sorted(seen.keys)
    over = sum(task - 50 for task in tasks)
    blocked = f"target 500; beyond the first 50 ms of each {over:.0f}; {note}"
    emit(f"{name}_blocked", sum(tasks), "ms", n=len(tasks), note=blocked)
    emit(f"{name}_thread", seen.thread, "ms of processor time", n=1, note=note)
    emit(f"{name}_worst_task", max(tasks, default=0), "ms", n=len(tasks), note=note)
    lag = f"target 200; median {median(lags):.0f}, worst {lags[-1]:.0f}; {note}"
    emit(f"{name}_lag_p95", _high(lags), "ms", n=len(lags), note=lag)
    key = f"target 50; median {median(keys):.0f}, worst {keys[-1]:.0f}; {note}"
    emit(f"{name}_key_p95", _high(keys), "ms", n=len(keys), note=key)


def _high(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def measure_long_conversation(browser: Browser, server: DemoServer) -> None:
    """Print how long a click on a long conversation takes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.long_conversation", str(MESSAGES)],
        env=server.env,
        check=True,
        capture_output=True,
        text=True,
    )
    conversation = done.stdout.split()[-1]
    with throttled(browser, server.url) as panel:
        seen = [_open_long(panel, conversation) for _ in range(OPENINGS)]
    note = f"{MESSAGES} messages; target 300; {load()}"
    drawn = [one["drawn"] for one in seen]
    painted = [one["painted"] for one in seen]
    emit("open_long_drawn", median(drawn), "ms", n=OPENINGS, note=note)
    note = f"{note}; worst {max(painted):.0f}"
    emit("open_long_painted", median(painted), "ms", n=OPENINGS, note=note)


def _open_long(panel: Panel, conversation: str) -> dict[str, float]:
    panel.new_conversation()
    panel.list_conversations()
    link = f'#aia [data-aia-conversation="{conversation}"]'
    seen: dict[str, float] = panel.page.evaluate(
        UNTIL, [link, "#aia", "conversation", conversation]
    )
    assert len(panel.read()) >= 20, "the conversation is not there"
    return seen


def measure_stop(
    browser: Browser, server: DemoServer, model: ModelServerProcess
) -> None:
    """Print how soon the panel answers a click on Stop."""
    times = []
    with throttled(browser, server.url) as panel:
        for number in range(STOPS):
            panel.new_conversation()
            panel.ask(f"[[script:stream tokens=2000 rate=100]] {number}")
            panel.wait_words(20)
            stop = ["#aia-stop", "#aia", "state", ""]
            times.append(panel.page.evaluate(UNTIL, stop)["painted"])
            panel.wait_state("stopped")
    note = f"target 300; worst {max(times):.0f}; {load()}"
    emit("stop_acknowledged", median(times), "ms", n=STOPS, note=note)


def measure_memory(browser: Browser, server: DemoServer) -> None:
    """Print how browser and server grow over page loads with the open panel."""
    heaps, residents = [], []
    with throttled(browser, server.url) as panel:
        debugger = panel.page.context.new_cdp_session(panel.page)
        for _ in range(WARM_LOADS + LOADS):
            panel.goto("/admin/questionnaires/questionnaire/")
            panel.page.wait_for_timeout(300)
            heaps.append(heap_bytes(debugger))
            residents.append(resident_bytes(server.web.pid))
    for name, values in (("browser", heaps), ("server", residents)):
        warm = values[WARM_LOADS:]
        told = json.dumps([round(value / 1e6, 1) for value in warm[::4]])
        note = f"MB in between: {told}; {load()}"
        growth = (warm[-1] - warm[0]) / 1e6
        emit(f"memory_growth_{name}", growth, "MB", n=LOADS, note=note)


def measure_outline(browser: Browser, server: DemoServer) -> None:
    """Print how long the page takes for the outline of the largest form of the demo."""
    (largest, *_rest) = Oracle(server.database_url).rows(LARGEST)
    visitor = Visitor(browser, server.url)
    path = f"/admin/questionnaires/section/{largest['section_id']}/change/"
    took = visitor.panel(path).page.evaluate(OUTLINE, OUTLINES)
    # As it is, not as in the slow browser of the others.
    note = f"at most 60; first {took[0]:.0f}, worst {max(took):.0f}; load {getloadavg()[0]:.1f}"
    emit("outline_of_a_form", median(took), "ms", n=OUTLINES, note=note)
    visitor.leave()
