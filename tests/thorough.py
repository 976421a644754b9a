"""How much of a long suite runs: a part in `make test`, all in `make thorough`."""

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

IS_THOROUGH = bool(os.environ.get("TESTS_THOROUGH"))
EXAMPLES = os.environ.get("TESTS_EXAMPLES")


def part(items: Iterable[T], *, every: int, start: int = 0) -> list[T]:
    """Return one of `every` items, from `start` on; all of them in `make thorough`."""
    every_item = list(items)
    return every_item if IS_THOROUGH else every_item[start::every]


def share(items: Iterable[T], *, every: int) -> list[T]:
    """Return one of `every` items, as the last commit chooses; or all, as `part` does."""
    every_item = list(items)
    return part(every_item, every=every, start=commit() % min(every, len(every_item)))


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
