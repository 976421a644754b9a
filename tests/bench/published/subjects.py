"""What is measured side by side: bare clients, the demo on its servers, another site."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.published import process_tree
from tests.bench.published.installed import python_of_demo
from tests.bench.published.load import Client, figures
from tests.servers.ports import free_port
from tests.servers.process import Process

OURS = "/assistant/agui/"
SETTLE_S = 8.0  # a model library is loaded beside the first requests


@dataclass(frozen=True, kw_only=True, slots=True)
class Rival:
    """
    Another site that speaks AG-UI, signed in to as admin/admin.

    In its command {port} and {model_port} are replaced.
    """

    name: str
    command: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A site that serves now."""

    url: str
    pid: int


def answers(url: str) -> bool:
    """Return whether the site has started."""
    try:
        with urllib.request.urlopen(f"{url}/admin/login/", timeout=5) as page:
            return bool(page.status == 200)
    except OSError:
        return False


@contextmanager
def served(command: list[str], port: int, log: Path, **env: str) -> Iterator[Site]:
    """Serve a site in a process group of its own."""
    url = f"http://127.0.0.1:{port}"
    process = Process(
        command, log=log, env={**os.environ, **env}, ready=lambda: answers(url)
    )
    try:
        process.start()
        yield Site(url=url, pid=process.pid)
    finally:
        process.terminate()
        process.kill()


@contextmanager
def demo(
    folder: Path,
    base: str,
    *,
    server: str,
    provider: str = "direct",
    database: str = "",
    interpreter: str = sys.executable,
) -> Iterator[Site]:
    """Serve the demo as `make run` does, with its limits lifted and no titles."""
    port = free_port()
    env = {
        "PORT": str(port),
        "SERVER": server,
        "DJANGO_DEBUG": "0",
        "DATABASE_URL": database or f"sqlite:///{folder}/db.sqlite3",
        "ASSISTANT_UNLIMITED": "1",
        "ASSISTANT_TITLES": "0",
        "ASSISTANT_PROVIDER": provider,
        "ASSISTANT_MODEL": "openai/scripted",
        "ASSISTANT_API_BASE": base,
        "ASSISTANT_API_KEY": "sk-test",
    }
    command = [interpreter, "manage.py", "demo_serve"]
    with served(command, port, folder / "server.log", **env) as site:
        yield site


async def figures_of_site(site: Site, path: str) -> dict[str, float]:
    """Return the figures of a site that serves."""
    async with Client(site.url, path) as client:
        return await figures(
            client.ask,
            lambda: process_tree.cpu_ms(site.pid),
            lambda: process_tree.rss_mb(site.pid),
        )


def measure_bare(how: str, base: str) -> dict[str, float]:
    """Return the figures of a bare client in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.published.bare", how, base],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_demo(
    folder: Path, base: str, *, server: str, provider: str = "direct"
) -> dict[str, float]:
    """Return the figures of the demo, which has litellm where it is measured with it."""
    interpreter = python_of_demo() if provider == "direct" else sys.executable
    options = {"server": server, "provider": provider, "interpreter": interpreter}
    with demo(folder, base, **options) as site:
        time.sleep(SETTLE_S)
        return asyncio.run(figures_of_site(site, OURS))


def measure_rival(folder: Path, base: str, rival: Rival) -> dict[str, float]:
    """Return the figures of the other site."""
    port, model_port = free_port(), base.removesuffix("/v1").rpartition(":")[2]
    said = rival.command.format(port=port, model_port=model_port)
    with served(shlex.split(said), port, folder / "rival.log") as site:
        time.sleep(SETTLE_S)
        return asyncio.run(figures_of_site(site, rival.path))


Measure = Callable[[Path, str], dict[str, float]]


def subjects(rival: Rival | None) -> Mapping[str, Measure]:
    """Return all that is measured, by the name that the page gives it."""
    found: dict[str, Measure] = {
        "bare HTTP": lambda _folder, base: measure_bare("http", base),
        "bare litellm": lambda _folder, base: measure_bare("litellm", base),
        "Daphne": lambda folder, base: measure_demo(folder, base, server="daphne"),
        "uvicorn": lambda folder, base: measure_demo(folder, base, server="uvicorn"),
        "granian": lambda folder, base: measure_demo(folder, base, server="granian"),
        "uvicorn, litellm": lambda folder, base: measure_demo(
            folder, base, server="uvicorn", provider="litellm"
        ),
    }
    if rival is not None:
        found[rival.name] = lambda folder, base: measure_rival(folder, base, rival)
    return found
