"""A server whose lines count: coverage of what only a process of its own runs."""

import os
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """\
[run]
branch = {branch}
parallel = true
data_file = {data}
source = {source}
omit = {source}/migrations/*
concurrency = thread
"""


def measured(folder: Path) -> dict[str, str]:
    """Return the environment of a server; empty while nothing is measured here."""
    if coverage.Coverage.current() is None:
        return {}
    config = folder / "coverage.ini"
    text = CONFIG.format(
        branch=os.environ.get("COVERAGE_BRANCH", "true"),
        data=Path.cwd() / ".coverage",
        source=ROOT / "ai_assistant",
    )
    config.write_text(text)
    return {"COVERAGE_PROCESS_START": str(config)}
