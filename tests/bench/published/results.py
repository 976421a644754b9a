"""The file of results: one entry for each part, with what it was measured on."""

import json
import os
import platform
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "benchmarks"
FILE = FOLDER / "results.json"
PACKAGES = (
    *("Django", "channels", "daphne", "uvicorn", "uvloop", "httptools"),
    *("granian", "aiohttp", "orjson", "litellm"),
)


def load() -> dict[str, Any]:
    """Return what was measured so far."""
    found: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def save(part: str, figures: dict[str, Any], loads: Sequence[float]) -> None:
    """Put the figures of a part in place of its earlier ones."""
    FOLDER.mkdir(exist_ok=True)
    entry = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": {"before": round(loads[0], 1), "after": round(loads[-1], 1)},
        "versions": versions(),
        **figures,
    }
    text = json.dumps({**load(), part: entry}, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n")


def machine() -> str:
    """Return the cores, the processor and the system in a few words."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{os.cpu_count()} cores, {names[0] if names else platform.machine()}, Linux"


def versions() -> dict[str, str]:
    """Return the versions of what takes part."""
    own = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    return own | {name: version(name) for name in PACKAGES}
