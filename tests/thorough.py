"""How much of a long suite runs: a part in `make test`, all in `make thorough`."""

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

IS_THOROUGH = bool(os.environ.get("TESTS_THOROUGH"))
EXAMPLES = os.environ.get("TESTS_EXAMPLES")


def part(items: Iterable[T], *, every: int, start: int = 0) -> list[T]:
    """Return one of `every` items, from `start` on; all of them in `make thorough`."""
    every_item = list(items)
    return every_item if IS_THOROUGH else every_item[start::every]


def examples(few: int, *, many: int = 0) -> int:
    """Return how many examples to generate: in `make thorough` `many`, or ten times."""
    return int(EXAMPLES or ((many or few * 10) if IS_THOROUGH else few))
