"""The servers of the demo: what each needs, and how it is started."""

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


def serve_with_daphne(host: str, port: int, *, access_log: bool) -> None:
    """Become Daphne, without the checks and the reloader of `runserver`."""
    options = {"bind": host, "port": str(port), "verbosity": str(int(access_log))}
    _become("daphne", options)


def serve_with_uvicorn(host: str, port: int, *, access_log: bool) -> None:
    """Become uvicorn."""
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
    _become("uvicorn", options, _log_flag(access_log=access_log))


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
    _become("granian", options, _log_flag(access_log=access_log))


def _log_flag(*, access_log: bool) -> str:
    return "--access-log" if access_log else "--no-access-log"


def _become(name: str, options: dict[str, str], *flags: str) -> None:
    """Let a server take the place of this process."""
    said = [part for key, value in options.items() for part in (f"--{key}", value)]
    os.environ.setdefault("MALLOC_ARENA_MAX", str(ARENAS))
    sys.stdout.flush()
    os.chdir(Path(project.__file__).parent.parent)  # where the application is found
    command = [sys.executable, "-m", name, *said, *flags, APPLICATION]
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted


SERVE: dict[str, Callable[..., None]] = {
    "daphne": serve_with_daphne,
    "uvicorn": serve_with_uvicorn,
    "granian": serve_with_granian,
}
