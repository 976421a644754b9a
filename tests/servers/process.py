"""One child process: started, watched, killed, frozen, and never left behind."""

import atexit
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
TAIL_CHARS = 4000
STOP_S = 2.0  # for SIGSTOP to reach all threads
STOPPED = "TtZX"  # letters of /proc: stopped, traced, a zombie, dead

_running: "set[Process]" = set()


def _stands(pid: int) -> bool:
    """Tell whether no thread of a process goes on; they stop one after the other."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # that thread has just ended
            if stat.read_text().rpartition(")")[2].split()[0] not in STOPPED:
                return False
    return True


class Process:
    """
    A program in a process group of its own, its output appended to `log`.

    `ready` is asked after the start until it says yes. Every signal goes to the
    whole group: a Celery worker dies with its children.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        ready: Callable[[], bool] | None = None,
        ready_s: float = 120.0,
        user: str | None = None,
    ) -> None:
        self.command = [*command]
        self.log = log
        self.env = dict(os.environ if env is None else env)
        self.user = user
        self.ready = ready
        self._ready_s = ready_s
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._popen is None:
            raise RuntimeError(f"{self.command[0]} was not started.")
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    def start(self, *, wait: bool = True) -> Self:
        """Start, and by default wait until it is ready."""
        if self.is_alive:
            raise RuntimeError(f"{self.command[0]} runs already, as {self.pid}.")
        self._spawn()
        _running.add(self)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self) -> None:
        """Wait until it is ready; raise with the end of its output if it is not."""
        end = time.monotonic() + self._ready_s
        while self.ready is not None and not self.ready():
            if not self.is_alive or time.monotonic() > end:
                raise RuntimeError(f"{self.command} is not ready.\n{self.tail()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it with SIGKILL, at once."""
        self._signal(signal.SIGKILL)
        self._gone(10)
        _running.discard(self)

    def terminate(self, timeout_s: float = 15.0) -> None:
        """Ask it to end with SIGTERM; kill it if it does not."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        try:
            self._gone(timeout_s)
            _running.discard(self)
        except subprocess.TimeoutExpired:
            self.kill()

    def pause(self) -> None:
        """Freeze it: it keeps its sockets and its memory, and does nothing."""
        self._signal(signal.SIGSTOP)
        end = time.monotonic() + STOP_S
        while not _stands(self.pid) and time.monotonic() < end:
            time.sleep(0.002)

    def resume(self) -> None:
        """Let it go on after `pause`."""
        self._signal(signal.SIGCONT)

    def output(self) -> str:
        """Return all that it has said, over all its starts."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def tail(self) -> str:
        return self.output()[-TAIL_CHARS:]

    def _spawn(self) -> None:
        with self.log.open("ab") as output:
            self._popen = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user,
            )

    def _signal(self, number: int) -> None:
        if self._popen is not None and self._popen.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._popen.pid, number)

    def _gone(self, timeout_s: float) -> None:
        if self._popen is not None:
            self._popen.wait(timeout_s)

    def __enter__(self) -> Self:
        return self if self.is_alive else self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()


def python(*arguments: str) -> list[str]:
    """Return the command that runs this interpreter with `arguments`."""
    return [sys.executable, *arguments]


@atexit.register
def _end_all() -> None:
    for process in [*_running]:
        process.kill()
