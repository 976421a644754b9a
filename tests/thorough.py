"""
How much of a long suite runs: a part in `make test`, all in `make thorough`.

`make test` takes one of several parts of the long levels, which the last commit chooses,
so that all come up as work goes on, and of the lists of other tests a third;
`make check` takes a part of all tests. What the last changes reach is in each part.
`make test WHOLE=1` takes all, and so does a level that is started alone.
"""

import os
import subprocess
import zlib
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from tests.reached import is_reached

T = TypeVar("T")

IS_THOROUGH = bool(os.environ.get("TESTS_THOROUGH"))
IS_SHARED = bool(os.environ.get("TESTS_SHARE"))
EXAMPLES = os.environ.get("TESTS_EXAMPLES")
# Of how many tests `make check` takes one.
QUICK = int(os.environ.get("TESTS_QUICK", "1"))
# Into how many parts `make test` divides the tests of a mark.
PARTS = {"faults": 3, "browser": 8, "broad": 8, "long": 6}
# From which length on it takes one of how many of a list.
LIST, LIST_PARTS = 4, 3
TESTS = Path(__file__).parent
# What asks all files, texts or tables of the project, which a change may break anywhere.
# So do the files of tests that stand in no folder.
OF_ALL = (
    "docs",
    "hosts",
    "locale",
    "models",
    "web/test_static.py",
    "web/test_strings.py",
    "web/test_templates.py",
    "web/test_theme.py",
)


def part(items: Iterable[T], *, every: int, start: int = 0) -> list[T]:
    """Return one of `every` items, from `start` on; all of them in `make thorough`."""
    every_item = list(items)
    return every_item if IS_THOROUGH else every_item[start::every]


def share(items: Iterable[T], *, every: int) -> list[T]:
    """Return one of `every` items, as the last commit chooses; or all, as `part` does."""
    every_item = list(items)
    return part(every_item, every=every, start=commit() % min(every, len(every_item)))


def in_share(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that run at the last commit."""
    every_item = list(items)
    lists = defaultdict(list)
    # By name: pytest-randomly gives another order each time.
    for nodeid in sorted(item.nodeid for item in every_item):
        lists[_list_of(nodeid)].append(nodeid)
    places = {
        nodeid: (place, LIST_PARTS if len(one) >= LIST else 1)
        for one in lists.values()
        for place, nodeid in enumerate(one)
    }
    return [item for item in every_item if is_in_share(item, *places[item.nodeid])]


def is_in_share(item: pytest.Item, place: int = 0, of_list: int = 1) -> bool:
    """
    Return whether a test runs at the last commit.

    `place` is that in a list of which one of `of_list` runs.
    """
    mark = next(filter(item.get_closest_marker, PARTS), "")
    if item.get_closest_marker("smoke") or (not mark and _asks_all(item.path)):
        return True
    if mark in ("", "long") and is_reached(item.path):
        return True
    # By other digits than `share`, so that each part meets each item of its lists.
    turn = commit() // 9973
    group = item.get_closest_marker("xdist_group")  # they share a server
    number = zlib.crc32((str(group.args[0]) if group else item.nodeid).encode())
    if mark:
        return number % PARTS[mark] == turn % PARTS[mark]
    if QUICK > 1:
        return number % QUICK == turn % QUICK
    return place % of_list == turn % of_list


def _list_of(nodeid: str) -> str:
    return nodeid.partition("[")[0]


@cache
def _asks_all(path: Path) -> bool:
    wide = any(path.is_relative_to(TESTS / one) for one in OF_ALL)
    return wide or path.parent == TESTS


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
