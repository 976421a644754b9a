"""
Which process holds a run: host, pid namespace, boot, pid and start time.

A process on the same host can see at once that such an owner is gone, and need
not wait for its lease to run out.
"""

import os
import socket
from functools import lru_cache
from pathlib import Path

UNKNOWN = "-"


def this_process() -> str:
    """Return the owner string of the running process."""
    return _describe(os.getpid())


@lru_cache(maxsize=4)
def _describe(pid: int) -> str:
    return "|".join(
        (socket.gethostname(), _namespace(), _boot(), str(pid), _started(pid) or "0")
    )


def is_gone(owner: str) -> bool:
    """
    Tell whether the process named `owner` surely runs no more.

    False where that cannot be known: another host, another pid namespace, another
    boot, which may be that of a machine with the same name. There the lease ends.
    """
    parts = owner.split("|")
    if len(parts) != 5:
        return True
    host, namespace, boot, pid, started = parts
    here = (socket.gethostname(), _namespace(), _boot())
    return (host, namespace, boot) == here and _started(int(pid)) != started


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return UNKNOWN


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return UNKNOWN


def _started(pid: int) -> str:
    """Return when `pid` started, or an empty string if it is dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self").exists() else _without_proc(pid)
    # The command in parentheses may hold spaces; the fields follow it.
    fields = stat.rpartition(")")[2].split()
    is_dead = fields[0] in "ZX"
    return "" if is_dead else fields[19]


def _without_proc(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0"
