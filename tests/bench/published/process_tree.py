"""Processor time, memory, threads and descriptors of a process and its children."""

import os
import re
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """Return the process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(below for child in children for below in tree(int(child)))]


def cpu_ms(pid: int) -> float:
    """Return the processor time that they have used so far."""
    return sum(map(_cpu_ticks, tree(pid))) / TICKS_A_SECOND * 1000


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def rss_mb(pid: int) -> float:
    """Return the resident memory."""
    return sum(_status(one, "VmRSS") for one in tree(pid)) / 1024


def threads(pid: int) -> int:
    """Return how many threads there are."""
    return sum(_status(one, "Threads") for one in tree(pid))


def descriptors(pid: int) -> int:
    """Return how many files and sockets are open."""
    return sum(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in tree(pid))


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0
