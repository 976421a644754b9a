"""
How much of a long suite runs: a part in `make test`, all in `make thorough`.

`make test` takes one of several parts of the long levels, which the last commit chooses,
so that all come up as work goes on; `make test WHOLE=1` takes all, and so does a level
that is started alone.
"""

import os
import subprocess
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

IS_THOROUGH = bool(os.environ.get("TESTS_THOROUGH"))
IS_SHARED = bool(os.environ.get("TESTS_SHARE"))
EXAMPLES = os.environ.get("TESTS_EXAMPLES")
# Into how many parts `make test` divides the tests of a mark.
PARTS = {"faults": 2, "browser": 6, "broad": 6, "long": 4}


def part(items: Iterable[T], *, every: int, start: int = 0) -> list[T]:
    """Return one of `every` items, from `start` on; all of them in `make thorough`."""
    every_item = list(items)
    return every_item if IS_THOROUGH else every_item[start::every]


def share(items: Iterable[T], *, every: int) -> list[T]:
    """Return one of `every` items, as the last commit chooses; or all, as `part` does."""
    every_item = list(items)
    return part(every_item, every=every, start=commit() % min(every, len(every_item)))


def is_in_share(item: pytest.Item) -> bool:
    """Return whether `make test` runs a test at the last commit."""
    mark = next(filter(item.get_closest_marker, PARTS), "")
    if not mark or item.get_closest_marker("smoke"):
        return True
    group = item.get_closest_marker("xdist_group")  # they share a server
    key = str(group.args[0]) if group else item.nodeid
    # By other digits than `share`, so that each part meets each item of its lists.
    return zlib.crc32(key.encode()) % PARTS[mark] == commit() // 9973 % PARTS[mark]


@cache
def commit() -> int:
    """Return the last commit as a number; 0 where there is none."""
    git = ["git", "rev-parse", "HEAD"]
    where = Path(__file__).parent
    try:
        found = subprocess.run(
            git, check=False, capture_output=True, text=True, cwd=where
        )
    except OSError:
        return 0
    return int(found.stdout.strip() or "0", 16)


def examples(few: int, *, many: int = 0) -> int:
    """Return how many examples to generate: in `make thorough` `many`, or ten times."""
    return int(EXAMPLES or ((many or few * 10) if IS_THOROUGH else few))
