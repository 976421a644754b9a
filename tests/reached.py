"""
Which tests a change reaches: those beside it, which no level leaves out.

What is changed is what the working tree has and the last commit has not, or, where the
tree is clean, what the last commit has changed.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

TESTS = Path(__file__).parent
ROOT = TESTS.parent
REACHED = "TESTS_REACHED"  # of the environment


def reached() -> frozenset[str]:
    """
    Return the folders and files of tests that the last changes reach.

    All processes of a parallel run have it from the first, so that they run the same.
    """
    if REACHED not in os.environ:
        os.environ[REACHED] = "\n".join(sorted({*places(_changed())}))
    return frozenset(os.environ[REACHED].splitlines())


def _changed() -> list[str]:
    changed = _lines("diff", "--name-only", "HEAD")
    changed += _lines("ls-files", "--others", "--exclude-standard")
    return changed or _lines("diff", "--name-only", "HEAD~1", "HEAD")


@cache
def is_reached(path: Path) -> bool:
    """Return whether the last changes reach the tests of a file."""
    own = (path, path.parent)
    return any(one.relative_to(ROOT).as_posix() in reached() for one in own)


def places(changed: Iterable[str]) -> Iterator[str]:
    """
    Yield the folders and files of tests beside what is changed.

    `ai_assistant/engine/loop.py` has `tests/engine/` and each `test_loop.py`; a test has
    itself, and what tests share has all tests of its folder. What stands above all rooms
    has the tests of its name alone.
    """
    for path in map(PurePosixPath, changed):
        top, *inner = path.parent.parts or ("",)
        if top == "tests" and path.name.startswith("test_"):
            yield path.as_posix()
        elif top in ("ai_assistant", "project", "tests") and inner:
            own = ("project",) if top == "project" else ()
            yield "/".join(("tests", *own, *inner))
        if path.suffix == ".py" and top in ("ai_assistant", "project"):
            same = TESTS.rglob(f"test_{path.stem}.py")
            yield from (one.relative_to(ROOT).as_posix() for one in same)


def _lines(*arguments: str) -> list[str]:
    """Return what git prints; nothing where it is not there, or the clone too shallow."""
    git = ["git", *arguments]
    try:
        told = subprocess.run(
            git, check=False, capture_output=True, text=True, cwd=ROOT
        )
    except OSError:
        return []
    return [] if told.returncode else told.stdout.splitlines()
