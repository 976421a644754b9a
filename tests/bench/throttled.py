"""A person's browser that is four times slower than this machine."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor

SLOWER = 4
# Of a far network, for what depends on what comes first.
NETWORK = {
    "offline": False,
    "latency": 80,  # ms
    "downloadThroughput": 400_000,  # bytes a second
    "uploadThroughput": 400_000,
}


@contextmanager
def throttled(browser: Browser, url: str, **options: Any) -> Iterator[Panel]:
    """Yield a tab with the open panel, its processor slowed down."""
    visitor = Visitor(browser, url, reduced_motion="no-preference", **options)
    panel = visitor.panel()
    slow_down(panel.page)
    yield panel
    visitor.leave()


def slow_down(page: Page) -> CDPSession:
    debugger = page.context.new_cdp_session(page)
    debugger.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    return debugger


def heap_bytes(debugger: CDPSession) -> float:
    """Return what scripts hold after the collector has been."""
    debugger.send("Performance.enable")
    for _ in range(3):
        debugger.send("HeapProfiler.collectGarbage")
    return metric(debugger, "JSHeapUsedSize")


def task_ms(debugger: CDPSession) -> float:
    """Return how long the page's main thread has worked so far."""
    return metric(debugger, "TaskDuration") * 1000


def metric(debugger: CDPSession, name: str) -> float:
    """Return one of the browser's own figures, in bytes or seconds."""
    metrics = debugger.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == name)


def resident_bytes(pid: int) -> int:
    """Return the memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def load() -> str:
    """Say how busy the machine is: a figure taken beside others is no figure."""
    return f"load {os.getloadavg()[0]:.1f}, CPU {SLOWER}x slower"
