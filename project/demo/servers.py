"""The servers of the demo besides Daphne: what each needs, and how it is started."""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import project

APPLICATION = "project.asgi:application"
STOP_S = 3  # streams are open for as long as a page is
ARENAS = 2  # heaps of glibc, for all threads
PACKAGES = {
    "uvicorn": ("uvicorn", "uvloop", "httptools", "websockets"),
    "granian": ("granian", "uvloop"),
}


def missing_packages(name: str) -> list[str]:
    """Return the packages that the server needs and that are not installed."""
    return [package for package in PACKAGES.get(name, ()) if find_spec(package) is None]


def serve_with_uvicorn(host: str, port: int, *, access_log: bool) -> None:
    """Become uvicorn: nothing of the preparations stays in its memory."""
    options = {
        "host": host,
        "port": str(port),
        "loop": "uvloop",
        "http": "httptools",
        "ws": "websockets-sansio",
        "ws-per-message-deflate": "false",
        "lifespan": "off",  # Django has none
        "timeout-graceful-shutdown": str(STOP_S),
    }
    _become("uvicorn", options, access_log=access_log)


def serve_with_granian(host: str, port: int, *, access_log: bool) -> None:
    """Become granian: it serves in a process of its own, which loads Django once."""
    options = {
        "interface": "asginl",  # Django has no lifespan
        "http": "1",
        "loop": "uvloop",
        "host": host,
        "port": str(port),
        "workers-kill-timeout": str(STOP_S),
    }
    _become("granian", options, access_log=access_log)


def _become(name: str, options: dict[str, str], *, access_log: bool) -> None:
    """Let a server take the place of this process."""
    said = [part for key, value in options.items() for part in (f"--{key}", value)]
    log = "--access-log" if access_log else "--no-access-log"
    os.environ.setdefault("MALLOC_ARENA_MAX", str(ARENAS))
    sys.stdout.flush()
    os.chdir(Path(project.__file__).parent.parent)  # where the application is found
    command = [sys.executable, "-m", name, *said, log, APPLICATION]
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted


SERVE: dict[str, Callable[..., None]] = {
    "uvicorn": serve_with_uvicorn,
    "granian": serve_with_granian,
}
