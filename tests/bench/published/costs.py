"""What a site pays once: imports, the closed panel, and room on its disk."""

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.page import page_times
from tests.bench.published import results
from tests.bench.published.installed import install
from tests.bench.report import median
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.process import ROOT, python

PAGES = 150
IMPORT = "import time; t = time.process_time(); import ai_assistant; print(time.process_time() - t)"
SDKS = "import sys, django; from django.core.management import call_command as c; django.setup(); c('check'); print(sorted({'litellm', 'openai', 'aiohttp'} & set(sys.modules)))"
INSTALLS: dict[str, Sequence[str]] = {
    "with `uvicorn[standard]` and `openai`": ("[openai]", "uvicorn[standard]"),
    "with Daphne and `openai`": ("[openai]", "daphne"),
    "with Daphne and `litellm`": ("[litellm]", "daphne"),
}


def measure() -> None:
    """Print and keep all of it."""
    loads = [os.getloadavg()[0]]
    rows = [("`import ai_assistant`, processor time", f"{_import_s():.2f} s")]
    rows += [("SDKs that `manage.py check` imports", _sdks() or "none")]
    rows += _closed_panel()
    rows += [(f"installed, {name} (MB)", f"{mb:.0f}") for name, mb in _installs()]
    loads.append(os.getloadavg()[0])
    print(rows, flush=True)
    results.save("costs", {"rows": rows}, loads)


def _run(*arguments: str, **env: str) -> str:
    done = subprocess.run(
        python(*arguments),
        cwd=ROOT,
        env={**os.environ, **env},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip().rpartition("\n")[2]


def _import_s() -> float:
    return min(float(_run("-c", IMPORT)) for _ in range(9))


def _sdks() -> str:
    env = {"DJANGO_SETTINGS_MODULE": "project.settings", "ASSISTANT_MODEL": "openai/x"}
    return " ".join(re.findall(r"'(\w+)'", _run("-c", SDKS, **env)))


def _closed_panel() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as name, ModelServerProcess() as model:
        servers = {}
        for kind, off in (("with", ""), ("without", "1")):
            folder = Path(name) / kind
            folder.mkdir()
            env = {"TESTS_NO_PANEL": off}
            servers[kind] = DemoServer(folder, model_url=model.url, env=env)
        with servers["with"], servers["without"]:
            urls = {kind: server.url for kind, server in servers.items()}
            times = asyncio.run(page_times(urls, PAGES))
        added = (median(times["with"]) - median(times["without"])) * 1000
        own = median(times["without"]) * 1000
        counted = _run("-m", "tests.bench.count_queries", **servers["with"].env)
    counts = [int(n) for n in re.findall(r"\d+", counted)]
    return [
        ("a page with the closed panel", f"{added:+.1f} ms on {own:.1f} ms"),
        ("its queries", f"{counts[0] - counts[1]:+d}"),
    ]


def _installs() -> list[tuple[str, float]]:
    """Return the megabytes that new environments with the wheel take."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        _run("-m", "hatchling", "build", "-t", "wheel", "-d", folder)
        (wheel,) = Path(folder).glob("*.whl")
        for name, (extra, *others) in INSTALLS.items():
            place = Path(folder) / str(len(found))
            install(place, f"{wheel}{extra}", *others)
            found.append((name, _bytes(place / "lib") / 1e6))
    return found


def _bytes(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if not path.is_symlink())
    return sum(path.stat().st_blocks * 512 for path in files)
