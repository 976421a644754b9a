"""
Processes that start in a blink: forked from one that has imported everything.

A server under test is killed hundreds of times; importing Django, Twisted and
Celery anew each time would be all that such a test does. What is forked is the
same program, in a process of its own, with its own environment, settings, sockets,
threads and locks.

`python -m tests.servers.forge` is that one process. It imports, says "ready", and
then takes a JSON object a line: {"start": [arguments], "env": {}, "log": path}
answers with a pid, {"reap": pid} buries a dead one. It ends, with all its children,
when its standard input does.
"""

import atexit
import importlib
import json
import os
import random
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.process import ROOT, Process, python

IMPORTED = (
    # What each program would import; nothing that makes a loop or a connection.
    *(
        "ai_assistant.web.realtime.consumer",
        "ai_assistant.web.realtime.worker",
        "project.asgi",
    ),
    *("ai_assistant.engine.service", "ai_assistant.tasks", "project.celery"),
    *("ai_assistant.management.commands.runworker", "channels.auth"),
    *("project.urls", "django.contrib.staticfiles.handlers", "psycopg"),
    *("aiohttp", "orjson", "ai_assistant.providers.openai_compatible.provider"),
    "channels_redis.core",
    *("twisted.web.http", "twisted.internet.endpoints", "twisted.logger"),
    *("twisted.internet.asyncioreactor", "autobahn.websocket.protocol"),
    *("celery.bin.celery", "celery.apps.worker", "kombu.transport.redis"),
)

# What the settings of a server may be made of, in the order of their imports.
SETTINGS = ("project.settings", "tests.live_settings", "tests.hosts.settings")


class Forge:
    """The process that has imported everything."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._popen = subprocess.Popen(
            python("-m", "tests.servers.forge"),
            cwd=ROOT,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        if self._answer() != "ready":
            raise RuntimeError("The forge cannot start; its output says why.")

    def start(self, arguments: list[str], env: Mapping[str, str], log: Path) -> int:
        said = {"start": arguments, "env": dict(env), "log": str(log)}
        return int(self._ask(said))

    def reap(self, pid: int) -> bool:
        """Bury `pid`; False if it still lives."""
        return self._ask({"reap": pid}) == "gone"

    def close(self) -> None:
        """End it, and all that it has started."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.close()
        self._popen.wait(10)
        self._popen.stdout.close()

    def _ask(self, said: dict[str, Any]) -> str:
        assert self._popen.stdin is not None
        with self._lock:
            self._popen.stdin.write(json.dumps(said) + "\n")
            return self._answer()

    def _answer(self) -> str:
        assert self._popen.stdout is not None
        return self._popen.stdout.readline().strip()


# What decides which middleware a server has: that is read with the imports.
MIDDLEWARE_OF = ("TESTS_CSP", "TESTS_NO_PANEL")
_forges: dict[tuple[object, ...], Forge] = {}


def the_forge(env: Mapping[str, str]) -> Forge:
    """Return the forge of this test run for `env`; it starts when first asked for."""
    key = (env["DJANGO_SETTINGS_MODULE"], *(bool(env.get(n)) for n in MIDDLEWARE_OF))
    if key not in _forges:
        _forges[key] = Forge(env)
        atexit.register(_forges[key].close)
    return _forges[key]


class Forged(Process):
    """A process of the forge: like any other, but for its birth."""

    def __init__(
        self, arguments: list[str], *, env: Mapping[str, str], log: Path
    ) -> None:
        super().__init__(arguments, log=log, env=env)
        self._forge = the_forge(env)
        self._pid = 0

    @property
    def pid(self) -> int:
        if not self._pid:
            raise RuntimeError(f"{self.command[0]} was not started.")
        return self._pid

    @property
    def is_alive(self) -> bool:
        return bool(self._pid) and not self._buried()

    def _spawn(self) -> None:
        self._pid = self._forge.start(self.command, self.env, self.log)

    def _signal(self, number: int) -> None:
        # Nobody else can have the number before the forge has buried this one.
        if self._pid:
            with suppress(ProcessLookupError):
                os.killpg(self._pid, number)

    def _gone(self, timeout_s: float) -> None:
        end = time.monotonic() + timeout_s
        while not self._buried():
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.command, timeout_s)
            time.sleep(0.005)

    def _buried(self) -> bool:
        if self._pid and self._forge.reap(self._pid):
            self._pid = 0
        return not self._pid


def main() -> None:
    """Import, then fork as told."""
    import django

    django.setup()
    for name in IMPORTED:
        importlib.import_module(name)
    children: set[int] = set()
    _say("ready")
    for line in sys.stdin:
        said = json.loads(line)
        if "start" in said:
            pid = _fork(said["start"], said["env"], said["log"])
            children.add(pid)
            _say(str(pid))
        else:
            gone = os.waitpid(said["reap"], os.WNOHANG)[0] != 0
            if gone:
                children.discard(said["reap"])
            _say("gone" if gone else "alive")
    for pid in children:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _fork(arguments: list[str], env: dict[str, str], log: str) -> int:
    pid = os.fork()
    if pid:
        # Both sides, so that it leads its group before anybody signals it.
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        os.setpgid(0, 0)
        output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(old, new)
        random.seed()
        _settle(env)
        _become(arguments)
    except SystemExit as left:
        sys.stdout.flush()
        os._exit(left.code if isinstance(left.code, int) else 1)
    except BaseException:  # noqa: BLE001 - a child must never return from here
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _settle(env: dict[str, str]) -> None:
    """Read the settings anew, for another environment, before anybody used them."""
    from channels.layers import channel_layers
    from django.conf import Settings, settings
    from django.db import connections

    from ai_assistant import conf
    from project.celery import app

    os.environ.clear()
    os.environ.update(env)
    for name in dict.fromkeys((*SETTINGS, env["DJANGO_SETTINGS_MODULE"])):
        if name in sys.modules:
            importlib.reload(sys.modules[name])
    settings._wrapped = Settings(env["DJANGO_SETTINGS_MODULE"])
    connections.__dict__.pop("settings", None)
    connections._settings = None
    for alias in ("default",):
        if hasattr(connections._connections, alias):
            del connections[alias]
    channel_layers.backends.clear()
    conf._config.cache_clear()
    assert not app.configured, "Celery has read the settings of the forge."


def _become(arguments: list[str]) -> None:
    """Run `-m module ...` or `script ...`, as the interpreter would."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
